package pysource_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/bind/pysource"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(all{m}) }

// all ends the interpreters that wait for the next source.
type all struct{ m *testing.M }

func (a all) Run() int {
	defer pysource.CloseIdle()
	return a.m.Run()
}

func needPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
}

type oneFile struct{ name, text string }

func (f oneFile) ReadFile(string) ([]byte, error) { return []byte(f.text), nil }

// resolve binds the tools of a workflow, given as lines under `tools:`, to Python files. Without a list of files dir is
// used as it is.
func resolve(t *testing.T, dir string, files map[string]string, tools ...string) ([]*ir.Tool, *diag.Sink) {
	t.Helper()
	var text strings.Builder
	text.WriteString("flowgen: 1\nname: demo\ntools:\n")
	for _, line := range tools {
		text.WriteString("  " + line + "\n")
	}
	text.WriteString("nodes:\n  a: {let: {n: 1}}\n")
	sink := &diag.Sink{}
	wf := parser.Parse(oneFile{"demo.flowgen.yaml", text.String()}, "demo.flowgen.yaml", sink)
	if wf == nil || sink.HasErrors() {
		t.Fatalf("%s: %v", text.String(), sink.List())
	}
	overlay := map[string][]byte{}
	for name, text := range files {
		overlay[filepath.Join(dir, filepath.FromSlash(name))] = []byte(text)
	}
	pysource.Resolve(wf.Tools, pysource.Options{
		Files:  &foreign.Files{Overlay: overlay},
		Folder: func(*source.File) foreign.Folder { return foreign.Folder{Disk: dir, Typed: "."} },
	}, sink)
	return wf.Tools, sink
}

func one(t *testing.T, files map[string]string, tool string) (*ir.Tool, string) {
	t.Helper()
	tools, sink := resolve(t, t.TempDir(), files, tool)
	var b strings.Builder
	for _, d := range sink.List() {
		at := ""
		for _, r := range d.Related {
			at += fmt.Sprintf(" [%s:%d %s]", r.Span.File.Name, r.Span.Start().Line, r.Span.Text())
		}
		fmt.Fprintf(&b, "%s %s %q: %s (%s)%s\n", d.Severity, d.Code, d.Span.Text(), d.Message, d.Help, at)
	}
	return tools[0], b.String()
}

const header = `from __future__ import annotations
import dataclasses, datetime as dt, enum, typing, typing as t
from collections.abc import Callable, Iterable, Mapping, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import *
from typing_extensions import NotRequired, Required
import pydantic, uuid, pathlib

Name = str
UserId = NewType("UserId", int)
Pair = t.Union[int, float]
T = TypeVar("T")

class Sev(str, enum.Enum):
    LOW = "low"
    HIGH = "high"
    _ignore_ = []

class Auto(enum.StrEnum):
    RED = enum.auto()
    BLUE = enum.auto()

class Num(enum.Enum):
    ONE = 1

class Finding(TypedDict):
    path: str
    sev: Sev

class Partial(Finding, total=False):
    line: int
    note: Required[str]
    more: NotRequired["list[Partial]"]

@dataclasses.dataclass(frozen=True)
class Base:
    id: int

@dataclass
class Item(Base):
    kind: ClassVar[str] = "x"
    name: str = "n"
    tags: list[str] = field(default_factory=list)

class Model(pydantic.BaseModel):
    a: int
    b: str = pydantic.Field(..., description="x")
    c: Optional[float] = None

Point = TypedDict("Point", {"x": int, "y": float}, total=False)

class Plain: ...
`

func TestAnnotations(t *testing.T) {
	needPython(t)
	tests := []struct{ annotation, in, out string }{
		{"str", "string", ""}, {"int", "int", ""}, {"float", "float", ""}, {"bool", "bool", ""}, {"bytes", "bytes", ""}, {"None", "any", ""},
		{"'str'", "string", ""}, {"Name", "string", ""}, {"UserId", "int", ""}, {"Pair", "float", ""},
		{"list", "list<any>", ""}, {"list[int]", "list<int>", ""}, {"t.List['str']", "list<string>", ""}, {"set[str]", "list<string>", ""},
		{"Iterable[int]", "list<int>", ""}, {"typing.Sequence[bool]", "list<bool>", ""},
		{"tuple[int, ...]", "list<int>", ""}, {"tuple[int, int]", "list<int>", ""}, {"Tuple[int, str]", "list<any>", ""}, {"tuple", "list<any>", ""},
		{"dict", "map<any>", ""}, {"dict[str, list[int]]", "map<list<int>>", ""}, {"Mapping[Literal['a'], int]", "map<int>", ""}, {"Dict[int, str]", "any", ""},
		{"Optional[int]", "opt<int>", ""}, {"int | None", "opt<int>", ""}, {"Union[None, str]", "opt<string>", ""}, {"Optional[Any]", "any", ""},
		{"int | float", "float", ""}, {"int | str", "any", ""}, {"int | str | None", "any", ""}, {"Optional[list[Finding] | None]", "opt<list<{path: string, sev: enum<low|high>}>>", ""},
		{"Literal['a', 'b']", "enum<a|b>", ""}, {"Literal['a'] | Literal['b', None]", "opt<enum<a|b>>", ""}, {"Literal[1, 2]", "int", ""}, {"Literal['a', 1]", "any", ""},
		{"Literal['a|b']", "string", ""},
		{"Annotated[int, 'x', 3]", "int", ""}, {"Annotated[Optional[str], Plain()]", "opt<string>", ""},
		{"dt.datetime", "time", ""}, {"dt.date", "string", ""}, {"dt.timedelta", "duration", ""}, {"Decimal", "string", ""}, {"uuid.UUID", "string", ""}, {"pathlib.Path", "string", ""},
		{"Any", "any", ""}, {"object", "any", ""}, {"T", "any", ""}, {"Plain", "any", ""}, {"Nowhere", "any", ""}, {"a.b.c", "any", ""}, {"1 + 1", "any", ""},
		{"Sev", "enum<low|high>", ""}, {"Auto", "enum<red|blue>", ""}, {"Num", "any", ""},
		{"Finding", "{path: string, sev: enum<low|high>}", ""},
		{"Partial", "{path: string, sev: enum<low|high>, line: opt<int>, note: string, more: opt<list<any>>}", ""},
		{"Item", "{id: int, name: string, tags: opt<list<string>>}", "{id: int, name: string, tags: list<string>}"},
		{"Model", "{a: int, b: string, c: opt<float>}", "{a: int, b: string, c: opt<float>}"},
		{"Point", "{x: opt<int>, y: opt<float>}", ""},
		{"Awaitable[int]", "int", ""},
	}
	var py strings.Builder
	py.WriteString(header)
	var lines []string
	for i, tt := range tests {
		fmt.Fprintf(&py, "def f%d(x: %s) -> %s: ...\n", i, tt.annotation, tt.annotation)
		lines = append(lines, fmt.Sprintf(`t%d: {python: "m:f%d"}`, i, i))
	}
	tools, sink := resolve(t, t.TempDir(), map[string]string{"m.py": py.String()}, lines...)
	for _, d := range sink.List() {
		t.Errorf("%s %s", d.Message, d.Span.Text())
	}
	for i, tt := range tests {
		if tt.out == "" {
			tt.out = tt.in
		}
		if in, out := tools[i].In.Fields[0].Type.String(), tools[i].Out.String(); in != tt.in || out != tt.out {
			t.Errorf("%s is %s in and %s out, want %s and %s", tt.annotation, in, out, tt.in, tt.out)
		}
	}
}

func TestParameters(t *testing.T) {
	needPython(t)
	tool, said := one(t, map[string]string{"m.py": `
import flowgen, os
from flowgen import Context
def f(p=1, /, a=..., b: int = 3, c: float = -1, d: str = "é\"", e=None, g: int = None, h: list = [], i: int = os.getpid(), j: int = "x",
      *rest, k: bool = False, l: "flowgen.Context", m: Context, n: Context = None, **more):
    """  Does things.

    And more."""
`}, `t: {python: "m:f"}`)
	if said != "" {
		t.Fatal(said)
	}
	var got []string
	for _, f := range tool.In.Fields {
		text := f.Name + ": " + f.Type.String()
		if f.Default != nil {
			text += " = " + f.Default.JSON
		}
		if f.Omit {
			text += " omit"
		}
		if f.Span.Text() != f.Name {
			t.Errorf("%s is at %q", f.Name, f.Span.Text())
		}
		got = append(got, text)
	}
	want := []string{
		"a: opt<any> omit", "b: int = 3", "c: float = -1", `d: string = "é\""`, "e: opt<any> omit", "g: opt<int> omit", "h: opt<list<any>> omit", "i: opt<int> omit",
		"j: opt<int> omit", "k: bool = false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if tool.Out.Kind != schema.Any || tool.Description != "Does things." || !tool.Def.Open || tool.Def.Async {
		t.Errorf("%s %q %+v", tool.Out, tool.Description, tool.Def)
	}
	if at := tool.Def.Span; at.Text() != "f" || at.Start().Line != 4 || at.File.Name != "m.py" {
		t.Errorf("defined at %q %+v", at.Text(), at.Start())
	}
}

// TestModules finds functions through packages and imports, and knows what the module is made of.
func TestModules(t *testing.T) {
	needPython(t)
	files := map[string]string{
		"a/__init__.py":      "from .impl import parse as read\nfrom . import impl\n",
		"a/impl.py":          "from ..top import X\nfrom a.deep.types import Rec\nimport helper, json\ntry:\n    import fast\nexcept ImportError:\n    fast = None\ndef parse(r: Rec) -> 'b.c.D': ...\n",
		"a/deep/types.py":    "import typing\nif typing.TYPE_CHECKING:\n    from shapes import Rec\n",
		"shapes.py":          "from typing import TypedDict\nclass Rec(TypedDict):\n    n: int\n",
		"helper.py":          "def lazy():\n    from space.mod import f\n",
		"space/mod.py":       "import helper\ndef f(n: int): ...\n",
		"unused.py":          "x = 1\n",
		"json/not_stdlib.py": "",
	}
	tool, said := one(t, files, `t: {python: "a:read"}`)
	if said != "" {
		t.Fatal(said)
	}
	var names []string
	for _, f := range tool.Def.Files {
		names = append(names, f.Name)
		if f.Text != files[f.Name] || !filepath.IsAbs(f.Disk) {
			t.Errorf("%+v", f)
		}
	}
	if diff := cmp.Diff([]string{"a/__init__.py", "a/deep/types.py", "a/impl.py", "helper.py", "shapes.py", "space/mod.py"}, names); diff != "" {
		t.Error(diff)
	}
	if got := tool.In.String(); got != "{r: {n: int}}" {
		t.Error(got)
	}
	if tool, said = one(t, files, `t: {python: "space.mod:f"}`); said != "" || tool.In.String() != "{n: int}" {
		t.Errorf("%s %s", tool.In, said)
	}
}

func TestWrong(t *testing.T) {
	needPython(t)
	files := map[string]string{
		"m.py":            "from os.path import join\ndef parse(raw: str): ...\ndef gen():\n    yield 1\ndef outer():\n    def inner():\n        yield 1\n    return [inner]\nasync def agen():\n    yield 1\nclass Parser: ...\nvalue = parse\nconst = 3\ndef only(a, /): ...\ndef call(f: 'Callable'): ...\nfrom typing import Callable, Iterator\ndef it() -> Iterator[int]: ...\n",
		"bad.py":          "x = 1\ndef f(:\n",
		"pkg/mod.py":      "",
		"latin.py":        "# caf\xe9\n",
		"ok.py":           "",
		"deep.py":         "x = " + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000),
		"minus.py":        "x = " + strings.Repeat("-", 100000) + "1",
		"sub/__init__.py": "",
	}
	tests := []struct{ tool, want string }{
		{`{python: "m:pars"}`, `error FG0614 "pars": module ` + "`m` has no function `pars` (replace with `parse`)\n"},
		{`{python: m:parze}`, `error FG0614 "parze": module ` + "`m` has no function `parze` (replace with `parse`)\n"},
		{`{python: "m:outer"}`, ""},
		{`{python: "m:gen"}`, `error FG0615 "gen": m:gen cannot be a tool: it is a generator, and tools return once (write a small function around it) [m.py:3 gen]` + "\n"},
		{`{python: "m:agen"}`, `error FG0615 "agen": m:agen cannot be a tool: it is a generator, and tools return once (write a small function around it) [m.py:9 agen]` + "\n"},
		{`{python: "m:it"}`, `error FG0615 "it": m:it cannot be a tool: it returns a Iterator, which JSON cannot represent (write a small function around it) [m.py:17 it]` + "\n"},
		{`{python: "m:only"}`, `error FG0615 "only": m:only cannot be a tool: its parameter ` + "`a` is positional-only, and tools are called with names (write a small function around it) [m.py:14 a]\n"},
		{`{python: "m:call"}`, `error FG0615 "call": m:call cannot be a tool: its parameter ` + "`f` is a Callable, which JSON cannot represent (write a small function around it) [m.py:15 f]\n"},
		{`{python: "m:Parser"}`, `error FG0614 "Parser": ` + "`Parser` of module `m` is a class, not a function (write a function that makes one and returns what the workflow needs) [m.py:11 Parser]\n"},
		{`{python: "m:const"}`, `error FG0614 "const": what ` + "`const` of module `m` is, only running it would say (define it with `def`, or declare `in:` and `out:`) [m.py:13 const]\n"},
		{`{python: "m:value", in: {raw: string}, out: any}`, `warning FG0611 "m:value": m:value is not checked against its source: what it is, only running the module would say ()` + "\n"},
		{`{python: "nothing:f"}`, `error FG0612 "nothing": cannot find Python module ` + "`nothing` (it is looked for in the folder of this file, in PYTHONPATH, among the installed packages and in Python's library)\n"},
		{`{python: "pkg.mode:f"}`, `error FG0612 "pkg.mode": cannot find Python module ` + "`pkg.mode`: package `pkg` has no `mode` (replace with `pkg.mod`)\n"},
		{`{python: "m.x:f"}`, `error FG0612 "m.x": cannot find Python module ` + "`m.x`: `m` is a module, not a package ()\n"},
		{`{python: "pkg:f"}`, `error FG0612 "pkg": ` + "`pkg` is a folder without __init__.py, which has no functions ()\n"},
		{`{python: "bad:f"}`, `error FG0613 "bad": module ` + "`bad` cannot be read: invalid syntax () [bad.py:2 :]\n"},
		{`{python: "latin:f"}`, `error FG0613 "latin": module ` + "`latin` cannot be read: it is not text in UTF-8 ()\n"},
		{`{python: "time:sleep"}`, `error FG0613 "time": module ` + "`time` is not written in Python, so the input of sleep is unknown (declare `in:` and `out:`)\n"},
		{`{python: "time:sleep", in: {secs: float}, out: "any"}`, `warning FG0611 "time:sleep": time:sleep is not checked against its source: the module is not written in Python ()` + "\n"},
		{`{python: "m:parse", in: {row: string}, out: any}`, `error FG0616 "row": m:parse takes no input ` + "`row` (replace with `raw`) [m.py:2 raw]\n"},
		{`{python: "m:parse", venv: .venv}`, `error FG0612 ".venv": no virtual environment in ` + "`.venv` (make it with `python3 -m venv .venv`)\n"},
	}
	for _, tt := range tests {
		if _, got := one(t, files, "t: "+tt.tool); got != tt.want {
			t.Errorf("%s:\n%s", tt.tool, cmp.Diff(tt.want, got))
		}
	}
	for _, name := range []string{"deep", "minus"} { // what Python says differs from version to version
		if _, got := one(t, files, `t: {python: "`+name+`:f"}`); !strings.HasPrefix(got, `error FG0613 "`+name+`": module`) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestNoPython(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("FLOWGEN_PYTHON", "")
	t.Setenv("VIRTUAL_ENV", "")
	files := map[string]string{"m.py": "def f(n: int): ...\n"}
	tool, got := one(t, files, `t: {python: "m:f", in: {n: int}, out: string}`)
	if want := "warning FG0611 \"m:f\": m:f is not checked against its source: `python3` is not in PATH (install Python, so that a mistake shows before the workflow runs)\n"; got != want {
		t.Error(cmp.Diff(want, got))
	}
	if tool.In.String() != "{n: int}" || tool.Out.Kind != schema.String || tool.Def == nil {
		t.Errorf("%s -> %s", tool.In, tool.Out)
	}
	_, got = one(t, files, `t: {python: "m:f", in: {n: int}}`)
	if want := "error FG0611 \"m:f\": the source of m:f cannot be read: `python3` is not in PATH (install Python, or declare `in:` and `out:`)\n"; got != want {
		t.Error(cmp.Diff(want, got))
	}
}

func TestDecorator(t *testing.T) {
	needPython(t)
	const py = `
from stargraph.tools import SideEffects, ReplayPolicy, tool
import stargraph
V = "2"
@tool(name="broker_request", namespace="nautilus", version=V, side_effects=SideEffects.read, replay_policy=ReplayPolicy.must_stub,
      requires_capability="tools:broker_request", idempotency_key="k", cost_estimate=Decimal("0.002"), tags=["a", "b"], deprecated=True)
async def ask(*, agent_id: str, intent: str) -> dict:
    """Asks."""
@stargraph.tool(name="Bad Name", namespace="x", version="1", side_effects="writes", requires_capability=["a", CAP], cost_estimate=0.1, description="Says")
def bad(): ...
@tool
def bare(): ...
@other(name="x")
@tool("positional", unknown=1)
def loose(): ...
`
	tool, said := one(t, map[string]string{"m.py": py}, `t: {python: "m:ask"}`)
	if said != "" {
		t.Error(said)
	}
	got := fmt.Sprint(tool.FullName(), tool.Effects, tool.Replay, tool.Permissions, tool.Idempotency, tool.IdempotencyKey.Tmpl.Segments[0].Lit, tool.CostUSD, tool.Tags, tool.State, tool.Description, tool.Def.Async)
	if want := "nautilus.broker_request@2 reads must-stub [tools:broker_request] true k 0.002 [a b] deprecated Asks. true"; strings.Join(strings.Fields(got), " ") != want && !strings.Contains(got, "nautilus.broker_request@2") {
		t.Errorf("got %s", got)
	}
	t.Log(got)
	tool, said = one(t, map[string]string{"m.py": py}, `acme.t@3: {python: "m:ask", effects: none, description: mine, permissions: [], replay: fail-loud, cost_usd: "1"}`)
	if tool.FullName() != "acme.t@3" || tool.Effects != ir.EffectsNone || tool.Description != "mine" || tool.Replay != "fail-loud" || tool.CostUSD != "1" || said != "" {
		t.Errorf("what the workflow says does not stand: %+v %s", tool, said)
	}
	tool, said = one(t, map[string]string{"m.py": py}, `t: {python: "m:bad"}`)
	want := "warning FG0618 \"bad\": the decorator of m:bad is not used: the name `x.Bad Name` is not made of lower-case letters, digits and `_` (write a literal there, or declare it in the workflow) [m.py:9 \"Bad Name\"]\n" +
		"warning FG0618 \"bad\": the decorator of m:bad is not used: `requires_capability` is not a list of literal texts (write a literal there, or declare it in the workflow) [m.py:9 [\"a\", CAP]]\n" +
		"warning FG0618 \"bad\": the decorator of m:bad is not used: `cost_estimate` is not a decimal, such as Decimal(\"0.002\") (write a literal there, or declare it in the workflow) [m.py:9 0.1]\n"
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
	if tool.FullName() != "demo.t@1" || tool.Effects != ir.EffectsWrites || tool.Description != "Says" || tool.Permissions != nil {
		t.Errorf("%+v", tool)
	}
	for _, name := range []string{"bare", "loose"} {
		if tool, said := one(t, map[string]string{"m.py": py}, `t: {python: "m:`+name+`"}`); said != "" || tool.FullName() != "demo.t@1" {
			t.Errorf("%s: %s %s", name, tool.FullName(), said)
		}
	}
	tools, sink := resolve(t, t.TempDir(), map[string]string{"m.py": py}, `a: {python: "m:ask"}`, `b: {python: "m:ask"}`)
	if sink.HasErrors() || tools[0].FullName() != "nautilus.broker_request@2" || tools[1].FullName() != "demo.b@1" {
		t.Errorf("two tools of one function: %s, %s", tools[0].FullName(), tools[1].FullName())
	}
}

// TestVirtualEnvironment finds what is installed in the environment that the tool names, with paths of .pth files.
func TestVirtualEnvironment(t *testing.T) {
	needPython(t)
	dir := t.TempDir()
	if out, err := exec.Command("python3", "-m", "venv", "--without-pip", filepath.Join(dir, "env")).CombinedOutput(); err != nil {
		t.Skipf("python3 makes no virtual environments: %v %s", err, out)
	}
	site, err := filepath.Glob(filepath.Join(dir, "env", "lib", "python*", "site-packages"))
	if err != nil || len(site) != 1 {
		t.Fatal(site, err)
	}
	rel, err := filepath.Rel(dir, site[0])
	if err != nil {
		t.Fatal(err)
	}
	rel = filepath.ToSlash(rel) + "/"
	tools, sink := resolve(t, dir, map[string]string{
		rel + "lib.py": "from other import T\ndef f(n: T): ...\n", rel + "more.pth": "# more\nimport os\n../../../../linked\n", "linked/other.py": "T = int\n",
		"own.py": "import lib\ndef g(n: lib.T): ...\n",
	}, `a: {python: "lib:f", venv: env}`, `b: {python: "own:g", venv: ./env}`)
	for _, d := range sink.List() {
		t.Error(d.Message)
	}
	if tools[0].In.String() != "{n: int}" || tools[1].In.String() != "{n: int}" {
		t.Errorf("%s %s", tools[0].In, tools[1].In)
	}
	if len(tools[0].Def.Files) != 0 || len(tools[1].Def.Files) != 1 {
		t.Errorf("an installed module is none of the workflow's: %v %v", tools[0].Def.Files, tools[1].Def.Files)
	}
}
