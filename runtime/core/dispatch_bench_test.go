package core_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"sync/atomic"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

type findIn struct {
	Q     string `json:"q"`
	Limit int64  `json:"limit"`
}

type findOut struct {
	Path string `json:"path"`
	Line int64  `json:"line"`
}

func find(_ context.Context, in findIn) (findOut, error) {
	return findOut{in.Q, in.Limit}, nil
}

func findText(_ context.Context, in findIn) (string, error) { return in.Q, nil }

func findArgs(a *value.Args) findIn {
	return findIn{Q: value.Arg(a, "q", value.AsString[string]), Limit: value.ArgOr(a, "limit", value.AsInt[int64], 5)}
}

var (
	findTool = flow.Bind("t.find@1", flow.Reads, find)
	textTool = flow.Bind("t.text@1", flow.Reads, findText)
	callNode = flow.Node{ID: "call", Pos: "x:1:1"}
)

// hundred is what the generator writes for a hundred tools.
func hundred(run *flow.Run, name string, args *value.Args) (value.Value, error) {
	switch name {
	case "tool_0":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_1":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_2":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_3":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_4":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_5":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_6":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_7":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_8":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_9":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_10":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_11":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_12":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_13":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_14":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_15":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_16":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_17":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_18":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_19":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_20":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_21":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_22":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_23":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_24":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_25":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_26":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_27":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_28":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_29":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_30":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_31":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_32":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_33":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_34":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_35":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_36":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_37":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_38":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_39":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_40":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_41":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_42":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_43":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_44":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_45":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_46":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_47":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_48":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_49":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_50":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_51":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_52":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_53":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_54":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_55":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_56":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_57":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_58":
		return flow.Dispatch(run, &callNode, findTool, args, findArgs, value.ToValue)
	case "tool_59":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_60":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_61":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_62":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_63":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_64":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_65":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_66":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_67":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_68":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_69":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_70":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_71":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_72":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_73":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_74":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_75":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_76":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_77":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_78":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_79":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_80":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_81":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_82":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_83":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_84":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_85":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_86":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_87":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_88":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_89":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_90":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_91":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_92":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_93":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_94":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_95":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_96":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_97":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_98":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	case "tool_99":
		return flow.Dispatch(run, &callNode, textTool, args, findArgs, value.ToValue)
	}
	return value.Null(), flow.UnknownTool(name)
}

func startRun(tb testing.TB) *flow.Run {
	tb.Helper()
	rt, err := flow.New(&flow.Info{Name: "t", Nodes: []*flow.Node{&callNode}})
	if err != nil {
		tb.Fatal(err)
	}
	return rt.Start(tb.Context())
}

// handChoice is what people write by hand for the same: a table of functions, each of which takes its arguments apart.
var handChoice = func() map[string]func(context.Context, map[string]value.Value) (string, error) {
	m := map[string]func(context.Context, map[string]value.Value) (string, error){}
	for i := range 100 {
		m[fmt.Sprintf("tool_%d", i)] = func(ctx context.Context, args map[string]value.Value) (string, error) {
			in := findIn{Limit: 5}
			for k, v := range args {
				switch k {
				case "q":
					if v.Kind() != value.StringKind {
						return "", errors.New("q: a string expected")
					}
					in.Q = v.String()
				case "limit":
					if v.Kind() != value.IntKind {
						return "", errors.New("limit: an integer expected")
					}
					in.Limit = v.Int()
				default:
					return "", errors.New("unknown field " + k)
				}
			}
			return findText(ctx, in)
		}
	}
	return m
}()

// BenchmarkDispatch: a tool_call over 100 tools beside a direct call and beside the table that people write by hand. The
// bound is 200 ns over the direct call (W9 of the performance notes).
func BenchmarkDispatch(b *testing.B) {
	run := startRun(b)
	args := value.Map(value.Entry{Key: "q", Value: value.String("x")}, value.Entry{Key: "limit", Value: value.Int(7)})
	dict := map[string]value.Value{"q": value.String("x"), "limit": value.Int(7)}
	b.Run("direct", func(b *testing.B) {
		for b.Loop() {
			if _, err := flow.Call(run, &callNode, textTool, findIn{Q: "x", Limit: 7}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("hand", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			out, err := handChoice["tool_57"](b.Context(), dict)
			if err != nil || out == "" {
				b.Fatal(err)
			}
		}
	})
	chosen := func(name string, args value.Args) func(b *testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				out, err := flow.Choose(run, &callNode, int64(1), name, args, hundred)
				if err != nil || !out.Success {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("map", chosen("tool_57", value.MapArgs(dict)))
	b.Run("value", chosen("tool_57", value.ValueArgs(args)))
	b.Run("struct", chosen("tool_58", value.ValueArgs(args)))
}

// TestChooseMany: ten thousand tasks take a few goroutines and little beyond their results.
func TestChooseMany(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory")
	}
	run := startRun(t)
	tasks := make([]string, 10_000)
	for i := range tasks {
		tasks[i] = fmt.Sprintf("tool_%d", i%120)
	}
	dict := map[string]value.Value{"q": value.String("x")}
	var before, after goruntime.MemStats
	var most atomic.Int64
	goruntime.GC()
	goruntime.ReadMemStats(&before)
	out, err := flow.Map(run, &flow.Node{ID: "each", Index: -1, Limit: 8}, tasks, func(run *flow.Run, name string) (flow.ToolResult[int64, value.Value], error) {
		for n := int64(goruntime.NumGoroutine()); ; {
			old := most.Load()
			if n <= old || most.CompareAndSwap(old, n) {
				break
			}
		}
		return flow.Choose(run, &callNode, int64(1), name, value.MapArgs(dict), hundred)
	})
	goruntime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for i, r := range out {
		if r.Tool != tasks[i] {
			t.Fatalf("result %d is of %s", i, r.Tool)
		}
		if !r.Success {
			failed++
		}
	}
	each := (after.TotalAlloc - before.TotalAlloc) / uint64(len(tasks))
	t.Logf("%d bytes for each task, its result included; %d goroutines at most", each, most.Load())
	if want := 1660; failed != want || each > 1000 || most.Load() > 40 {
		t.Errorf("%d failed, want %d; %d bytes each; %d goroutines", failed, want, each, most.Load())
	}
}

// TestChooseAllocates: a chosen call costs one allocation, and what its result needs as a dynamic value.
func TestChooseAllocates(t *testing.T) {
	run := startRun(t)
	args := value.ValueArgs(value.Map(value.Entry{Key: "q", Value: value.String("x")}))
	for name, want := range map[string]float64{"tool_57": 1, "tool_58": 4} {
		got := testing.AllocsPerRun(100, func() {
			if out, err := flow.Choose(run, &callNode, int64(1), name, args, hundred); err != nil || !out.Success {
				t.Fatal(err, out)
			}
		})
		if got > want {
			t.Errorf("%s: %v allocations, at most %v", name, got, want)
		}
	}
}
