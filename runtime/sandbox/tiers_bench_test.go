//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/exectool"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/pytool"
	"github.com/flowgen-dev/flowgen/runtime/sandbox"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

// The cost of each tier: a command, which starts a process, and a call of a warm worker. Package wasmtool has its own.

func tiers(b *testing.B, bench func(b *testing.B, o ...flow.ToolOption)) {
	b.Run("native", func(b *testing.B) { bench(b) })
	b.Run("process", func(b *testing.B) { bench(b, sandbox.Process()) })
	b.Run("gvisor", func(b *testing.B) {
		if err := sandbox.Available(runtime.GVisor); err != nil {
			b.Skip(err)
		}
		bench(b, sandbox.GVisor())
	})
}

func BenchmarkTiersStart(b *testing.B) {
	tiers(b, func(b *testing.B, o ...flow.ToolOption) {
		rt, err := flow.New(&flow.Info{Name: "bench"})
		if err != nil {
			b.Fatal(err)
		}
		r := rt.Start(b.Context())
		echo := exectool.Text("echo@1", flow.None, func(struct{}) exectool.Command { return exectool.Command{Args: []string{"echo", "hi"}} }, o...)
		for b.Loop() {
			if got, err := flow.Call(r, node, echo, struct{}{}); got != "hi" || err != nil {
				b.Fatal(got, err)
			}
		}
	})
}

func BenchmarkTiersWarmCall(b *testing.B) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tools.py"), []byte("def inc(n): return n + 1\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	type in struct {
		N int64 `json:"n"`
	}
	tiers(b, func(b *testing.B, o ...flow.ToolOption) {
		b.Cleanup(worker.Shutdown)
		rt, err := flow.New(&flow.Info{Name: "bench"})
		if err != nil {
			b.Fatal(err)
		}
		r := rt.Start(b.Context())
		inc := pytool.Bind[in, int64]("inc@1", flow.None, pytool.Func{Source: &pytool.Source{Path: []string{dir}}, Module: "tools", Name: "inc"}, o...)
		if _, err := flow.Call(r, node, inc, in{1}); err != nil { // starts the worker
			b.Fatal(err)
		}
		for b.Loop() {
			if got, err := flow.Call(r, node, inc, in{1}); got != 2 || err != nil {
				b.Fatal(got, err)
			}
		}
	})
}
