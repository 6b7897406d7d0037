package startool

import (
	"context"
	"errors"
	"math"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.starlark.net/starlark"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func newRun(t testing.TB, o ...runtime.Option) *flow.Run {
	t.Helper()
	rt, err := flow.New(&flow.Info{Name: "test"}, o...)
	if err != nil {
		t.Fatal(err)
	}
	return rt.Start(t.Context())
}

var node = &flow.Node{ID: "n", Pos: "f.yaml:1:1"}

func TestBind(t *testing.T) {
	type in struct {
		Raw  string   `json:"raw"`
		N    int64    `json:"n"`
		Tags []string `json:"tags,omitempty"`
	}
	type out struct {
		Lines int64    `json:"lines"`
		N     float64  `json:"n"`
		Tags  []string `json:"tags"`
	}
	const source = `
def count(raw, n, tags=["none"]):
    return {"lines": raw.count("\n"), "n": n + 0.5, "tags": [t.upper() for t in tags]}
`
	r := newRun(t)
	tool := Bind[in, out]("count@1", flow.None, "tools/tidy.star", source, "count")
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			got, err := flow.Call(r, node, tool, in{"a\nb\n", 1, nil})
			if diff := cmp.Diff(out{2, 1.5, []string{"NONE"}}, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	wg.Wait()
	if _, err := flow.Call(r, node, Bind[in, struct{}]("count@1", flow.None, "f.star", source, "count"), in{}); err != nil {
		t.Error(err)
	}
	wrong := Bind[in, string]("count@1", flow.None, "f.star", source, "count")
	_, err := flow.Call(r, node, wrong, in{})
	wantTool(t, err, value.ValidationError, "result of f.star:count: a string expected, an object given")
}

func wantTool(t *testing.T, err error, code value.Code, part string) *value.ToolError {
	t.Helper()
	var te *value.ToolError
	if !errors.As(err, &te) || te.Code != code || !strings.Contains(te.Message, part) {
		t.Fatalf("got %v, want %s: ...%s...", err, code, part)
	}
	return te
}

func eval(t *testing.T, source, args string) (string, error) {
	t.Helper()
	p := &program{file: "f.star", source: source, function: "f"}
	b, err := p.call(t.Context(), []byte(args), DefaultMaxOutput)
	return string(b), err
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		source, args string
		code         value.Code
		part         string
	}{
		{"def f(:", "{}", value.SandboxError, "f.star:1:8: got ':', want ')'"},
		{"def f(): return x", "{}", value.SandboxError, "f.star:1:17: undefined: x"},
		{"def g(): pass", "{}", value.SandboxError, "f.star has no function f"},
		{"f = 1", "{}", value.SandboxError, "f.star has no function f"},
		{`load("x.star", "y")`, "{}", value.SandboxError, "f.star:1:1: load is not possible"},
		{"x = 1 // 0\ndef f(): pass", "{}", value.SandboxError, "f.star:1:7: floored division by zero"},
		{"def f():\n  while True: pass", "{}", value.SandboxError, "f.star:2:3: this Starlark dialect does not support while loops"},
		{"def f(n):\n  return f(n - 1)", `{"n": 3}`, value.Unknown, "f.star:2:10: function f called recursively"},
		{"def f(n):\n  return 1 + n", `{"n": "a"}`, value.Unknown, "f.star:2:12: unknown binary op: int + string"},
		{"def f(n):\n  return n.nothing()", `{"n": "a"}`, value.Unknown, "string has no .nothing field or method"},
		{"def f(n):\n  fail('no', n)", `{"n": 1}`, value.Unknown, "f.star:2:7: fail: no 1"},
		{"def f(n): pass", `{"m": 1}`, value.ValidationError, `unexpected keyword argument "m"`},
		{"def f(n): pass", `{}`, value.ValidationError, "missing 1 argument (n)"},
		{"def f(): return f", `{}`, value.ValidationError, "a function has no JSON"},
		{"def f(): return {1: 2}", `{}`, value.ValidationError, "a key that is a int, not a string"},
		{"def f(): return float('nan')", `{}`, value.ValidationError, "no JSON"},
		{"def f(): return 1 << 100", `{}`, value.ValidationError, "out of range"},
		{"def f():\n  l = []\n  l.append(l)\n  return l", `{}`, value.ValidationError, "nested more than 1000 deep"},
		{"def f(): return 'x' * (3 << 20)", `{}`, value.PolicyDenied, "larger than the 2097152 bytes"},
	} {
		_, err := eval(t, tt.source, tt.args)
		var te *value.ToolError
		if !errors.As(err, &te) || te.Code != tt.code || !strings.Contains(te.Message, tt.part) {
			t.Errorf("%q: got %v, want %s: ...%s...", tt.source, err, tt.code, tt.part)
		}
	}
}

// What the guards rewrite means what it meant before: every program gives the same with and without them.
func TestSameAsPlainStarlark(t *testing.T) {
	for _, body := range []string{
		`return [1 + 2, 1 - 2, 3 * 4, 7 / 2, 7 // 2, 7 % 3, 5 & 3, 5 | 3, 5 ^ 3, 1 << 5, 99 >> 2, -7 // 2, 1.5 * 2]`,
		`return ["a" + "b", "a" * 3, 3 * "a", "%s-%d" % ("x", 3), "%(k)s" % {"k": 1}, "a" in "cat", "x" not in "cat"]`,
		`return [[1] + [2], [1] * 2, (1, 2) + (3,), (1,) * 2, 1 in [1], 2 not in [1], "k" in {"k": 1}, 1 in (2, 3)]`,
		`return [1 == 1.0, 1 != 2, "a" < "b", [1] <= [1, 2], (1,) > (0,), 2 >= 2, None == None, [1] == (1,)]`,
		`return [{"a": 1} | {"b": 2}, sorted(set([1, 2]) & set([2])), sorted(set([1]) | set([3])), len(set([1, 2]) - set([1]))]`,
		`s = "hello"; l = [1, 2, 3, 4, 5]
    return [s[1:3], s[:2], s[-2:], s[::2], s[::-1], l[1:], l[::-1], l[4:0:-2], l[10:], l[3:1], s[100:], (1, 2, 3)[1:], l[-100:100]]`,
		`x = 1; x += 2; x *= 5; x -= 1; x //= 2; x %= 4; x |= 8; x &= 12; x ^= 1; x <<= 2; x >>= 1
    return x`,
		`a = [1]; b = a; a += [2]; a += (3,)
    return [a, b]`,
		`d = {"n": 1, "l": []}; d["n"] += 1; d["l"] += [1]; l = [1, 2]; l[-1] *= 7; m = d; m |= {"z": 1}
    return [d, l]`,
		`t = (1, 2); t += (3,)
    a, b = 1, 2
    a, b = b, a
    [c, (e, g)] = [1, (2, 3)]
    return [t, a, b, c, e, g]`,
		`return [x * y for x in range(3) for y in (1, 2) if x != y] + [k + v for k, v in {"a": "b"}.items()]`,
		`return {k: [v] for k, v in zip(["a", "b"], [1, 2])}`,
		`g = lambda *a, **k: [a, k]
    h = lambda x, y=1 + 1: x + y
    return [g(1, 2, z=3), h(1), h(*[1, 5]), h(**{"x": 7})]`,
		`def inner(a, *rest, b=2 * 3, **more):
        return [a, rest, b, more]
    return [inner(1), inner(1, 2, 3, b=4, c=5), inner(*[1, 2], **{"b": 3})]`,
		`return ["a,b".split(","), " a  b ".split(), "a-b".replace("-", "+"), "-".join(["x", "y"]), "{} {x}".format(1, x=2), "ab".upper(), "a\nb".splitlines()]`,
		`f = "a-b".replace; g = getattr("xy", "upper")
    return [f("-", "+"), g(), getattr("x", "nothing", 5), hasattr([], "append"), list("ab".elems()), list("é".codepoints())]`,
		`l = [3, 1, 2]; l.append(4); l.extend([5]); l.insert(0, 9); l.remove(1); p = l.pop()
    return [l, p, l.index(2), sorted(l, reverse=True), sorted(l, key=lambda x: -x), max(l), min(1, 2), list(reversed(l)), list(enumerate(l))]`,
		`d = {"a": 1}; d.update([("b", 2)]); d.setdefault("c", []).append(3); p = d.pop("a")
    return [d, p, d.get("x"), d.get("x", 7), d.keys(), d.values(), d.items(), dict([("a", 1)], b=2)]`,
		`return [str([1, "a"]), repr("a"), int("12"), int("ff", 16), float("1.5"), bool([]), type(()), len("abc"), any([0, 1]), all([]), hash("a"), ord("a"), chr(98)]`,
		`r = []
    for i, (a, b) in enumerate([(1, 2), (3, 4)]):
        if i == 0 and a < b or not b:
            continue
        elif i: r.append((a if a > b else b, i))
        else: pass
    return r`,
		`return 10 * 1000000000000000000000 // 10000000000000000000000`,
		`return [1 + "a"]`, `return [] < 1`, `return {[]: 1}`, `return "a" - "b"`, `return 1 in 2`, `return 1 not in 2`, `return [1][5]`, `return {}["x"]`,
		`return "abc"[::0]`, `return (1)[1:]`, `return [1]["a":]`, `x = (1,); x[0] += 1`, `d = {}; d["a"] += 1`, `l = []; l[3] += 1`, `x = 5; x[0] += 1`, `return -"a"`,
	} {
		source := "def f():\n    " + body + "\n"
		plain, plainErr := plainStarlark(source)
		got, err := eval(t, source, "{}")
		if plainErr == nil {
			if err != nil || got != plain {
				t.Errorf("%s\n got %s, %v\nwant %s", body, got, err, plain)
			}
			continue
		}
		var te *value.ToolError
		if !errors.As(err, &te) || !strings.HasSuffix(te.Message, strings.ReplaceAll(plainErr.Error(), "\n", " ")) {
			t.Errorf("%s\n got error %v\nwant %v", body, err, plainErr)
		}
	}
}

func plainStarlark(source string) (string, error) {
	th := &starlark.Thread{}
	globals, err := starlark.ExecFileOptions(dialect, th, "f.star", source, nil)
	if err != nil {
		return "", err
	}
	v, err := starlark.Call(th, globals["f"], nil, nil)
	if err != nil {
		return "", err
	}
	b, err := encode(nil, v, DefaultMaxOutput)
	return string(b), err
}

// Ways to make much of little. Each must end soon, in little memory, as POLICY_DENIED.
func TestBounds(t *testing.T) {
	maxSteps = MaxSteps / 10
	defer func() { maxSteps = MaxSteps }()
	loop := func(body string) string {
		return "def f():\n    s = 'x' * 100\n    l = [1, 2]\n    t = (1, 2)\n    d = {'a': 1}\n    n = 3\n    for i in range(1000000000):\n        " + body + "\n"
	}
	for _, body := range []string{
		"pass", "s = s + s", "s += s", "s = s * 2", "s *= 2", "s = s.replace('x', s)", "s = s.join([s, s])", "s = '{0}{0}'.format(s)",
		"s = '%s%s' % (s, s)", "s = '%(a)s%(a)s' % {'a': s}", "s = str([s, s])", "s = repr((s, s))", "s = (s + s)[:]",
		"l = l + l", "l += l", "l = l * 2", "l.extend(l)", "l = [l, l]", "l = list(l) + sorted(l)", "l = [x for x in l + l]",
		"l.append(l + [1])", "l = l[:] + l[:]", "l[0] = l + l; l = l[0]", "d['a'] = [d['a'], d['a']]; str(d)", "d = {'a': d, 'b': d}; d == dict(d)",
		"t = (t, t)", "t = t + t", "t += (t,)", "t = t * 2", "t = tuple([t, t]); {t: 1}", "t = zip([t], [t])[0]; d[t] = 1",
		"d = {t: t}; t = d.items()[0]", "t = (lambda *a: a)(t, t)", "n = n * n", "n *= n", "n = int('9' * n)", "n = n * 3 * n; str(n)",
		"l = [l] * 10; l == [l] * 10", "l = [l, l]; l in [l]", "l = [l, l]; max([l], [l])", "list(range(1 << 31))", "max(range(1 << 31))",
		"set(range(1 << 31))", "'x' * (1 << 31)", "[0] * (1 << 31)", "s.split('x'); s += s", "l = list(s.elems()); s += s", "s = s.upper() + s.lower()",
		"s.elems(); s += s", "g = s.replace; s = g('x', s)", "s = getattr(s, 'join')([s, s, s])", "print(s, s); s += s", "[fail, s.count][1](s); s += s",
		"l.append(s + str(i))", "d[s + str(i)] = s + 'y'", "d.update([(str(i), s * 50)])", "l = [l]; t = (l,); t == t",
	} {
		goruntime.GC()
		var before, after goruntime.MemStats
		goruntime.ReadMemStats(&before)
		begin := time.Now()
		_, err := eval(t, loop(body), "{}")
		took := time.Since(begin)
		goruntime.ReadMemStats(&after)
		var te *value.ToolError
		if !errors.As(err, &te) || te.Code != value.PolicyDenied && !strings.Contains(te.Message, "comparison exceeded maximum recursion depth") {
			t.Errorf("%s: %v", body, err)
		}
		if took > 20*time.Second {
			t.Errorf("%s: took %v", body, took)
		}
		if grown := int64(after.Sys) - int64(before.Sys); grown > 1<<30 {
			t.Errorf("%s: %d MiB", body, grown>>20)
		}
	}
}

// Ordinary work stays possible.
func TestOrdinaryWork(t *testing.T) {
	got, err := eval(t, `
def f(n):
    words = {}
    text = ""
    for i in range(n):
        w = "w%d" % (i % 97)
        words[w] = words.get(w, 0) + 1
        text += w[:1]
    rows = sorted([(k, v) for k, v in words.items()], key=lambda r: (-r[1], r[0]))
    return [len(rows), rows[0], len(text)]
`, `{"n": 15000}`)
	if want := `[97,["w0",155],15000]`; got != want || err != nil {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestDeadline(t *testing.T) {
	maxSteps = math.MaxUint64 // however fast the machine is
	defer func() { maxSteps = MaxSteps }()
	p := &program{file: "f.star", source: "def f():\n    for i in range(1000000000): pass", function: "f"}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := p.call(ctx, []byte("{}"), DefaultMaxOutput)
	wantTool(t, err, value.Timeout, "f.star:f did not finish in time and was stopped")
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err := p.call(ctx, []byte("{}"), DefaultMaxOutput); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

func TestValues(t *testing.T) {
	const in = `{"v":[null,true,-3,1.0,2.5e+300,"é\n\"",{"a":{"b":[]}},9223372036854775807]}`
	got, err := eval(t, "def f(v): return {'v': v}", in)
	if got != in || err != nil {
		t.Errorf("got  %s, %v\nwant %s", got, err, in)
	}
}

func BenchmarkCall(b *testing.B) {
	type in struct {
		Raw string `json:"raw"`
		N   int64  `json:"n"`
	}
	type out struct {
		Lines int64 `json:"lines"`
		N     int64 `json:"n"`
	}
	tool := Bind[in, out]("count@1", flow.None, "f.star", "def f(raw, n): return {'lines': raw.count('\\n'), 'n': n + 1}", "f")
	r := newRun(b)
	text := strings.Repeat("+ line of diff text\n", 5)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := flow.Call(r, node, tool, in{text, 1}); err != nil {
			b.Fatal(err)
		}
	}
}
