package native

import (
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

func TestParseDuration(t *testing.T) {
	const day = 24 * time.Hour
	for s, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "1h30m": 90 * time.Minute, "500ms": 500 * time.Millisecond, "1.5h": 90 * time.Minute,
		"2d": 2 * day, "1d12h": 36 * time.Hour, "0s": 0, "100000d": 100000 * day,
	} {
		if got, ok := ir.ParseDuration(s); !ok || got != want {
			t.Errorf("%s is %v, %v", s, got, ok)
		}
	}
	for _, s := range []string{"", "30", "s", "1x", "d", "1d2d", "1.5d", "-1d", "1d-2h", "200000d", "106751d24h", "9999999999999999999d", "1 h", "106751d23h48m"} {
		if got, ok := ir.ParseDuration(s); ok {
			t.Errorf("%q is %v, want a mistake", s, got)
		}
	}
}

func TestParseInt(t *testing.T) {
	for s, want := range map[string]int64{"0": 0, "-7": -7, "+7": 7, "0x1F": 31, "0o17": 15, "-0x10": -16, "9223372036854775807": 1<<63 - 1} {
		if got, ok := parseInt(s); !ok || got != want {
			t.Errorf("%s is %v, %v", s, got, ok)
		}
	}
	for _, s := range []string{"", "x", "1_000", "9223372036854775808", "--1", "0x", "1.0", "0b1"} {
		if got, ok := parseInt(s); ok {
			t.Errorf("%q is %v, want a mistake", s, got)
		}
	}
}

// read parses one value with f and returns how many mistakes there were.
func read[T any](t *testing.T, text string, f func(p *parser, n *yamlnode.Node) T) (T, int) {
	t.Helper()
	root, problems := yamlnode.Parse(source.NewFile("f", "v: "+text+"\n"))
	if len(problems) > 0 {
		t.Fatalf("%s: %s", text, problems[0].Message)
	}
	p := &parser{sink: &diag.Sink{}, wf: &ir.Workflow{}}
	v := f(p, root.Get("v"))
	return v, p.sink.Errors()
}

func TestSizes(t *testing.T) {
	size := func(p *parser, n *yamlnode.Node) int64 { return p.size(n, "it") }
	for s, want := range map[string]int64{"2MiB": 2 << 20, "64KiB": 64 << 10, "1GiB": 1 << 30, "500kB": 500_000, "1MB": 1_000_000, "1024": 1024, "3 MiB": 3 << 20, "7B": 7} {
		if got, bad := read(t, s, size); got != want || bad > 0 {
			t.Errorf("%s is %d with %d mistakes", s, got, bad)
		}
	}
	for _, s := range []string{"0", "-1", "1.5MiB", "MiB", "2mib", "99999999999GiB", "''"} {
		if got, bad := read(t, s, size); bad != 1 {
			t.Errorf("%s is %d with %d mistakes", s, got, bad)
		}
	}
}

func TestMoneyAndRates(t *testing.T) {
	money := func(p *parser, n *yamlnode.Node) string { return p.money(n, "it") }
	for s, bad := range map[string]int{`"0.50"`: 0, `"12"`: 0, `"0.000000001"`: 0, "0.50": 0, "12": 0, "999999999999.000000001": 0, ".5": 1, "5e-1": 1, "0x1F": 1, "-0.5": 1, "true": 1, `"-1"`: 1, `"1."`: 1, `"1e3"`: 1, `"$1"`: 1, `"0.0000000001"`: 1} {
		v, got := read(t, s, money)
		if got != bad {
			t.Errorf("%s: %d mistakes", s, got)
		}
		if want := strings.Trim(s, `"`); bad == 0 && v != want { // a float would have another text
			t.Errorf("%s is %s", s, v)
		}
	}
	rate := func(p *parser, n *yamlnode.Node) string { return p.rate(n, "it") }
	for s, bad := range map[string]int{"5/s": 0, "100/m": 0, "1000/h": 0, "0/s": 1, "5": 1, "5/d": 1, "-5/s": 1, "5 / s": 1} {
		if _, got := read(t, s, rate); got != bad {
			t.Errorf("%s: %d mistakes", s, got)
		}
	}
}

func TestStem(t *testing.T) {
	for name, want := range map[string]string{
		"a/triage.flowgen.yaml": "triage", "Release-Notes.yml": "release_notes", "x": "x", "7.yaml": "workflow", "": "workflow", "/é.flowgen.yaml": "workflow",
	} {
		if got := stem(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestReportsAreBounded(t *testing.T) {
	text := "flowgen: 1\nname: a\nnodes:\n"
	for i := range 2000 {
		text += " a" + time.Duration(i).String() + ": {tol: x}\n"
	}
	f := source.NewFile("f", text)
	root, _ := yamlnode.Parse(f)
	var sink diag.Sink
	if w := Parse(root, f, nil, &sink); len(w.Body.Nodes) != 2000 || sink.Errors() != maxErrors {
		t.Errorf("%d nodes, %d errors", len(w.Body.Nodes), sink.Errors())
	}
}
