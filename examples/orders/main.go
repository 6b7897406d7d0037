// Command orders takes orders with statements of SQL as tools.
package main

import "github.com/flowgen-dev/flowgen/runtime/cli"

//go:generate go run ../../cmd/flowgen generate --fakes orders.flowgen.yaml

func main() { cli.Main(Info, New) }
