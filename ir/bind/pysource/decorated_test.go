package pysource_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/bind/pysource"
	"github.com/flowgen-dev/flowgen/ir/source"
)

const declared = `
from stargraph.tools import tool
import stargraph.tools
V = "2"
W: str = '3'

@tool(name="a", namespace="n", version=V)
def f(x: int, *, y: str = "(", **rest) -> dict: ...

@stargraph.tools.tool(
    namespace='n',  # ) "
    name='b', description="""no ) end " """,
    version=W,
)
@other
# a comment

async def g(): ...

@tool
def plain(): ...

@tool(name="c", namespace="n", version="1")
class C: ...

@tool(name=NAME, namespace="n", version="1")
def unknown(): ...

class D:
    @tool(name="inner", namespace="n", version="1")
    def inner(self): ...
`

// reader reads the files of a project for the graph graphs/deep/graph.yaml in it.
func reader(t *testing.T, files map[string]string) (*pysource.Reader, *source.File) {
	t.Helper()
	dir := t.TempDir()
	overlay := map[string][]byte{}
	for name, text := range files {
		overlay[filepath.Join(dir, filepath.FromSlash(name))] = []byte(text)
	}
	home := filepath.Join(dir, "graphs", "deep")
	r := pysource.NewReader(pysource.Options{Files: &foreign.Files{Overlay: overlay}, Folder: func(*source.File) foreign.Folder { return foreign.Folder{Disk: home, Typed: "graphs/deep"} }})
	t.Cleanup(r.Close)
	return r, source.NewFile("graphs/deep/graph.yaml", "")
}

// TestTools finds decorated functions wherever a project has them, each in the module that it is imported from.
func TestTools(t *testing.T) {
	needPython(t)
	tool := func(name string) string {
		return "from stargraph.tools import tool\n@tool(name=\"" + name + "\", namespace=\"p\", version=\"1\")\ndef run(): ...\n"
	}
	r, from := reader(t, map[string]string{
		"pyproject.toml": "", "graphs/deep/near.py": declared, "graphs/deep/shadow.py": tool("twice"), "shadow.py": tool("twice"),
		"pkg/__init__.py": "", "pkg/inner/__init__.py": "", "pkg/inner/tools.py": "from .data import X\n" + tool("packaged"), "pkg/inner/data.py": "X = 1",
		"src/app/__init__.py": "", "src/app/tools.py": "from app import data\n" + tool("below_src"), "my-tools/search.py": tool("dashed"), "broken.py": "@tool(\n",
		"tests/fake.py": tool("fake"), "test_it.py": tool("fake"), "node_modules/x.py": tool("fake"), ".hidden/x.py": tool("fake"),
	})
	list, why := r.Tools(from, engine)
	var got []string
	for _, x := range list {
		b := x.Binding.(*ir.PythonTool)
		var files []string
		for _, f := range x.Def.Files {
			files = append(files, f.Name)
		}
		got = append(got, strings.Join([]string{x.FullName(), b.Ref.Name, x.In.String(), x.Def.Root, strings.Join(files, " ")}, "|"))
	}
	slices.Sort(got)
	want := []string{
		"n.a@2|near:f|{x: int, y: string}||near.py",
		"n.b@3|near:g|{}||near.py",
		"p.below_src@1|app.tools:run|{}|../../src|app/__init__.py app/tools.py",
		"p.dashed@1|search:run|{}|../../my-tools|search.py",
		"p.packaged@1|pkg.inner.tools:run|{}|../..|pkg/__init__.py pkg/inner/__init__.py pkg/inner/data.py pkg/inner/tools.py",
		"p.twice@1|shadow:run|{}|../..|shadow.py",
		"p.twice@1|shadow:run|{}||shadow.py",
	}
	if diff := cmp.Diff(want, got); diff != "" || why != "" {
		t.Error(why, diff)
	}
	if again, _ := r.Tools(from, engine); len(again) != len(list) {
		t.Error("the second answer is another one")
	}
}

// TestToolsNarrowed holds parameters to the JSON Schema that a decorator has.
func TestToolsNarrowed(t *testing.T) {
	needPython(t)
	r, from := reader(t, map[string]string{"graphs/deep/near.py": "from stargraph.tools import tool\n" +
		"@tool(name='find', namespace='p', version='1', input_schema={'type': 'object', 'required': ['q'], 'properties': {'q': {'type': 'string', 'minLength': 2, 'pattern': '^[a-z]+$'}," +
		" 'k': {'type': 'integer', 'minimum': 1, 'maximum': 9}, 'mode': {'enum': ['fast', 'slow']}, 'odd': {'pattern': '(?=a)'}, 'list': {'maxItems': 2}, 'more': other}})\n" +
		"def find(q, mode: str | None, list: list[str], odd: str, k: int = 3, more=None): ...\n"})
	list, why := r.Tools(from, engine)
	if len(list) != 1 || why != "" {
		t.Fatal(list, why)
	}
	var got []string
	for _, f := range list[0].In.Fields {
		text := f.Name + ": " + f.Type.String()
		if f.Min != nil {
			text += fmt.Sprint(" >=", *f.Min)
		}
		if f.Max != nil {
			text += fmt.Sprint(" <=", *f.Max)
		}
		got = append(got, text+" "+f.Pattern)
	}
	want := []string{"q: string >=2 ^[a-z]+$", "mode: opt<enum<fast|slow>> ", "list: list<string> <=2 ", "odd: string ", "k: int >=1 <=9 ", "more: opt<any> "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestToolsAround finds those of a package that the graph is in, without anything that says where the project is.
func TestToolsAround(t *testing.T) {
	needPython(t)
	r, from := reader(t, map[string]string{"graphs/__init__.py": "", "graphs/deep/__init__.py": "", "graphs/deep/tools.py": "from graphs.deep.data import X\n" + declared, "graphs/deep/data.py": "X = 1"})
	list, _ := r.Tools(from, engine)
	if len(list) != 2 || list[0].Binding.(*ir.PythonTool).Ref.Name != "graphs.deep.tools:f" || list[0].Def.Root != "../.." {
		t.Error(list)
	}
}

// TestToolsUnread says why there are none.
func TestToolsUnread(t *testing.T) {
	t.Setenv("FLOWGEN_PYTHON", "no-such-python")
	r, from := reader(t, map[string]string{"graphs/deep/tools.py": declared})
	if list, why := r.Tools(from, engine); len(list) != 0 || why == "" {
		t.Error(list, why)
	}
}

// TestClassAbsent tells a class whose module is nowhere from one that is missing in a module or a package that is there.
func TestClassAbsent(t *testing.T) {
	needPython(t)
	r, from := reader(t, map[string]string{"pkg/__init__.py": "", "pkg/nodes.py": "class A: ...", "flat.py": ""})
	for ref, want := range map[string]bool{"nowhere.nodes:A": true, "nowhere:A": true, "pkg.nodes:A": false, "pkg.nodes:B": false, "pkg.other:A": false, "flat:A": false, "flat.deeper:A": false, "A": false} {
		c, why, absent := r.Class(from, ir.Ident{Name: ref, Span: source.Span{File: from}})
		if absent != want || (c == nil) != (why != "") || ref == "pkg.nodes:A" && c == nil {
			t.Errorf("%s: %v %q %v", ref, c, why, absent)
		}
	}
}

// engine is the Python package of an engine, which has stand-ins.
var engine = &ir.PythonModules{Package: "stargraph"}
