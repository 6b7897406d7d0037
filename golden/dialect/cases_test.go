package dialect_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
)

// TestOutputsOfCases: what a run of a case gives can be written in a test file as what the run has to give.
func TestOutputsOfCases(t *testing.T) {
	checked := 0
	each(t, func(t *testing.T, c *testcase) {
		runs := c.find("want/run")
		if c.program == nil || runs == nil {
			return
		}
		for line := range bytes.Lines(runs.Data) {
			if !bytes.HasPrefix(line, []byte(`{"`)) {
				continue
			}
			text := "flowgen: 1\nworkflow: x.yaml\ncases:\n  works:\n    want: {output: " + strings.TrimSpace(string(line)) + "}\n"
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
	if checked < 50 {
		t.Errorf("%d outputs are checked", checked)
	}
}
