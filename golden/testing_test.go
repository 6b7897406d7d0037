package golden_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/native"
)

// TestTestingIsComplete holds the page about test files to what can be written in them, and the table of their shapes
// together.
func TestTestingIsComplete(t *testing.T) {
	page, err := os.ReadFile("../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	shapes := map[string]*native.Shape{}
	for _, s := range native.CaseShapes() {
		shapes[s.Name] = s
		for _, k := range s.Keys {
			if !regexp.MustCompile("`[^`\n]*\\b" + k.Name + "\\b[^`\n]*`").Match(page) {
				t.Errorf("the key `%s` of %s is not explained", k.Name, s.What)
			}
			if k.Doc == "" || s.Instead[k.Name] != "" {
				t.Errorf("the key `%s` of %s has no doc, or is explained as none", k.Name, s.What)
			}
		}
	}
	for _, s := range native.CaseShapes() {
		for _, k := range s.Keys {
			for f := &k.Value; f != nil; f = f.Elem {
				for _, form := range append(f.Any, *f) {
					if form.Kind == native.FormShape && shapes[form.Shape] == nil {
						t.Errorf("%s.%s: no shape %q", s.Name, k.Name, form.Shape)
					}
				}
			}
		}
	}
	for _, c := range ir.Conditions {
		if !strings.Contains(string(page), "{"+c+": ") {
			t.Errorf("the condition %s is not explained", c)
		}
	}
}

// TestKeysOfCases: every call of every run of every case of the corpus has a key that a test file can name, and a
// misspelling of it cannot be named.
func TestKeysOfCases(t *testing.T) {
	named := func(p *check.Program, key string) []diag.Diagnostic {
		f := source.NewFile("w.test.yaml", key)
		id := ir.Ident{Name: key, Span: source.Span{File: f, Hi: len(key)}}
		var sink diag.Sink
		check.CheckCases(p, &ir.CaseFile{File: f, Cases: []*ir.TestCase{{Name: id, Want: ir.Want{Calls: []*ir.WantCall{{Key: id}}}}}}, &sink)
		var out []diag.Diagnostic
		for _, d := range sink.List() {
			if d.Code != diag.MissingField { // the case has no input
				out = append(out, d)
			}
		}
		return out
	}
	calls := 0
	for _, c := range corpus(t) {
		if c.program == nil || !c.has("want/run.json") {
			continue
		}
		var runs []goldenRun
		if err := json.Unmarshal([]byte(c.section("want/run.json")), &runs); err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			for _, key := range r.Calls {
				if _, wait := waits(key); wait {
					continue // no case can name it
				}
				if i := strings.IndexAny(key, ": "); i >= 0 { // how it ended
					key = key[:i]
				}
				calls++
				for _, d := range named(c.program, key) {
					t.Errorf("%s: call %s: %s", c.name, key, d.Message)
				}
				wild := regexp.MustCompile(`\[[0-9]+\]`).ReplaceAllString(key, "[*]")
				for _, d := range named(c.program, wild) {
					t.Errorf("%s: call %s: %s", c.name, wild, d.Message)
				}
				for _, wrong := range []string{"x" + key, key + "/x", strings.Replace(key, "/", "x/", 1), key + "[0]", "[0]" + key, strings.TrimRight(key, "#0123456789") + "#0"} {
					if wrong != key && len(named(c.program, wrong)) == 0 {
						t.Errorf("%s: there is a call %s", c.name, wrong)
					}
				}
			}
		}
	}
	t.Logf("%d calls", calls)
	if calls < 400 {
		t.Error("too few")
	}
}
