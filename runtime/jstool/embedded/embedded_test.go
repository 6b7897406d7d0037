package embedded

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
	tool := Bind[diffIn, diffOut]("parse@1", runtime.None, Module{Name: "greet.ts", Code: `
export default async (a) => ({ lines: a.raw.split("\n").length - 1, n: await Promise.resolve(a.n + 1) })`})
	r := newRun(t)
	for range 3 {
		got, err := runtime.Call(r, node, tool, diffIn{"a\nb\n", 1})
		if err != nil || got != (diffOut{2, 2}) {
			t.Fatalf("got %v, %v", got, err)
		}
	}
	boom := Bind[struct{}, runtime.Value]("parse@1", runtime.None, Module{Name: "boom.mjs", Code: `
class Odd extends RangeError {}
function inner() { console.log("hello"); throw new Odd("no") }
export default function boom() { inner() }`})
	_, err := runtime.Call(r, node, boom, struct{}{})
	t.Log(err)
}
