package mcptool

import (
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/blob"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/tool"
)

// kept calls a tool in a run with a store for large outputs, and returns what it has attached.
func kept[In, Out any](t *testing.T, bound *flow.Tool[In, Out], in In) (Out, tool.Attachment) {
	t.Helper()
	store, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	rec := journal.NewRecorder()
	rt, err := flow.New(&flow.Info{Name: "w"}, runtime.WithEngine(rec), runtime.WithBlobs(store),
		runtime.WithSecrets(func(name string) (string, bool) { v, ok := secrets[name]; return v, ok }))
	if err != nil {
		t.Fatal(err)
	}
	out, err := flow.Call(rt.Start(t.Context()), node, bound, in)
	e := rec.Envelopes()[0]
	if err != nil || !e.Truncated || len(e.Attachments) != 1 {
		t.Fatalf("%v, %v, %+v", err, e.Truncated, e.Attachments)
	}
	return out, e.Attachments[0]
}
