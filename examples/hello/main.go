// Command hello is the smallest workflow worth looking at: a switch over an input.
package main

import "github.com/flowgen-dev/flowgen/runtime/cli"

//go:generate go run ../../cmd/flowgen generate hello.flowgen.yaml

func main() { cli.Main(Info, New) }
