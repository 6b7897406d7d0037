package pytool

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var tools = &Source{Path: []string{"testdata/tools"}}

func newRun(t testing.TB, o ...runtime.Option) *runtime.Run {
	t.Helper()
	t.Cleanup(worker.Shutdown)
	rt, err := runtime.New(&runtime.Info{Name: "test"}, o...)
	if err != nil {
		t.Fatal(err)
	}
	return rt.Start(t.Context())
}

var node = &runtime.Node{ID: "n", Pos: "f.yaml:1:1"}

type diffIn struct {
	Raw string `json:"raw"`
	N   int64  `json:"n"`
}
type diffOut struct {
	Lines int64 `json:"lines"`
	N     int64 `json:"n"`
}

func TestCall(t *testing.T) {
	tool := Bind[diffIn, diffOut]("parse@1", runtime.None, Func{Source: tools, Module: "basic", Name: "parse_diff"})
	r := newRun(t)
	for range 3 {
		got, err := runtime.Call(r, node, tool, diffIn{"a\nb\n", 1})
		if err != nil || got != (diffOut{2, 2}) {
			t.Fatalf("got %v, %v", got, err)
		}
	}
	boom := Bind[struct{}, runtime.Value]("parse@1", runtime.None, Func{Source: tools, Module: "basic", Name: "boom"})
	_, err := runtime.Call(r, node, boom, struct{}{})
	t.Log(err)
}
