package jssource_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/bind/jssource"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
)

type oneFile struct{ text string }

func (f oneFile) ReadFile(string) ([]byte, error) { return []byte(f.text), nil }

// one binds the tool t of a workflow file to sources. Files go to disk when their folder is given, else into an overlay.
func one(t *testing.T, dir string, files map[string]string, keys string) (*ir.Tool, string) {
	t.Helper()
	text := "flowgen: 1\nname: demo\ntools:\n  t: " + keys + "\nnodes:\n  a: {let: {n: 1}}\n"
	sink := &diag.Sink{}
	wf := parser.Parse(oneFile{text}, "demo.flowgen.yaml", sink)
	if wf == nil || sink.HasErrors() {
		t.Fatalf("%s: %v", text, sink.List())
	}
	overlay := map[string][]byte{}
	home := dir
	if dir == "" {
		home = filepath.Join(t.TempDir(), "not", "there")
	}
	for name, text := range files {
		full := filepath.Join(home, filepath.FromSlash(name))
		if dir == "" {
			overlay[full] = []byte(text)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	jssource.Resolve(wf.Tools, jssource.Options{
		Files:  &foreign.Files{Overlay: overlay},
		Folder: func(*source.File) foreign.Folder { return foreign.Folder{Disk: home, Typed: "."} },
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

const declarations = `
import type { Far, Kind as K } from "./types";
/** A place. */
interface Point<T = number> { readonly x: number; y?: number, label: string; }
interface Named extends Point { name: string /* last wins */ ; label: "a" | "b"
  note: string | null
}
type Maybe = Point | undefined;
type Both = { a: number } & { b: string };
type Tree = { value: string; children: Tree[] };
type Mapped = { [K in "a" | "b"]: number };
type Cond<T> = T extends string ? number : boolean;
enum Color { Red = "red", Blue = "blue" }
const enum Level { Low, High }
const re = /export default {/, half = 1 / 2 / 3, text = ` + "`${ {a: `}`} } export default`" + `;
`

func TestTypes(t *testing.T) {
	tests := []struct{ typ, want string }{
		{"string", "string"}, {"number", "float"}, {"boolean", "bool"}, {"null", "any"}, {"any", "any"}, {"unknown", "any"}, {"Nowhere", "any"}, {"ns.Thing<string>", "any"},
		{`"a" | 'b'`, "enum<a|b>"}, {`| "a" | "b" | null`, "opt<enum<a|b>>"}, {`"a" | string`, "string"}, {"1 | 2", "float"}, {"true | false", "bool"}, {"`x${string}`", "string"},
		{"string | number", "any"}, {"number[]", "list<float>"}, {"readonly string[][]", "list<list<string>>"}, {"Array<{a: string}>", "list<{a: string}>"}, {"(string | null)[]", "list<opt<string>>"},
		{"[number, number]", "list<float>"}, {"[x: string, y?: number]", "list<any>"}, {"[...string[]]", "list<list<string>>"}, {"Set<string>", "list<string>"},
		{"Record<string, number>", "map<float>"}, {"{ [key: string]: boolean }", "map<bool>"}, {"Record<'a'|'b', Point>", "map<{x: float, y: opt<float>, label: string}>"},
		{"Point", "{x: float, y: opt<float>, label: string}"}, {"Point<string>[]", "list<{x: float, y: opt<float>, label: string}>"},
		{"Named", "{x: float, y: opt<float>, label: enum<a|b>, name: string, note: opt<string>}"},
		{"Both", "{a: float, b: string}"}, {"Tree", "{value: string, children: list<any>}"}, {"Mapped", "any"}, {"Cond<string>", "any"},
		{"Color", "enum<red|blue>"}, {"Level", "float"}, {"Far", "{k: enum<one|two>}"}, {"K", "enum<one|two>"},
		{"Partial<Both>", "{a: opt<float>, b: opt<string>}"}, {"Required<Point>", "{x: float, y: float, label: string}"}, {`Pick<Point, "x">`, "{x: float}"}, {`Omit<Point, "x" | "y">`, "{label: string}"},
		{"Readonly<Both>", "{a: float, b: string}"}, {"NonNullable<string | null>", "string"}, {"Date", "time"}, {"object", "map<any>"}, {"{}", "{}"}, {"keyof Point", "string"}, {"typeof text", "any"},
		{`{ "a-b": string; 'c': number, 3: string, m(): void; get: string }`, "{a-b: string, c: float, 3: string, get: string}"}, {"{ (x: number): string }", "any"},
		{strings.Repeat("(", 500) + "string" + strings.Repeat(")", 500), "any"},
	}
	for _, tt := range tests {
		files := map[string]string{
			"tool.ts":        declarations + "export default async function tool(args: { v: " + tt.typ + " }): Promise<{ v: " + tt.typ + " }> { return args }\n",
			"types.ts":       "export * from './deep/index.js'\nexport { Kind } from './deep';\n",
			"deep/index.ts":  "export type Kind = 'one' | 'two'; export interface Far { k: Kind }\n",
			"unused/else.ts": "",
		}
		tool, said := one(t, "", files, `{js: ./tool.ts}`)
		if said != "" {
			t.Errorf("%s: %s", tt.typ, said)
			continue
		}
		if in, out := tool.In.String(), tool.Out.String(); in != "{v: "+tt.want+"}" || out != in {
			t.Errorf("%s: %s -> %s, want %s", tt.typ, in, out, tt.want)
		}
	}
}

func TestFunctions(t *testing.T) {
	tests := []struct{ code, want string }{
		{"export default function (a: {n: number}): string { return '' }", "{n: float} -> string"},
		{"export default (a: {n?: number}) => a.n", "{n: opt<float>} -> any"},
		{"export default async <T,>({ n }: { n: T }): Promise<void> => {}", "{n: any} -> any"},
		{"export default () => 1", "{} -> any"},
		{"const f = function (a: {s: string}, b = 2, ...rest: string[]) {}; export default f;", "{s: string} -> any"},
		{"const f = async (a: {s: string}): Promise<number[]> => []\nexport { f as default }", "{s: string} -> list<float>"},
		{"type In = {s: string}\nfunction f(a: In): void\nfunction f(a: {s: string, t?: string}): void {}\nexport default f", "{s: string, t: opt<string>} -> any"},
		{"export { default } from './other'", "{far: bool} -> any"},
		{"import o from './other'; export default o", "{far: bool} -> any"},
		{"function f({ a, b = 1, 'c': d, ...rest }) {}\nexport default f", "{a: any, b: opt<any>, c: any} -> any open"},
		{"/** Doubles.\n * @param {{n: number, s?: string}} args what\n * @returns {Promise<{n: number}>}\n */\nexport default async function double(args) {}", "{n: float, s: opt<string>} -> {n: float} Doubles."},
		{"/** First line.\n\n more */\nexport default (a: {/** the n */ n: string}) => a", "{n: string} -> any First line."},
		{"export default (a: {n: string} = {n: ''}) => a", "{n: string} -> any"},
		{"export default function f(this: void, a: {n: string}) {}", "{n: string} -> any"},
		{"export default (a: Record<string, unknown>) => a", "{} -> any open"},
	}
	for _, tt := range tests {
		tool, said := one(t, "", map[string]string{"tool.ts": tt.code, "other.ts": "export default (a: {far: boolean}) => a"}, `{js: ./tool.ts}`)
		if said != "" {
			t.Errorf("%s: %s", tt.code, said)
			continue
		}
		got := tool.In.String() + " -> " + tool.Out.String()
		if tool.Def.Open {
			got += " open"
		}
		if tool.Description != "" {
			got += " " + tool.Description
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.code, got, tt.want)
		}
	}
}

func TestWrong(t *testing.T) {
	tests := []struct{ code, keys, want string }{
		{"export function double(a: {n: number}) {}", "", `FG0614 "./tool.ts": ./tool.ts has no default export; it exports double (write ` + "`export default function` in it) [tool.ts:1 double]\n"},
		{"export const x = 1", "", `FG0614 "./tool.ts": ./tool.ts has no default export; it exports x (write ` + "`export default function` in it) [tool.ts:1 x]\n"},
		{"let x = 1", "", `FG0614 "./tool.ts": ./tool.ts has no default export (write ` + "`export default function` in it)\n"},
		{"export default class {}", "", `FG0615 "./tool.ts": the default export of ./tool.ts cannot be a tool: it is a class (export a function that takes one object) [tool.ts:1 class]` + "\n"},
		{"export default { a: 1 }", "", `FG0615 "./tool.ts": the default export of ./tool.ts cannot be a tool: it is not a function (export a function that takes one object) [tool.ts:1 {]` + "\n"},
		{"const f = 3\nexport default f", "", `FG0615 "./tool.ts": the default export of ./tool.ts cannot be a tool: it is not a function (export a function that takes one object) [tool.ts:1 f]` + "\n"},
		{"export default function* f() {}", "", `FG0615 "./tool.ts": the default export of ./tool.ts cannot be a tool: it is a generator (export a function that takes one object) [tool.ts:1 function]` + "\n"},
		{"export default (a: string) => a", "", `FG0615 "./tool.ts": the default export of ./tool.ts cannot be a tool: it takes a string, and tools are called with one object (export a function that takes one object) [tool.ts:1 (]` + "\n"},
		{"export default function f(a: {n: number}, b: string) {}", "", `FG0615 "./tool.ts": the default export of ./tool.ts cannot be a tool: its parameter ` + "`b` would be undefined: tools are called with one object (export a function that takes one object) [tool.ts:1 f]\n"},
		{"export default (args) => args", "", `FG0617 "./tool.ts": the input of ./tool.ts is unknown (declare its input, as in ` + "`in: {text: string}`, or write the types in the source) [tool.ts:1 (]\n"},
		{"import x from './nowhere'\nexport default () => x", "", `FG0613 "./tool.ts": ./tool.ts cannot be read: could not resolve "./nowhere" () [tool.ts:1 './nowhere']` + "\n"},
		{"export default function (", "", `FG0613 "./tool.ts": ./tool.ts cannot be read: expected identifier but found end of file () [tool.ts:1 ]` + "\n"},
		{"import fs from 'node:fs'\nexport default (a: {}) => fs", ", engine: embedded", `FG0619 "./tool.ts": ./tool.ts imports node:fs, which only Node has (leave out ` + "`engine: embedded`, or the import)\n"},
		{"export default (a: {n: number}) => a", ", in: {m: int}", `FG0616 "m": ./tool.ts takes no input ` + "`m` (replace with `n`) [tool.ts:1 n]\n"},
	}
	for _, tt := range tests {
		if _, got := one(t, "", map[string]string{"tool.ts": tt.code}, `{js: ./tool.ts`+tt.keys+`}`); got != tt.want {
			t.Errorf("%s\n%s", tt.code, cmp.Diff(tt.want, got))
		}
	}
	for _, tt := range []struct{ path, want string }{
		{"./tol.ts", `FG0612 "./tol.ts": ./tol.ts cannot be read: no such file (replace with ` + "`./tool.ts`)\n"},
		{"../tool.ts", `FG0612 "../tool.ts": ../tool.ts cannot be read: it is outside the folder of the workflow ()` + "\n"},
	} {
		if _, got := one(t, "", map[string]string{"tool.ts": "export default () => 1"}, `{js: `+tt.path+`}`); got != tt.want {
			t.Errorf("%s\n%s", tt.path, cmp.Diff(tt.want, got))
		}
	}
}

// TestBundle: everything that is imported is in the bundle, which is the same wherever the sources are.
func TestBundle(t *testing.T) {
	files := map[string]string{
		"tools/double.ts":                "import { twice } from '../lib/twice.js'\nimport left from 'left'\nimport { readFileSync } from 'fs'\nexport default (a: {n: number}) => ({ n: twice(a.n), l: left(a), f: readFileSync })\n",
		"lib/twice.ts":                   "export const twice = (n: number): number => n * 2\nexport const unused = 1\n",
		"node_modules/left/package.json": `{"name": "left", "main": "main.js"}`,
		"node_modules/left/main.js":      "const os = require('os'); module.exports = (x) => [x, os.EOL]\n",
	}
	var codes []string
	for range 2 {
		tool, said := one(t, t.TempDir(), files, "{js: ./tools/double.ts}")
		if said != "" {
			t.Fatal(said)
		}
		codes = append(codes, tool.Binding.(*ir.JSTool).Bundle)
	}
	if codes[0] != codes[1] {
		t.Error(cmp.Diff(codes[0], codes[1]))
	}
	for _, part := range []string{"n * 2", "module.exports = ", `from "fs"`, "createRequire", "as default"} {
		if !strings.Contains(codes[0], part) {
			t.Errorf("the bundle has no %s:\n%s", part, codes[0])
		}
	}
	if strings.Contains(codes[0], os.TempDir()) {
		t.Errorf("the bundle names a folder of this machine:\n%s", codes[0])
	}
}
