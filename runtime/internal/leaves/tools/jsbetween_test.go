//go:build linux && (amd64 || arm64)

package tools_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/jstool"
	"github.com/flowgen-dev/flowgen/runtime/jstool/embedded"
	"github.com/flowgen-dev/flowgen/runtime/sandbox"
)

// leaver returns the places that calls of JavaScript tools could share in which it finds a mark, and leaves one in each.
// The names of places outside of the interpreter begin with "os": without a sandbox they are shared.
const leaver = `
const places = {
  global: [() => globalThis.mark, () => { globalThis.mark = 1 }],
  prototype: [() => ({}).mark, () => { Object.defineProperty(Object.prototype, "mark", { value: 1, configurable: true }) }],
  method: [() => Array.prototype.map.mark, () => { Array.prototype.map.mark = 1 }],
  symbol: [() => globalThis[Symbol.for("mark")], () => { globalThis[Symbol.for("mark")] = 1 }],
  template: [() => tag.mark, () => { tag.mark = 1 }],
  error: [() => Error.mark, () => { Error.mark = 1; Error.prepareStackTrace = (e, s) => { (globalThis.seen ??= []).push(e); return String(e) } }],
};
function tag() {}
const node = typeof process === "object" && typeof require === "function";
if (node) {
  const fs = require("fs"), os = require("os"), path = require("path"), cp = require("child_process"), vm = require("vm");
  const at = (dir) => path.join(dir, "flowgen-mark-" + MARK);
  const file = (dir) => [() => fs.existsSync(at(dir())), () => fs.writeFileSync(at(dir()), "1")];
  const others = () => fs.readdirSync("/proc").filter((p) => p > 0 && p != process.pid && p != process.ppid);
  const some = (f) => () => others().some((p) => { try { return f(p) } catch { return false } });
  Object.assign(places, {
    environment: [() => process.env["MARK_" + MARK], () => { process.env["MARK_" + MARK] = "1" }],
    cache: [() => require.cache.mark, () => { require.cache.mark = {} }],
    builtin: [() => fs.mark, () => { fs.mark = 1 }],
    primordial: [() => vm.runInThisContext("this.marked"), () => { vm.runInThisContext("this.marked = 1") }],
    listener: [() => process.listenerCount("mark"), () => { process.on("mark", () => 0) }],
    title: [() => process.title === "mark", () => { process.title = "mark" }],
    folder: [() => process.cwd().endsWith("mark"), () => { fs.mkdirSync("mark"); process.chdir("mark") }],
    umask: [() => process.umask() === 0o123, () => { process.umask(0o123) }],
    shared: [() => globalThis.cells?.[0], () => { globalThis.cells = new Int32Array(new SharedArrayBuffer(4)); cells[0] = 1 }],
    descriptor: [() => { for (let i = 5; i < 64; i++) try { if (fs.readlinkSync("/proc/self/fd/" + i).includes("mark")) return true } catch {} return false },
      () => { fs.openSync(at(process.cwd()) + "-open", "w") }],
    "os temp": file(os.tmpdir),
    "os home": file(os.homedir),
    "os here": file(() => process.cwd()),
    "os process": [some((p) => fs.readFileSync("/proc/" + p + "/cmdline", "latin1").includes("mark-" + MARK)),
      () => { if (!cp.spawn("sleep", ["600"], { argv0: "mark-" + MARK, detached: true, stdio: "ignore" }).pid) throw 0 }],
    "os signal": [some((p) => process.kill(p, 0)), () => 0],
    "os environ": [some((p) => fs.readFileSync("/proc/" + p + "/environ").length), () => 0],
    "os memory": [some((p) => fs.closeSync(fs.openSync("/proc/" + p + "/mem", "r")) ?? true), () => 0],
    "os inspector": [() => require("inspector").url(), () => { require("inspector").open(0, "127.0.0.1"); if (!require("inspector").url()) throw 0 }],
  });
}
export default () => {
  const found = Object.keys(places).filter((name) => { try { return places[name][0]() } catch { return false } });
  for (const name in places) try { places[name][1]() } catch {}
  return found;
}
`

// TestJavaScriptSharesNothing calls two modules, one module with other secrets, and one for another tenant: none finds
// what another has left, while a second call of the same finds what the first has.
func TestJavaScriptSharesNothing(t *testing.T) {
	code := func(mark string) string { return "const MARK = " + `"` + mark + `";` + leaver }
	type bind func(name, code string, o ...flow.ToolOption) *flow.Tool[none, []string]
	node := func(name, code string, o ...flow.ToolOption) *flow.Tool[none, []string] {
		return jstool.Bind[none, []string](name, flow.Reads, jstool.Module{Name: name + ".mjs", Code: code}, o...)
	}
	for _, tt := range []struct {
		name   string
		bind   bind
		o      []flow.ToolOption
		system bool // places outside of the interpreter are apart, too
		own    int  // marks that a call finds of one before it, at least
	}{
		{"node", node, nil, false, 20},
		{"node/process", node, []flow.ToolOption{sandbox.Process()}, true, 16},
		{"embedded", func(name, code string, o ...flow.ToolOption) *flow.Tool[none, []string] {
			return embedded.Bind[none, []string](name, flow.Reads, embedded.Module{Name: name + ".mjs", Code: code}, o...)
		}, nil, true, 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name != "embedded" {
				interpreter(t, "node")
			}
			t.Chdir(t.TempDir()) // Node without a sandbox makes files where it is
			t.Setenv("TMPDIR", t.TempDir())
			t.Setenv("HOME", t.TempDir())
			mark := strings.ReplaceAll(t.Name(), "/", "_")
			with := func(names ...string) []flow.ToolOption {
				return append(tt.o[:len(tt.o):len(tt.o)], flow.Secrets(names...))
			}
			one := tt.bind("one@1", code(mark), tt.o...)
			two := tt.bind("two@1", code(mark), tt.o...)
			keyed := tt.bind("one@1", code(mark), with("KEY")...)
			more := tt.bind("one@1", code(mark), with("KEY", "OTHER")...)
			r := start(t, secretsOf("token1"))
			look := func(who string, r *flow.Run, tool *flow.Tool[none, []string]) {
				t.Helper()
				found := call(t, r, tool)
				if !tt.system {
					found = slices.DeleteFunc(found, func(way string) bool { return strings.HasPrefix(way, "os ") })
				}
				if len(found) > 0 {
					t.Errorf("%s finds %q of others", who, found)
				}
			}
			look("the first", r, one)
			own := call(t, r, one)
			t.Logf("shared by calls of one module: %q", own)
			if len(own) < tt.own {
				t.Errorf("of its own marks it finds %q only: does it look?", own)
			}
			look("another module", r, two)
			look("the module with a secret", r, keyed)
			look("the module with two secrets", r, more)
			look("the module with another secret", start(t, secretsOf("token2")), keyed)
			look("the module for another tenant", start(t, secretsOf("token1"), runtime.WithTenant("other")), keyed)
			look("the module for another tenant without secrets", start(t, runtime.WithTenant("other")), one)
		})
	}
}
