package wasmtool

import (
	"context"
	_ "embed"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

var (
	//go:embed testdata/echo.wasm
	echo string
	//go:embed testdata/attacks.wasm
	attacks string
	//go:embed testdata/flood.wasm
	flood string
)

// TestMain keeps machine code in memory: what a test compiles is no user's.
func TestMain(m *testing.M) {
	compiled = func() cache { return nil }
	m.Run()
}

type text struct {
	Text string `json:"text"`
}

func newRun(t *testing.T, o ...runtime.Option) *flow.Run {
	t.Helper()
	rt, err := flow.New(&flow.Info{Name: "test"}, o...)
	if err != nil {
		t.Fatal(err)
	}
	return rt.Start(t.Context())
}

var node = &flow.Node{ID: "n", Pos: "f.yaml:1:1"}

func TestCalls(t *testing.T) {
	r := newRun(t)
	for _, m := range []Module{{Name: "echo.wasm", Code: echo}, {Name: "attacks.wasm", Code: attacks, Export: "echo"}} {
		tool := Bind[text, text]("echo@1", flow.None, m)
		for range 2 {
			got, err := flow.Call(r, node, tool, text{"héllo \"there\""})
			if err != nil || got.Text != "héllo \"there\"" {
				t.Errorf("%s: %q, %v", m.Name, got.Text, err)
			}
		}
	}
}

// TestNothingIsThere tries what a module could reach, and what it must not learn.
func TestNothingIsThere(t *testing.T) {
	t.Setenv("SECRET", "x")
	r := newRun(t)
	for export, want := range map[string]int64{
		"open": badDescriptor, "folder": badDescriptor, "accept": badDescriptor, "environment": 0,
		"clock": 1640995200000000000, "random": 53872434448665683, "remember": 2, "grow": maxPages - 62,
	} {
		tool := Bind[text, int64](export+"@1", flow.None, Module{Name: "attacks.wasm", Code: attacks, Export: export})
		for range 2 { // what one call does is nothing to the next
			if got, err := flow.Call(r, node, tool, text{"x"}); err != nil || got != want {
				t.Errorf("%s = %d, %v; want %d", export, got, err, want)
			}
		}
	}
}

const badDescriptor = 8

func TestFailures(t *testing.T) {
	tests := []struct {
		module  Module
		code    value.Code
		message string
	}{
		{Module{Export: "trap"}, value.ProviderError, "m.wasm#trap stopped: unreachable"},
		{Module{Export: "exit"}, value.ProviderError, "m.wasm#exit exited with status 3: out of luck"},
		{Module{Export: "beyond"}, value.ProviderError, "the result of m.wasm#beyond is outside its memory"},
		{Module{Export: "recurse"}, value.ProviderError, "m.wasm#recurse stopped: stack overflow"},
		{Module{Export: "huge"}, value.PolicyDenied, "m.wasm#huge wrote more than the 2097152 bytes allowed: raise max_output"},
		{Module{Export: "text"}, value.ValidationError, "result of m.wasm#text: "},
		{Module{Export: "other"}, value.SandboxError, "m.wasm#other cannot be called"},
		{Module{Export: "none"}, value.SandboxError, "m.wasm#none cannot be called"},
		{Module{}, value.SandboxError, "m.wasm has no _start"},
		{Module{Code: flood}, value.PolicyDenied, "m.wasm wrote more than the 2097152 bytes allowed: raise max_output"},
		{Module{Code: flood, MaxOutput: 10}, value.PolicyDenied, "m.wasm wrote more than the 10 bytes allowed: raise max_output"},
		{Module{Code: "\x00asm\x01\x00\x00\x00\x63"}, value.SandboxError, "m.wasm cannot be compiled: "},
		{Module{Code: "no module"}, value.SandboxError, "m.wasm cannot be compiled: invalid magic number"},
	}
	r := newRun(t)
	for _, tt := range tests {
		if tt.module.Name = "m.wasm"; tt.module.Code == "" {
			tt.module.Code = attacks
		}
		_, err := flow.Call(r, node, Bind[text, text]("m@1", flow.None, tt.module), text{"x"})
		var te *value.ToolError
		if !errors.As(err, &te) || te.Code != tt.code || !strings.HasPrefix(te.Message, tt.message) {
			t.Errorf("%s: %v\nwant %s: %s", tt.module.Export, err, tt.code, tt.message)
		}
	}
}

// TestStops ends modules that do not end: those that only count, and those that write.
func TestStops(t *testing.T) {
	for _, export := range []string{"spin", "shout"} {
		tool := Bind[text, text]("m@1", flow.None, Module{Name: "m.wasm", Code: attacks, Export: export})
		_, err := flow.Call(newRun(t), &flow.Node{ID: "n", Timeout: 50 * time.Millisecond}, tool, text{})
		var te *value.ToolError
		if !errors.As(err, &te) || te.Code != value.Timeout {
			t.Errorf("%s: %v", export, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		p := &program{Module: Module{Name: "m.wasm", Code: attacks, Export: export}}
		done := make(chan error)
		go func() { _, err := p.call(ctx, nil, 100); done <- err }()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled: %v", export, err)
		}
	}
}

func TestTier(t *testing.T) {
	tool := Bind[text, text]("echo@1", flow.None, Module{Name: "echo.wasm", Code: echo})
	if _, err := flow.Call(newRun(t, runtime.WithPolicy(&runtime.Policy{MinSandbox: runtime.Wasm})), node, tool, text{"x"}); err != nil {
		t.Error(err)
	}
	_, err := flow.Call(newRun(t, runtime.WithPolicy(&runtime.Policy{MinSandbox: runtime.Process})), node, tool, text{"x"})
	var te *value.ToolError
	if !errors.As(err, &te) || te.Code != value.SandboxError || te.Message != "tool echo@1 needs the sandbox tier process, but only wasm is available" {
		t.Error(err)
	}
}
