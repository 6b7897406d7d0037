package core_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

type coded struct {
	S string
	n string
}

func (c coded) MarshalJSON() ([]byte, error) { return json.Marshal(c.S + c.n) }

func (c *coded) UnmarshalJSON(b []byte) error {
	c.n = ""
	return json.Unmarshal(b, &c.S)
}

// Outputs are cleansed by their types. One that has a JSON form of its own cannot be, and is refused.
func TestCleansingByType(t *testing.T) {
	type output struct {
		Bytes []byte    `json:"bytes"`
		Array [3]string `json:"array"`
		Few   [4]byte   `json:"few"`
		Code  coded     `json:"code"`
		Ref   *coded    `json:"ref"`
	}
	call := func(out output) (output, error) {
		bound := flow.Bind("t.out@1", flow.Reads, func(context.Context, pair) (output, error) { return out, nil }, flow.Secrets("KEY"))
		return flow.Call(start(t, t.Context(), runtime.WithSecrets(func(string) (string, bool) { return "hunter2", true })), node("a"), bound, pair{})
	}
	clean := output{Bytes: []byte("bytes"), Array: [3]string{"a"}, Few: [4]byte{1}, Code: coded{n: "x"}, Ref: &coded{n: "y"}}
	if got, err := call(clean); err != nil || string(got.Bytes) != "bytes" || got.Code.n != "x" || got.Ref.n != "y" {
		t.Errorf("%+v, %v", got, err)
	}
	leak := clean
	leak.Bytes, leak.Array[1] = []byte("my hunter2."), "hunter2"
	if got, err := call(leak); err != nil || string(got.Bytes) != "my [redacted]." || got.Array != [3]string{"a", "[redacted]", ""} || got.Few != clean.Few {
		t.Errorf("%+v, %v", got, err)
	}
	leak = clean
	leak.Bytes = []byte("hunter2")
	if got, err := call(leak); err != nil || string(got.Bytes) != "[redacted]" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, c := range []coded{{n: "hunter2"}, {S: "hunter2"}} {
		leak := clean
		leak.Code = c
		_, err := call(leak)
		wantCode(t, err, value.PolicyDenied)
		leak = clean
		leak.Ref = &c
		_, err = call(leak)
		wantCode(t, err, value.PolicyDenied)
	}
}

// Tools that have other secrets are given what takes out all of them.
func TestRedactorOfTools(t *testing.T) {
	if r := tool.RedactorOf(t.Context()); r != nil {
		t.Error("there is one outside of tools")
	}
	text := func(o ...flow.ToolOption) *flow.Tool[pair, string] {
		return flow.Bind("t.text@1", flow.Reads, func(ctx context.Context, _ pair) (string, error) {
			return fmt.Sprint(len(tool.RedactorOf(ctx).Text("hunter2"))), nil
		}, o...)
	}
	values := map[string]string{"KEY": "hunter2", "OTHER": "correct horse"}
	r := start(t, t.Context(), runtime.WithSecrets(func(name string) (string, bool) { v, ok := values[name]; return v, ok }))
	for i, tt := range []struct {
		tool *flow.Tool[pair, string]
		want string
	}{{text(flow.Secrets("OTHER")), "7"}, {text(flow.Secrets("KEY")), "10"}, {text(flow.Secrets("OTHER")), "10"}} {
		if got, err := flow.Call(r, node("a"), tt.tool, pair{}); got != tt.want || err != nil {
			t.Errorf("call %d: %s bytes, %v", i, got, err)
		}
	}
}
