// Flowgen compiles YAML workflows of tools into Go.
//
// Exit codes are those of package cli.
package main

import (
	"os"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/toolchain"
)

func main() {
	toolchain.Use()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
