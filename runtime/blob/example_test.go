package blob_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/blob"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// Text beyond the bound of its tool is cut, and kept in the store. The envelope of the call has its URL.
func Example() {
	dir, err := os.MkdirTemp("", "blobs")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	store, err := blob.Open(dir)
	if err != nil {
		panic(err)
	}
	defer store.Close()

	node := &flow.Node{ID: "read", Pos: "inbox.flowgen.yaml:5:3"}
	read := flow.Bind("mail.read@1", flow.Reads, func(context.Context, string) (string, error) { return strings.Repeat("x", 1000), nil }, flow.MaxOutput(100))
	recorder := journal.NewRecorder()
	rt, err := flow.New(&flow.Info{Name: "inbox", Nodes: []*flow.Node{node}}, runtime.WithBlobs(store), runtime.WithEngine(recorder))
	if err != nil {
		panic(err)
	}
	text, err := flow.Call(rt.Start(context.Background()), node, read, "ann")
	if err != nil {
		panic(err)
	}
	e := recorder.Envelopes()[0]
	entire, err := store.Read("", e.Attachments[0].URL)
	if err != nil {
		panic(err)
	}
	defer entire.Close()
	all, _ := io.ReadAll(entire)
	fmt.Println(len(text), e.Truncated, len(all))
	// Output: 98 true 1000
}
