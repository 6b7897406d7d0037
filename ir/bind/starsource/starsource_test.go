package starsource_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/bind/starsource"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
)

type oneFile struct{ text string }

func (f oneFile) ReadFile(string) ([]byte, error) { return []byte(f.text), nil }

func one(t *testing.T, code, keys string) (*ir.Tool, string) {
	t.Helper()
	text := "flowgen: 1\nname: demo\ntools:\n  acme.tidy@2: " + keys + "\nnodes:\n  a: {let: {n: 1}}\n"
	sink := &diag.Sink{}
	wf := parser.Parse(oneFile{text}, "demo.flowgen.yaml", sink)
	if wf == nil || sink.HasErrors() {
		t.Fatalf("%s: %v", text, sink.List())
	}
	dir := t.TempDir()
	starsource.Resolve(wf.Tools, starsource.Options{
		Files:  &foreign.Files{Overlay: map[string][]byte{filepath.Join(dir, "tools", "t.star"): []byte(code)}},
		Folder: func(*source.File) foreign.Folder { return foreign.Folder{Disk: dir, Typed: "."} },
	}, sink)
	var b strings.Builder
	for _, d := range sink.List() {
		at := ""
		for _, r := range d.Related {
			at += fmt.Sprintf(" [%s:%d %s]", r.Span.File.Name, r.Span.Start().Line, r.Span.Text())
		}
		fmt.Fprintf(&b, "%s %q: %s (%s)%s\n", d.Code, d.Span.Text(), d.Message, d.Help, at)
	}
	return wf.Tools[0], b.String()
}

func TestResolve(t *testing.T) {
	tests := []struct{ code, keys, want string }{
		{"def helper(x): return x\ndef tidy(s, n = 1, *rest, k, **more):\n  'Tidies.'\n  return s", "", "tidy {s: any, n: opt<any>, k: any} -> any Tidies. open"},
		{"def main(): pass", "", "main {} -> any"},
		{"# é\ndef tidy(s): return s.upper()", ", in: {s: string}, out: string", "tidy {s: string} -> string"},
		{"def tidy(s): return s", ", in: {t: string}", "FG0616 \"t\": tools/t.star:tidy takes no input `t` (replace with `s`) [tools/t.star:1 s]\n"},
		{"def tdiy(s): return s", "", "FG0614 \"tools/t.star\": tools/t.star has no function `tidy` (rename `tdiy` there to `tidy` or `main`, or the tool here to `tdiy`) [tools/t.star:1 tdiy]\n"},
		{"x = 1", "", "FG0614 \"tools/t.star\": tools/t.star has no function `tidy` (define it, or `main`)\n"},
		{"load('a.star', 'b')\ndef tidy(): pass", "", "FG0613 \"tools/t.star\": tools/t.star loads another file, and a Starlark tool is one file (copy what it needs from there) [tools/t.star:1 load]\n"},
		{"def tidy(s): return undefined", "", "FG0613 \"tools/t.star\": tools/t.star cannot be read: undefined: undefined () [tools/t.star:1 u]\n"},
		{"def tidy(:", "", "FG0613 \"tools/t.star\": tools/t.star cannot be read: got ':', want ')' () [tools/t.star:1 ]\n"},
		{"def tidy():\n  while True: pass", "", "FG0613 \"tools/t.star\": tools/t.star cannot be read: this Starlark dialect does not support while loops () [tools/t.star:2 w]\n"},
	}
	for _, tt := range tests {
		tool, got := one(t, tt.code, "{starlark: tools/t.star"+tt.keys+"}")
		if got == "" {
			got = tool.Binding.(*ir.StarlarkTool).Function + " " + tool.In.String() + " -> " + tool.Out.String()
			if tool.Description != "" {
				got += " " + tool.Description
			}
			if tool.Def.Open {
				got += " open"
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s\n%s", tt.code, diff)
		}
	}
	if _, got := one(t, "", "{starlark: tools/none.star}"); got != "FG0612 \"tools/none.star\": tools/none.star cannot be read: no such file ()\n" {
		t.Error(got)
	}
}
