package py

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// oracle writes values with formats of lines of JSON, [kind, value, format], as Python does; errors are null.
const oracle = `
import json, sys
for line in sys.stdin:
    kind, value, spec = json.loads(line)
    value = {"s": str, "i": int, "f": float}[kind](value)
    try:
        out = format(value, spec)
    except (ValueError, OverflowError):
        out = None
    print(json.dumps([repr(value), out]))
`

// TestPython compares text and numbers in many formats with what Python writes.
func TestPython(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	type one struct {
		kind, value, spec string
		got, repr         string
		failed            bool
	}
	var list []one
	specs := rapid.Custom(func(t *rapid.T) string {
		pick := func(s ...string) string { return rapid.SampledFrom(s).Draw(t, "part") }
		return pick("", "", "*<", "é^", "=", ">", "^", "0=") + pick("", "", "+", "-", " ") + pick("", "", "", "#") + pick("", "", "0") +
			pick("", "", "8", "15") + pick("", "", "", ",", "_") + pick("", "", ".0", ".1", ".3", ".12", ".") + pick("", "", "d", "s", "f", "e", "g", "G", "x", "X", "b", "o", "%", "E", "n", "c", "q")
	})
	rapid.Check(t, func(t *rapid.T) {
		x := one{spec: specs.Draw(t, "spec")}
		var err error
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			v := rapid.SampledFrom([]string{"", "a", "häuser", "it's", "\"'\n\x00", "long text that is cut", "語"}).Draw(t, "text")
			x.kind, x.value, x.repr = "s", v, Quote(v)
			x.got, err = FormatString(v, x.spec)
		case 1:
			v := rapid.OneOf(rapid.Int64Range(-50, 2000), rapid.Int64()).Draw(t, "int")
			x.kind, x.repr = "i", mustInt(v)
			x.value = x.repr
			x.got, err = FormatInt(v, x.spec)
		default:
			v := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-2000, 2000), rapid.SampledFrom([]float64{math.Inf(1), math.Inf(-1), math.NaN(), -math.MaxFloat64, 2e306, 0, 1, 0.1, 100, 1e16, 1e-5, 123456, 999999.5, 0.5, 2.5})).Draw(t, "float")
			x.kind, x.repr = "f", Float(v)
			x.value = x.repr
			x.got, err = FormatFloat(v, x.spec)
		}
		x.failed = err != nil
		list = append(list, x)
	})
	var in strings.Builder
	enc := json.NewEncoder(&in)
	for _, x := range list {
		if err := enc.Encode([]string{x.kind, x.value, x.spec}); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("python3", "-c", oracle)
	cmd.Stdin = strings.NewReader(in.String())
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(list) || len(list) < 10 { // -short draws fewer
		t.Fatal(len(lines), "lines for", len(list))
	}
	for i, x := range list {
		var want [2]*string
		if err := json.Unmarshal([]byte(lines[i]), &want); err != nil {
			t.Fatal(err)
		}
		if *want[0] != x.repr {
			t.Errorf("repr of %s %q: %s, not %s", x.kind, x.value, x.repr, *want[0])
		}
		switch {
		case want[1] == nil && !x.failed:
			t.Errorf("format(%s %q, %q) is %q; Python raises", x.kind, x.value, x.spec, x.got)
		case want[1] != nil && (x.failed || *want[1] != x.got):
			t.Errorf("format(%s %q, %q) is %q (failed: %v), not %q", x.kind, x.value, x.spec, x.got, x.failed, *want[1])
		}
	}
}

func mustInt(v int64) string {
	text, err := FormatInt(v, "")
	if err != nil {
		return err.Error()
	}
	return text
}
