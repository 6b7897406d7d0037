package pyclass

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const script = `
import asyncio, json, types
flowgen = types.ModuleType("flowgen")
flowgen.context = lambda: types.SimpleNamespace(call_id="call")
sys.modules["flowgen"] = flowgen
app = types.ModuleType("app")
exec('''
from enum import Enum
from typing import Annotated, Optional
from pydantic import BaseModel, ConfigDict, Field, field_validator
from stargraph import tools
from stargraph.ir import Mirror
from stargraph.nodes.base import ExecutionContext, NodeBase

class Level(str, Enum):
    LOW = "low"

class Note(BaseModel):
    text: str

class State(BaseModel):
    model_config = ConfigDict(extra="forbid")
    notes: list[Note] = Field(default_factory=list)
    level: Annotated[Level, Mirror()] = Level.LOW
    by: Optional[Note] = None

    @field_validator("notes")
    @classmethod
    def check(cls, v):
        return v

@tools.tool(name="count", namespace="app", version="1", side_effects=tools.SideEffects.none, requires_capability="tools:count")
def count(notes):
    return len(notes)

class Add(NodeBase):
    def __init__(self, text="x"):
        self.text = text

    async def execute(self, state: State, ctx: ExecutionContext):
        return {"notes": [*state.notes, Note(text=self.text + state.level.value)], "run": ctx.run_id, "n": count(state.notes), "needs": count.spec.permissions}
''', app.__dict__)
sys.modules["app"] = app
import flowgen_stargraph
out = asyncio.run(flowgen_stargraph.execute("app:Add", "app:State", ["notes", "level", "run", "n", "needs"], {"notes": [{"text": "a"}], "level": "low", "by": None}, {"text": "y "}))
print(json.dumps(out, default=lambda v: v.model_dump()))
`

// modules writes the stand-ins to a folder and returns it with an interpreter, which is to have nothing installed.
func modules(t *testing.T) (python, dir string) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	dir = t.TempDir()
	if err := os.CopyFS(dir, Modules); err != nil {
		t.Fatal(err)
	}
	return python, dir
}

// run is what a program of Python prints that has the stand-ins.
func run(t *testing.T, program string) string {
	t.Helper()
	python, dir := modules(t)
	out, err := exec.Command(python, "-I", "-S", "-c", "import sys\nsys.path.insert(0, sys.argv[1])\n"+program, dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestStandIns runs a node, a tool and a state with an interpreter that has nothing installed.
func TestStandIns(t *testing.T) {
	want := `{"notes": [{"text": "a"}, {"text": "y low"}], "level": "low", "run": "call", "n": 1, "needs": ["tools:count"]}`
	if diff := cmp.Diff(want, run(t, script)); diff != "" {
		t.Error(diff)
	}
}

// TestImports holds imports to what the packages have: those that nodes, tools and states make are there, all others are an
// error that says so.
func TestImports(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"from stargraph import tool", ""},
		{"from stargraph.tools import ReplayPolicy, SideEffects, ToolSpec, tool", ""},
		{"from stargraph.tools.spec import ReplayPolicy, SideEffects", ""},
		{"from stargraph.tools.decorator import tool", ""},
		{"import stargraph.tools as st; st.tool, st.SideEffects.read", ""},
		{"from stargraph import errors, tools, ir; errors.StoreError, tools.tool, ir.Mirror", ""},
		{"from stargraph.nodes import EchoNode, ExecutionContext, NodeBase", ""},
		{"from stargraph.nodes.base import ExecutionContext, NodeBase", ""},
		{"from stargraph.ir import Lifecycle, Mirror, ToolSpec", ""},
		{"from stargraph.ir._mirror import Mirror", ""},
		{"from stargraph.errors import CapabilityError, ReplayError, StargraphError, StargraphRuntimeError, ArtifactNotFound", ""},
		{"from stargraph.security.capabilities import Capabilities, CapabilityClaim", ""},
		{"from stargraph.plugin import hookimpl", ""},
		{"from pydantic import BaseModel, ConfigDict, Field, PositiveInt, PrivateAttr, ValidationError, computed_field, field_serializer, field_validator, model_validator", ""},
		{"from stargraph import Graph", "no `Graph` of `stargraph`: install stargraph for the Python that runs this"},
		{"from stargraph.nodes import DSPyNode", "no `DSPyNode` of `stargraph.nodes`: install"},
		{"from stargraph.graph import Graph", "no module `stargraph.graph`: install"},
		{"import stargraph.serve.api", "no module `stargraph.serve`: install"},
		{"import stargraph; stargraph.ir.Mirror", ""},
		{"from stargraph.tools import *; tool, SideEffects", ""},
		{"from pydantic import TypeAdapter", "no `TypeAdapter`: install pydantic for the Python that runs this"},
		{"import pydantic.fields", "no module `pydantic.fields`: install"},
	} {
		got := run(t, "try:\n    "+tt.line+"\nexcept (ImportError, AttributeError) as e:\n    print(e)\n")
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.line, got, tt.want)
		}
	}
}

// TestBehaves holds the stand-ins to what the packages do.
func TestBehaves(t *testing.T) {
	got := run(t, `
from typing import Annotated, Optional
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_serializer, field_validator, model_validator
from stargraph.errors import CapabilityError, StargraphError, StargraphRuntimeError
from stargraph.nodes.base import ExecutionContext, NodeBase
from stargraph.security.capabilities import Capabilities, CapabilityClaim
from stargraph.tools import ReplayPolicy, SideEffects, tool
import types

@tool(name="a", namespace="n", version="1", side_effects=SideEffects.write)
def a():
    """First line.

    More."""
print(a.spec.description, a.spec.replay_policy, a.spec.permissions, str(SideEffects.read), SideEffects.read == "read")
try:
    tool(name="a", version="1")
except TypeError as e:
    print("TypeError")
try:
    raise CapabilityError("no", hint="ask", tool="x")
except StargraphRuntimeError as e:
    print(e, e.context, isinstance(e, StargraphError))
class Half(NodeBase):
    pass
try:
    Half()
except TypeError:
    print("abstract")
print(isinstance(types.SimpleNamespace(run_id="x"), ExecutionContext))
gate = Capabilities(granted={CapabilityClaim(name="tools"), CapabilityClaim(name="fs", scope="/a/*")})
print([gate.has_permission(p) for p in ("tools:x", "tools", "fs:/a/b", "fs:/c", "fs", "net")])
print([Capabilities(default_deny=True, granted=gate.granted).has_permission(p) for p in ("tools:x", "fs:/a/b")])

class Base(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str = ""

class State(Base):
    tags: Annotated[list[str], Field(default_factory=list)]
    low: int = 0
    high: Annotated[int, Field(ge=0)] = 10
    secret: str = Field("x", alias="hidden")

    @field_validator("name", mode="before")
    @classmethod
    def text(cls, v):
        return str(v)

    @field_validator("name")
    def strip(cls, v, info):
        return v.strip() + info.field_name

    @model_validator(mode="before")
    @classmethod
    def old(cls, data):
        return {("low" if k == "least" else k): v for k, v in data.items()}

    @model_validator(mode="after")
    def order(self):
        if self.low > self.high:
            raise ValueError("low is above high")
        return self

    @field_serializer("high")
    def words(self, v):
        return "%d!" % v

print(State(name=" 5 ", least=3, hidden="y").model_dump())
for bad in ({"low": 11}, {"more": 1}):
    try:
        State(**bad)
    except ValidationError as e:
        print(e)
class Frozen(BaseModel, frozen=True):
    n: int
try:
    Frozen(n=1).n = 2
except ValidationError as e:
    print(e, len({Frozen(n=1), Frozen(n=1)}))
try:
    Frozen()
except ValidationError as e:
    print(e)
print(State.model_construct(low=99).low)
`)
	want := `First line. must-stub [] read True
TypeError
no
hint: ask {'hint': 'ask', 'tool': 'x'} True
abstract
True
[True, True, True, False, False, False]
[False, True]
{'name': '5name', 'tags': [], 'low': 3, 'high': '10!', 'secret': 'y'}
State: low is above high
State: extra inputs are not permitted: more
Frozen is frozen 1
Frozen: n required
99`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
