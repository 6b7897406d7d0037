// Flowgen compiles YAML workflows of tools into Go.
//
// Exit codes: 0 clean, 1 the input has mistakes (or the program that was run failed), 2 wrong usage, 3 a fault of
// flowgen itself.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
