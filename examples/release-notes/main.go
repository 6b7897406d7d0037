// Command release-notes renders release notes from the history of a git repository.
package main

import "github.com/flowgen-dev/flowgen/runtime/cli"

//go:generate go run ../../cmd/flowgen generate release_notes.flowgen.yaml

func main() { cli.Main(Info, New) }
