package mcptool

import (
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/blob"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// kept calls a tool in a run with a store for large outputs, and returns what it has attached.
func kept[In, Out any](t *testing.T, tool *runtime.Tool[In, Out], in In) (Out, runtime.Attachment) {
	t.Helper()
	store, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	rec := journal.NewRecorder()
	rt, err := runtime.New(&runtime.Info{Name: "w"}, runtime.WithEngine(rec), runtime.WithBlobs(store),
		runtime.WithSecrets(func(name string) (string, bool) { v, ok := secrets[name]; return v, ok }))
	if err != nil {
		t.Fatal(err)
	}
	out, err := runtime.Call(rt.Start(t.Context()), node, tool, in)
	e := rec.Envelopes()[0]
	if err != nil || !e.Truncated || len(e.Attachments) != 1 {
		t.Fatalf("%v, %v, %+v", err, e.Truncated, e.Attachments)
	}
	return out, e.Attachments[0]
}
