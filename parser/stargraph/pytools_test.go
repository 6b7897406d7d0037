package stargraph

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir/source"
)

func TestDeclared(t *testing.T) {
	const py = `
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

    @tool(name="inner", namespace="n", version="1")
    def inner(self): ...

@tool(name="open", namespace="n", version="1"
def open(): ...
`
	var got []string
	for _, d := range declared(source.NewFile("a.py", py)) {
		got = append(got, d.key+" "+d.name+" "+inputOf(d.params).String())
	}
	if diff := cmp.Diff([]string{"n.a@2 f {x: int, y: string}", "n.b@3 g {}"}, got); diff != "" {
		t.Error(diff)
	}
	if got := declared(source.NewFile("a.py", strings.Repeat("@tool(\n", 20_000))); got != nil {
		t.Error(got)
	}
}
