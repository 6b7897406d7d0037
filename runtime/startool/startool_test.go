package startool

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/flowgen-dev/flowgen/runtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newRun(t testing.TB, o ...runtime.Option) *runtime.Run {
	t.Helper()
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
	tool := Bind[diffIn, diffOut]("parse@1", runtime.None, "tools/tidy.star", `
def parse(raw, n):
    return {"lines": raw.count("\n"), "n": n + 1}
`, "parse")
	r := newRun(t)
	for range 3 {
		got, err := runtime.Call(r, node, tool, diffIn{"a\nb\n", 1})
		if err != nil || got != (diffOut{2, 2}) {
			t.Fatalf("got %v, %v", got, err)
		}
	}
}
