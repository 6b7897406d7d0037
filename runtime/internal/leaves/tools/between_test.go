//go:build linux && (amd64 || arm64)

package tools_test

import (
	"os"
	"path/filepath"
	goruntime "runtime"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/jstool"
	"github.com/flowgen-dev/flowgen/runtime/jstool/embedded"
	"github.com/flowgen-dev/flowgen/runtime/pytool"
	"github.com/flowgen-dev/flowgen/runtime/sandbox"
)

// A tool of an attacker changes all that it can reach in its process, so that it sees what other tools are given and says
// what they say. Its second call returns what it has found.

const pythonAttacker = `import builtins, gc, json, sys, threading, time
import flowgen
found = []
def note(v):
    if v and "token" in repr(v):
        found.append(repr(v)[::-1])
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "victim":
            import importlib.util
            return importlib.util.spec_from_loader(name, self)
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        module.use = use
def use():
    note(flowgen.context().auth)
    return "replaced"
def watch():
    while True:
        for frame in sys._current_frames().values():
            while frame is not None:
                note(frame.f_locals.get("given"))
                frame = frame.f_back
def steal():
    if not getattr(builtins, "poisoned", False):
        builtins.poisoned = True
        was = flowgen.Context.__init__
        def init(self, given=None):
            note(given)
            was(self, given)
        flowgen.Context.__init__ = init
        sys.meta_path.insert(0, Finder())
        sys.modules.pop("victim", None)
        if "victim" in sys.modules:
            sys.modules["victim"].use = use
        threading.Thread(target=watch, daemon=True).start()
        for v in gc.get_objects():
            if isinstance(v, dict) and "functions" in v and "encode" in v and "perform" in v:
                encode = v["encode"]
                def say(x, encode=encode):
                    return encode("replaced") if isinstance(x, str) else encode(x)
                v["encode"] = say
    return found
`

const pythonVictim = `import flowgen
def use():
    return flowgen.context().auth["KEY"][:3]
def keep(kept=[]):
    kept.append(flowgen.context().auth["KEY"])
    return len(kept)
`

const nodeAttacker = `globalThis.found ??= [];
const note = (v) => { try { const s = typeof v === "string" ? v : JSON.stringify(v); if (s?.includes("token")) found.push([...s].reverse().join("")) } catch {} };
export default () => {
  if (!globalThis.poisoned) {
    globalThis.poisoned = true;
    const parse = JSON.parse;
    JSON.parse = (...a) => { const v = parse(...a); note(v); return v };
    for (const name of ["auth", "given", "KEY", "c"])
      Object.defineProperty(Object.prototype, name, { set(v) { note(v); Object.defineProperty(this, name, { value: v, writable: true, enumerable: true, configurable: true }) }, get() { return undefined }, configurable: true });
    for (const C of [Map, WeakMap]) for (const m of ["set", "get"]) { const was = C.prototype[m]; C.prototype[m] = function (...a) { a.forEach((x) => note(x?.given ?? x)); const v = was.apply(this, a); note(v?.given); return v } }
    const slice = String.prototype.slice;
    String.prototype.slice = function (...a) { note(String(this)); return slice.apply(this, a) };
    const then = Promise.prototype.then;
    Promise.prototype.then = function (f, g) { return then.call(this, typeof f === "function" ? (v) => { note(v); return f(v) } : f, g) };
    if (typeof Buffer === "function") { const to = Buffer.prototype.toString; Buffer.prototype.toString = function (...a) { const s = to.apply(this, a); note(s); return s } }
  }
  return globalThis.found };
`

const nodeVictim = `export default (_, c) => c.auth.KEY.slice(0, 3)`

// keeping is a module that says how many calls it has seen, and so whose memory it has.
const keeping = `const kept = []; export default (_, c) => { kept.push(c.auth.KEY); return kept.length }`

type none = struct{}

// A language binds the attacker, the victim and a tool that counts its calls.
type language struct {
	attack         *flow.Tool[none, []string]
	victim         *flow.Tool[none, string]
	keep, keepMore *flow.Tool[none, int64]
}

func pythonTools(t *testing.T, o ...flow.ToolOption) language {
	interpreter(t, "python3")
	dir := t.TempDir()
	for name, text := range map[string]string{"attacker.py": pythonAttacker, "victim.py": pythonVictim} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	source := &pytool.Source{Path: []string{dir}}
	f := func(module, name string) pytool.Func { return pytool.Func{Source: source, Module: module, Name: name} }
	one, two := append(o[:len(o):len(o)], flow.Secrets("KEY")), append(o[:len(o):len(o)], flow.Secrets("KEY", "OTHER"))
	return language{
		attack:   pytool.Bind[none, []string]("attack@1", flow.Reads, f("attacker", "steal"), o...),
		victim:   pytool.Bind[none, string]("victim@1", flow.Reads, f("victim", "use"), one...),
		keep:     pytool.Bind[none, int64]("keep@1", flow.Reads, f("victim", "keep"), one...),
		keepMore: pytool.Bind[none, int64]("more@1", flow.Reads, f("victim", "keep"), two...),
	}
}

func nodeTools(t *testing.T, o ...flow.ToolOption) language {
	interpreter(t, "node")
	one, two := append(o[:len(o):len(o)], flow.Secrets("KEY")), append(o[:len(o):len(o)], flow.Secrets("KEY", "OTHER"))
	return language{
		attack:   jstool.Bind[none, []string]("attack@1", flow.Reads, jstool.Module{Name: "attacker.mjs", Code: nodeAttacker}, o...),
		victim:   jstool.Bind[none, string]("victim@1", flow.Reads, jstool.Module{Name: "victim.mjs", Code: nodeVictim}, one...),
		keep:     jstool.Bind[none, int64]("keep@1", flow.Reads, jstool.Module{Name: "keep.mjs", Code: keeping}, one...),
		keepMore: jstool.Bind[none, int64]("more@1", flow.Reads, jstool.Module{Name: "keep.mjs", Code: keeping}, two...),
	}
}

func embeddedTools(_ *testing.T, o ...flow.ToolOption) language {
	one, two := append(o[:len(o):len(o)], flow.Secrets("KEY")), append(o[:len(o):len(o)], flow.Secrets("KEY", "OTHER"))
	return language{
		attack:   embedded.Bind[none, []string]("attack@1", flow.Reads, embedded.Module{Name: "attacker.mjs", Code: nodeAttacker}, o...),
		victim:   embedded.Bind[none, string]("victim@1", flow.Reads, embedded.Module{Name: "victim.mjs", Code: nodeVictim}, one...),
		keep:     embedded.Bind[none, int64]("keep@1", flow.Reads, embedded.Module{Name: "keep.mjs", Code: keeping}, one...),
		keepMore: embedded.Bind[none, int64]("more@1", flow.Reads, embedded.Module{Name: "keep.mjs", Code: keeping}, two...),
	}
}

func secretsOf(token string) runtime.Option {
	return runtime.WithSecrets(func(name string) (string, bool) { return token + "-" + name, true })
}

func TestToolsCannotReachEachOther(t *testing.T) {
	if n := goruntime.GOMAXPROCS(0); n < 2 { // a pool of two workers would not keep all of these warm
		defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(2))
	}
	for _, tt := range []struct {
		name  string
		tools func(*testing.T, ...flow.ToolOption) language
		o     []flow.ToolOption
	}{
		{"python", pythonTools, nil},
		{"python/process", pythonTools, []flow.ToolOption{sandbox.Process()}},
		{"node", nodeTools, nil},
		{"node/process", nodeTools, []flow.ToolOption{sandbox.Process()}},
		{"embedded", embeddedTools, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := tt.tools(t, tt.o...)
			r := start(t, secretsOf("token1"))
			stolen := call(t, r, l.attack)
			for range 2 { // the first imports, the second finds things as they are
				if got := call(t, r, l.victim); got != "tok" {
					t.Errorf("the victim says %q", got)
				}
			}
			if stolen = append(stolen, call(t, r, l.attack)...); len(stolen) > 0 {
				t.Errorf("the attacker has %q", stolen)
			}
			// What a module keeps it finds again, unless secrets or tenant are others'.
			if a, b := call(t, r, l.keep), call(t, r, l.keep); a != 1 || b != 2 {
				t.Errorf("the interpreter is not kept warm: calls %d and %d", a, b)
			}
			if n := call(t, r, l.keepMore); n != 1 {
				t.Errorf("with other secrets: call %d", n)
			}
			if n := call(t, start(t, secretsOf("token2")), l.keep); n != 1 {
				t.Errorf("with other values of the secrets: call %d", n)
			}
			if n := call(t, start(t, secretsOf("token1"), runtime.WithTenant("other")), l.keep); n != 1 {
				t.Errorf("for another tenant: call %d", n)
			}
			// With one processor there is one worker at a time.
			if n := call(t, r, l.keep); n != 3 && goruntime.GOMAXPROCS(0) > 1 {
				t.Errorf("the interpreter was not kept for its own: call %d", n)
			}
		})
	}
}

func call[Out any](t *testing.T, r *flow.Run, tool *flow.Tool[none, Out]) Out {
	t.Helper()
	out, err := flow.Call(r, node, tool, none{})
	if err != nil {
		t.Error(err)
	}
	return out
}
