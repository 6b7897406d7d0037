package pyclass

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const script = `
import asyncio, json, sys, types
sys.path.insert(0, sys.argv[1])
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

// TestStandIns runs a node, a tool and a state with an interpreter that has nothing installed.
func TestStandIns(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	dir := t.TempDir()
	err = fs.WalkDir(Modules, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(Modules, name)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name), text, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(python, "-I", "-S", "-c", script, dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := `{"notes": [{"text": "a"}, {"text": "y low"}], "level": "low", "run": "call", "n": 1, "needs": ["tools:count"]}`
	if diff := cmp.Diff(want, strings.TrimSpace(string(out))); diff != "" {
		t.Error(diff)
	}
}
