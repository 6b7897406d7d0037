package dialect_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
)

// TestOutputsOfCases: what a run of a case is given and gives can be written in a test file.
func TestOutputsOfCases(t *testing.T) {
	checked, inputs := 0, 0
	each(t, func(t *testing.T, c *testcase) {
		runs := c.find("want/run")
		if c.program == nil || runs == nil {
			return
		}
		var given [][]byte
		if f := c.find("inputs.jsonl"); f != nil {
			given = slices.Collect(bytes.Lines(f.Data))
		}
		lines := slices.Collect(bytes.Lines(runs.Data))
		for i, line := range lines {
			if !bytes.HasPrefix(line, []byte(`{"`)) {
				continue
			}
			text := "flowgen: 1\nworkflow: x.yaml\ncases:\n  works:\n    want: {output: " + strings.TrimSpace(string(line)) + "}\n"
			if len(given) == len(lines) {
				text += "    input: " + strings.TrimSpace(string(given[i])) + "\n"
				inputs++
			}
			sink := &diag.Sink{}
			f := parser.ParseCases(one{"x.test.yaml": text}, "x.test.yaml", sink)
			if sink.HasErrors() {
				t.Fatalf("%v\n%s", sink.List(), text)
			}
			check.CheckCases(c.program, f, sink)
			for _, d := range sink.List() {
				if !strings.Contains(d.Message, " needs input") {
					t.Errorf("%s: %s", d.Message, line)
				}
			}
			checked++
		}
	})
	if checked < 50 || inputs == 0 { // few cases have inputs, most of them of one dialect
		t.Errorf("%d outputs and %d inputs are checked", checked, inputs)
	}
}
