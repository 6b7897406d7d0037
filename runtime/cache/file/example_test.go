package file_test

import (
	"context"
	"fmt"
	"os"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/cache/file"
	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// Results of tools with `cache` are kept in a directory, and answer calls of later runs.
func Example() {
	dir, err := os.MkdirTemp("", "cache")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	node := &flow.Node{ID: "read", Pos: "inbox.flowgen.yaml:5:3"}
	read := flow.Bind("mail.read@1", flow.Reads, func(_ context.Context, who string) (string, error) {
		fmt.Println("called")
		return "mail of " + who, nil
	}, flow.CacheForever())
	for range 2 { // two programs, one after the other
		store, err := file.Open(dir)
		if err != nil {
			panic(err)
		}
		rt, err := flow.New(&flow.Info{Name: "inbox", Nodes: []*flow.Node{node}}, runtime.WithCache(store))
		if err != nil {
			panic(err)
		}
		fmt.Println(flow.Call(rt.Start(context.Background()), node, read, "ann"))
		if err := store.Close(); err != nil {
			panic(err)
		}
	}
	// Output:
	// called
	// mail of ann <nil>
	// mail of ann <nil>
}
