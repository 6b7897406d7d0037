package wasmtool

import (
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// BenchmarkTiersCall is a call of a small module: an instance, a memory, JSON in and out. BenchmarkTiersStart compiles it before.
func BenchmarkTiersCall(b *testing.B) {
	rt, err := flow.New(&flow.Info{Name: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	r := rt.Start(b.Context())
	for name, m := range map[string]Module{"command": {Name: "echo.wasm", Code: echo}, "function": {Name: "attacks.wasm", Code: attacks, Export: "echo"}} {
		tool := Bind[text, text]("echo@1", flow.None, m)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := flow.Call(r, node, tool, text{"hello"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTiersStart(b *testing.B) {
	for b.Loop() {
		p := &program{Module: Module{Name: "attacks.wasm", Code: attacks, Export: "echo"}}
		if _, err := p.call(b.Context(), []byte(`{}`), 100); err != nil {
			b.Fatal(err)
		}
	}
}
