package core_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

type everyIn struct {
	Text  string             `json:"text"`
	Small int8               `json:"small"`
	Count uint16             `json:"count"`
	Share float64            `json:"share"`
	On    bool               `json:"on"`
	Maybe *int64             `json:"maybe"`
	List  []string           `json:"list"`
	Dict  map[string]int64   `json:"dict"`
	Any   value.Value        `json:"any"`
	Wait  time.Duration      `json:"wait"`
	Deep  []struct{ N int8 } `json:"deep"`
	Level int64              `json:"level" default:"5"`
}

// everyArgs is what the generator writes for everyIn.
func everyArgs(a *value.Args) everyIn {
	return everyIn{
		Text:  value.Arg(a, "text", value.AsString[string]),
		Small: value.Arg(a, "small", value.AsInt[int8]),
		Count: value.Arg(a, "count", value.AsInt[uint16]),
		Share: value.Arg(a, "share", value.AsFloat[float64]),
		On:    value.Arg(a, "on", value.AsBool[bool]),
		Maybe: value.ArgOpt(a, "maybe", value.AsInt[int64]),
		List:  value.Arg(a, "list", value.AsList(value.AsString[string])),
		Dict:  value.Arg(a, "dict", value.AsMap(value.AsInt[int64])),
		Any:   value.Arg(a, "any", value.AsValue),
		Wait:  value.Arg(a, "wait", value.As[time.Duration]),
		Deep:  value.Arg(a, "deep", value.As[[]struct{ N int8 }]),
		Level: value.ArgOr(a, "level", value.AsInt[int64], 5),
	}
}

var everyTool = flow.Bind("t.every@1", flow.Reads, func(_ context.Context, in everyIn) (everyIn, error) { return in, nil })

// everyChoice is what the generator writes for one tool.
func everyChoice(run *flow.Run, name string, args *value.Args) (*everyIn, error) {
	switch name {
	case "every":
		return flow.Dispatch(run, &callNode, everyTool, args, everyArgs, value.ToPtr)
	case "secret":
		return nil, flow.DeniedTool(name)
	}
	return nil, flow.UnknownTool(name)
}

// TestArgsAreDecode holds the generated reader to Decode: the same inputs are accepted, with the same result.
func TestArgsAreDecode(t *testing.T) {
	run := start(t, t.Context())
	right := map[string]string{
		"text": `"a"`, "small": "-128", "count": "65535", "share": "1", "on": "true", "maybe": "null", "list": `["x"]`, "dict": `{"a":1}`,
		"any": `[1,{"b":null}]`, "wait": `"2s"`, "deep": `[{"N":1}]`, "level": "7",
	}
	odd := []string{"null", "true", "1", "-1", "1.0", "1.5", "128", "-129", "65536", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1e400", "1e300",
		`"1"`, `""`, "[]", "{}", "[null]", "[1]", `["a",1]`, `{"a":null}`, `{"a":"1"}`, `{"a":1.5}`, `[{"N":200}]`, `[{"N":1,"M":2}]`, `[{"n":1}]`, `[{}]`, `"1h"`, `"never"`}
	rapid.Check(t, func(t *rapid.T) {
		var members []string
		for _, f := range []string{"text", "small", "count", "share", "on", "maybe", "list", "dict", "any", "wait", "deep", "level"} {
			switch rapid.IntRange(0, 40).Draw(t, f) {
			case 0: // missing
			case 1:
				members = append(members, fmt.Sprintf("%q:%s", strings.ToUpper(f), right[f]))
			case 2, 3, 4:
				members = append(members, fmt.Sprintf("%q:%s", f, rapid.SampledFrom(odd).Draw(t, "odd")))
			default:
				members = append(members, fmt.Sprintf("%q:%s", f, right[f]))
			}
		}
		text := "{" + strings.Join(members, ",") + "}"
		args, err := value.Parse([]byte(text))
		if err != nil {
			return // not a value at all: refused before
		}
		var want everyIn
		decoded := value.Decode([]byte(text), &want)
		got, err := flow.Choose(run, &callNode, 1, "every", value.ValueArgs(args), everyChoice)
		if err != nil {
			t.Fatal(err)
		}
		if got.Success != (decoded == nil) || got.Success != (got.Error == nil) || got.Success != (got.Result != nil) {
			t.Fatalf("%s\nDecode: %v\nresult: %+v %v", text, decoded, got, errorText(got.Error))
		}
		if got.Success {
			a, b := value.JSON(want), value.JSON(*got.Result)
			if a != b {
				t.Fatalf("%s\nDecode %s\nresult %s", text, a, b)
			}
		}
		dict := map[string]value.Value{}
		for _, k := range args.Keys() {
			dict[k], _ = args.Get(k)
		}
		if again, _ := flow.Choose(run, &callNode, 1, "every", value.MapArgs(dict), everyChoice); again.Success != got.Success {
			t.Fatalf("%s as a map: %v", text, errorText(again.Error))
		}
	})
}

func errorText(p *string) string {
	if p == nil {
		return "none"
	}
	return *p
}

func TestChooseNeverFails(t *testing.T) {
	kinds := map[string]error{
		"plain":   errors.New("FileNotFoundError: no such file"),
		"coded":   value.Errorf(value.RateLimit, "slow down"),
		"invalid": value.Invalid("q: too long"),
		"timeout": context.DeadlineExceeded,
	}
	both(t, func(t *testing.T, r *flow.Run) {
		n := node("call")
		call := func(run *flow.Run, name string, args *value.Args) (value.Value, error) {
			switch name {
			case "panic":
				return flow.Dispatch(run, n, flow.Bind("t.p@1", flow.Reads, func(context.Context, struct{}) (string, error) { panic("oh") }), args, value.NoArgs, value.ToValue)
			case "nan":
				return flow.Dispatch(run, n, flow.Bind("t.n@1", flow.None, func(context.Context, struct{}) (float64, error) { return math.NaN(), nil }), args, value.NoArgs, value.ToValue)
			case "nothing":
				return flow.Dispatch(run, n, flow.Bind("t.e@1", flow.None, func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }), args, value.NoArgs, value.ToValue)
			case "denied":
				return value.Null(), flow.DeniedTool(name)
			}
			if err := kinds[name]; err != nil {
				return flow.Dispatch(run, n, flow.Bind("t.f@1", flow.Reads, func(context.Context, struct{}) (string, error) { return "", err }), args, value.NoArgs, value.ToValue)
			}
			return value.Null(), flow.UnknownTool(name)
		}
		want := map[string]string{
			"plain": "FileNotFoundError: no such file", "coded": "RATE_LIMIT: slow down", "invalid": "q: too long", "timeout": "TIMEOUT: context deadline exceeded",
			"panic": "panic: oh", "nan": "output: NaN is not a number", "denied": "POLICY_DENIED: tool denied is not allowed here", "x": "Unknown tool: x", "nothing": "none",
			strings.Repeat("é", 200): "Unknown tool: " + strings.Repeat("é", 100) + "…",
		}
		got := map[string]string{}
		for name := range want {
			out, err := flow.Choose(r, n, value.Null(), name, value.Args{}, call)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if out.Tool != name || out.Success != (out.Error == nil) || !out.Result.IsNull() {
				t.Errorf("%s: %+v", name, out)
			}
			got[name] = errorText(out.Error)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		for _, args := range []value.Value{value.List(), value.String("{}"), value.Int(1), value.Bool(true)} {
			out, err := flow.Choose(r, n, 1, "nothing", value.ValueArgs(args), call)
			if err != nil || out.Success || !strings.HasPrefix(*out.Error, "an object expected, a ") {
				t.Errorf("%s: %+v, %v", args, out, err)
			}
		}
	})
}

// TestChooseStops: what ends the run is not data.
func TestChooseStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := start(t, ctx)
	_, err := flow.Choose(r, &callNode, 1, "tool_57", value.MapArgs(map[string]value.Value{"q": value.String("x")}), hundred)
	if !runtime.IsCancelled(err) {
		t.Error(err)
	}
}

// TestChooseIsRecorded: a chosen call is recorded under the node's key with the tool's name, and answered from there; a
// name that calls nothing is a visit too, and an event.
func TestChooseIsRecorded(t *testing.T) {
	names := []string{"tool_57", "nobody", "tool_58"}
	body := func(e engine.Engine) (out []string, refused int) {
		rt, err := flow.New(&flow.Info{Name: "t", Nodes: []*flow.Node{&callNode}}, runtime.WithEngine(e), runtime.WithObserver(runtime.ObserverFunc(func(ev runtime.Event) {
			if ev.Kind == runtime.NodeEnd && ev.Tool == "nobody" && ev.Err != nil {
				refused++
			}
		})))
		if err != nil {
			t.Fatal(err)
		}
		run := rt.Start(t.Context())
		defer run.End(&err)
		for _, name := range names {
			var r flow.ToolResult[int, value.Value]
			if r, err = flow.Choose(run, &callNode, 1, name, value.MapArgs(map[string]value.Value{"q": value.String("x")}), hundred); err != nil {
				t.Fatal(err)
			}
			out = append(out, value.JSON(r))
		}
		return out, refused
	}
	rec := journal.NewRecorder()
	first, refused := body(rec)
	var keys []string
	for _, r := range rec.Journal().Records() {
		keys = append(keys, r.Key+" "+r.Tool)
	}
	if d := cmp.Diff([]string{"call t.text@1", "call#3 t.find@1"}, keys); d != "" || refused != 1 {
		t.Error(d, refused)
	}
	again, _ := body(journal.Replay(rec.Journal()))
	if d := cmp.Diff(first, again); d != "" {
		t.Error(d)
	}
}

// TestChooseOnlyWhatIsNamed: names that look like that of a tool call nothing (P32).
func TestChooseOnlyWhatIsNamed(t *testing.T) {
	run := start(t, t.Context())
	calls := 0
	tool := flow.Bind("a.find@1", flow.None, func(context.Context, struct{}) (string, error) { calls++; return "", nil })
	call := func(run *flow.Run, name string, args *value.Args) (value.Value, error) {
		switch name {
		case "a.find@1":
			return flow.Dispatch(run, &callNode, tool, args, value.NoArgs, value.ToValue)
		case "a.drop@1":
			return value.Null(), flow.DeniedTool(name)
		}
		return value.Null(), flow.UnknownTool(name)
	}
	for _, name := range []string{
		"", "a.find", "find", "find@1", "a.find@01", "a.find@1 ", " a.find@1", "A.find@1", "a.Find@1", "a.find@1\x00", "a.find@1\n", "a.find@1\u200b", "a\u200b.find@1", "a.fi\u0301nd@1",
		"\u0430.find@1", "a.find@\uff11", "a/find@1", "a.find@1.0", "a.find@v1", "../a.find@1", "a.find@1;a.drop@1", "a.find@1\xff", `"a.find@1"`, "a.drop@1", "a.drop",
	} {
		out, err := flow.Choose(run, &callNode, 1, name, value.Args{}, call)
		if err != nil || out.Success || out.Error == nil {
			t.Errorf("%+q: %+v, %v", name, out, err)
		}
	}
	if out, err := flow.Choose(run, &callNode, 1, "a.find@1", value.Args{}, call); calls != 1 || err != nil || !out.Success {
		t.Errorf("%d calls, %+v, %v", calls, out, err)
	}
}
