package hostile

import (
	hexbytes "encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
)

// A heavySource is a project whose other files, not its workflow, are huge, deep, recursive, or double with every line.
type heavySource struct {
	main  string
	files map[string]string
}

// manyOf repeats a text n times, each with its number in place of #, and the number before it in place of ^.
func manyOf(n int, text string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		b.WriteString(strings.NewReplacer("#", fmt.Sprint(i), "^", fmt.Sprint(i-1)).Replace(text))
	}
	return b.String()
}

// heavySources reads its sources with every reader that the compiler has: Python, TypeScript, JSDoc, schemas of MCP and of
// WebAssembly, JSON Schema, and those of the dialects.
func heavySources(t *testing.T) map[string]heavySource {
	const many, deep, double = 20_000, 10_000, 40
	out := map[string]heavySource{}
	tool := func(binding string) string {
		return top + "tools: {f: {" + binding + ", effects: none}}\nnodes: {n: {tool: f}}\noutput: {x: $n}\n"
	}
	python := func(name, text string) {
		text = "from __future__ import annotations\nfrom dataclasses import dataclass\nfrom enum import Enum\nfrom typing import *\n\n" + text + "\n\ndef f(x: T) -> str:\n    return ''\n"
		out["python: "+name] = heavySource{"x.flowgen.yaml", map[string]string{"x.flowgen.yaml": tool(`python: "t:f"`), "t.py": text}}
	}
	python("literal", "T = Literal["+manyOf(many, "'v#', ")+"]")
	python("enum", "class T(str, Enum):\n"+manyOf(many, "  a# = 'v#'\n"))
	python("fields", "class T(TypedDict):\n"+manyOf(many, "  a#: int\n"))
	python("dataclass", "@dataclass\nclass T:\n"+manyOf(many, "  a#: int = 1\n"))
	python("double", "class T0(TypedDict):\n  a: int\n"+manyOf(double, "class T#(TypedDict):\n  a: T^\n  b: T^\n")+fmt.Sprintf("T = T%d", double))
	python("recursive", "class T(TypedDict):\n  a: T\n  b: list[T]\n")
	python("union of classes", manyOf(1000, "class C#(TypedDict):\n  a#: int\n")+"T = Union["+manyOf(1000, "C#, ")+"]")
	python("nested", "T = "+strings.Repeat("list[", deep)+"int"+strings.Repeat("]", deep))

	typescript := func(name, text string) {
		out["typescript: "+name] = heavySource{"x.flowgen.yaml", map[string]string{"x.flowgen.yaml": tool(`js: ./t.ts`), "t.ts": text + "\nexport default function f(args: T): string { return '' }\n"}}
	}
	typescript("literals", "type T = {x: "+manyOf(many, "| 'v#' ")+"}")
	typescript("enum", "enum E {"+manyOf(many, "a# = 'v#',")+"}\ntype T = {x: E}")
	typescript("fields", "interface T {"+manyOf(many, "a#: number; ")+"}")
	typescript("extends", "interface A0 {a0: number}\n"+manyOf(5000, "interface A# extends A^ {a#: number}\n")+"type T = A5000")
	typescript("intersection", "type T = {a: number}"+manyOf(many, " & {a#: number}"))
	typescript("double", "interface A0 {a0: number}\n"+manyOf(double, "interface A# {a: A^, b: A^}\n")+fmt.Sprintf("type T = A%d", double))
	typescript("equal", "type A0 = {a: number}\ntype B0 = {a: number}\n"+manyOf(double, "type A# = {a: A^, b: A^}\ntype B# = {a: B^, b: B^}\n")+fmt.Sprintf("type T = {x: A%d | B%d}", double, double))
	typescript("nested generics", "type T = {x: "+strings.Repeat("Array<", deep)+"number"+strings.Repeat(">", deep)+"}")
	typescript("recursive", "interface T {a: T, b: T[]}")

	wasm := moduleOf(t)
	described := func(name, in string) {
		out["schema: "+name] = heavySource{"x.flowgen.yaml", map[string]string{"x.flowgen.yaml": tool(`wasm: ./t.wasm`), "t.wasm": wasm, "t.wasm.json": `{"tools": [{"name": "_start", "inputSchema": ` + in + `}]}`}}
	}
	list := func(items string) string { return strings.TrimSuffix(items, ",") }
	described("fields", `{"type": "object", "properties": {`+list(manyOf(many, `"a#": {"type": "string"},`))+`}, "required": [`+list(manyOf(many, `"a#",`))+`]}`)
	described("enum", `{"type": "object", "properties": {"x": {"enum": [`+list(manyOf(many, `"v#",`))+`]}}}`)
	described("double", `{"type": "object", "properties": {"x": {"$ref": "#/$defs/T`+fmt.Sprint(double)+`"}}, "$defs": {"T0": {"type": "string"}`+manyOf(double, `, "T#": {"type": "object", "properties": {"a": {"$ref": "`+"\x00"+`/$defs/T^"}, "b": {"$ref": "`+"\x00"+`/$defs/T^"}}}`)+`}}`)
	described("references", `{"type": "object", "properties": {`+list(manyOf(5000, `"x#": {"$ref": "`+"\x00"+`/$defs/T#"},`))+`}, "$defs": {`+list(manyOf(many, `"T#": {"type": "string"},`))+`}}`)
	described("recursive", `{"type": "object", "properties": {"x": {"$ref": "#"}, "y": {"$ref": "#/properties/x"}}}`)
	described("nested", `{"type": "object", "properties": {"x": `+strings.Repeat(`{"type": "array", "items": `, deep)+`{}`+strings.Repeat("}", deep)+`}}`)

	chain := `{"type": "object", "properties": {"x": {"$ref": "#/definitions/T` + fmt.Sprint(many) + `"}}, "definitions": {"T0": {"type": "string"}` + manyOf(many, `, "T#": {"$ref": "`+"\x00"+`/definitions/T^"}`) + `}}`
	wide := `{"type": "object", "properties": {` + list(manyOf(many, `"a#": {"type": "string"},`)) + `}, "required": [` + list(manyOf(many, `"a#",`)) + `]}`
	for name, s := range map[string]string{"references": chain, "fields": wide} {
		out["sirenspec: "+name] = heavySource{"workflow.yaml", map[string]string{"workflow.yaml": "version: \"0.1\"\nagents:\n  r:\n    model: \"openai:gpt-4o-mini\"\n    system: \"x\"\n    guardrails:\n      - name: schema\n        config:\n          schema: " +
			s + "\nnodes:\n  report: {agent: r, writes: output.report}\n"}}
		out["openexpertise: "+name] = heavySource{"experience.yaml", map[string]string{"experience.yaml": "name: x\nversion: 0.1.0\nstate: { schema: { score: { type: number } } }\ngraph:\n  nodes:\n    - { id: good, kind: agent, prompt: good.md, schema: ./schema.json, writes: [score] }\n  edges: []\n", "schema.json": s, "good.md": "hi"}}
	}
	out["openexpertise: state"] = heavySource{"experience.yaml", map[string]string{"experience.yaml": "name: x\nversion: 0.1.0\nstate: { schema: {" + list(manyOf(many, "a#: {type: number},")) + "} }\ngraph:\n  nodes:\n    - { id: good, kind: agent, prompt: good.md, writes: [a1] }\n  edges: []\n", "good.md": "hi"}}
	out["openexpertise: placeholders"] = heavySource{"experience.yaml", map[string]string{"experience.yaml": "name: x\nversion: 0.1.0\nstate: { schema: { score: { type: number } } }\ngraph:\n  nodes:\n    - { id: good, kind: agent, prompt: good.md, writes: [score] }\n  edges: []\n", "good.md": strings.Repeat("{{ state.a }} ", many)}}
	out["yamlgraph: state"] = heavySource{"graph.yaml", map[string]string{"graph.yaml": "name: x\nstate: {" + list(manyOf(many, "a#: str,")) + "}\nnodes:\n  n: {type: passthrough, output: {a1: x}}\nedges:\n  - {from: START, to: n}\n  - {from: n, to: END}\n"}}
	class := func(name, text string) {
		out["stargraph: "+name] = heavySource{"graph.yaml", map[string]string{"graph.yaml": "ir_version: \"1.0.0\"\nid: \"graph:t\"\nstate_class: \"s:T\"\nnodes:\n  - {id: done, kind: halt}\nrules: []\n", "s.py": "from pydantic import BaseModel\n\n\n" + text}}
	}
	class("recursive", "class T(BaseModel):\n  a: 'T'\n  b: list['T'] = []\n")
	class("double", "class T0(BaseModel):\n  a: int\n"+manyOf(double, "class T#(BaseModel):\n  a: T^\n  b: T^\n")+fmt.Sprintf("class T(BaseModel):\n  x: T%d\n", double))
	class("fields", "class T(BaseModel):\n"+manyOf(many, "  a#: int = 1\n"))
	out["stargraph: state"] = heavySource{"graph.yaml", map[string]string{"graph.yaml": "ir_version: \"1.0.0\"\nid: \"graph:t\"\nstate_schema: {" + list(manyOf(many, "a#: int,")) + "}\nnodes:\n  - {id: done, kind: halt}\nrules: []\n"}}
	for _, s := range out {
		for name, text := range s.files {
			if name != "t.wasm" {
				s.files[name] = strings.ReplaceAll(text, "\x00", "#")
			}
		}
	}
	return out
}

// moduleOf is the WebAssembly module of a golden.
func moduleOf(t *testing.T) string {
	archive, err := txtar.ParseFile(goldens + "/wasm.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if text, ok := strings.CutPrefix(string(f.Data), ";"); ok && f.Name == "tools/echo.wasm.hex" {
			_, text, _ = strings.Cut(text, "\n")
			if code, err := hexbytes.DecodeString(strings.ReplaceAll(text, "\n", "")); err == nil {
				return string(code)
			}
		}
	}
	t.Fatal("the module is gone")
	return ""
}

// TestHeavySources: no source of a tool, schema or class keeps the compiler busy, makes it swell or ends it.
func TestHeavySources(t *testing.T) {
	slowUnderRace(t)
	all := heavySources(t)
	for _, name := range sortedKeys(all) {
		dir, files := t.TempDir(), memory{}
		for rel, text := range all[name].files {
			files[filepath.Join(dir, rel)] = text
			if err := os.WriteFile(filepath.Join(dir, rel), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		main, sink := filepath.Join(dir, all[name].main), &diag.Sink{}
		took, peak := cost(func() {
			python := bind.Python(bind.Options{})
			defer python.Close()
			wf := parser.ParseAs(files, main, parser.Options{Python: python}, sink)
			if wf == nil {
				return
			}
			bind.Resolve(wf, bind.Options{Dir: dir}, sink)
			if p := check.Check(wf, sink); p != nil && !sink.HasErrors() {
				if _, err := codegen.Generate(p, codegen.Options{Package: "p"}); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			if err := diag.Text(new(counter), sink.List(), diag.TextOptions{}); err != nil {
				t.Error(err)
			}
		})
		t.Logf("%-32s %8v %6.1f MiB, %d errors: %s", name, took.Round(time.Millisecond), float64(peak)/(1<<20), sink.Errors(), first(sink))
		if took > slow(time.Second) || peak > 512<<20 {
			t.Errorf("%s takes %v and %d MiB", name, took, peak>>20)
		}
		for _, d := range sink.List() {
			if d.Severity == diag.Error && d.Span.IsZero() {
				t.Errorf("%s: %q has no place", name, d.Message)
			}
		}
	}
}
