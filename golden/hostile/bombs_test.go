package hostile

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/internal/cputime"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

func parseYAML(f *source.File) (*yamlnode.Node, []yamlnode.Problem) { return yamlnode.Parse(f) }

const top = "flowgen: 1\nname: bomb\n"

// bombs are files that ask for much more than they are.
func bombs() map[string]string {
	doubling := func(levels, width int, open, close, ref string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "a0: &a0 %sx%s\n", open, close)
		for i := 1; i <= levels; i++ {
			fmt.Fprintf(&b, "a%d: &a%d %s%s%s\n", i, i, open, strings.TrimSuffix(strings.Repeat(fmt.Sprintf(ref, i-1)+", ", width), ", "), close)
		}
		return b.String()
	}
	keyed := func(levels, width int) string {
		var b strings.Builder
		b.WriteString("a0: &a0 {k: x}\n")
		for i := 1; i <= levels; i++ {
			fmt.Fprintf(&b, "a%d: &a%d {", i, i)
			for k := range width {
				fmt.Fprintf(&b, "k%d: *a%d, ", k, i-1)
			}
			b.WriteString("}\n")
		}
		return b.String()
	}
	return map[string]string{
		"billion laughs":         top + doubling(9, 9, "[", "]", "*a%d"),
		"billion laughs in maps": top + keyed(9, 9),
		"two to the hundredth":   top + doubling(100, 2, "[", "]", "*a%d"),
		"wide once":              top + "a: &a [" + strings.Repeat("x, ", 10_000) + "]\nb: [" + strings.Repeat("*a, ", 10_000) + "]\n",
		"long text repeated":     top + "a: &a \"" + strings.Repeat("x", 500_000) + "\"\nb: [" + strings.Repeat("*a, ", 90_000) + "]\n",
		"long text in a tree":    top + "z: &z \"" + strings.Repeat("x", 100_000) + "\"\n" + strings.ReplaceAll(doubling(5, 9, "[", "]", "*a%d"), "[x]", "[*z]"),
		"keys of aliases":        top + "a: &a " + strings.Repeat("k", 1000) + "\nb: {" + strings.Repeat("*a : 1, ", 1000) + "}\n",
		"itself":                 top + "a: &a [*a]\n",
		"itself in a map":        top + "a: &a {b: *a}\n",
		"one another":            top + "a: &a [*b]\nb: &b [*a]\n",
		"itself, deep":           top + "a: &a [[[[[[[[*a]]]]]]]]\n",
		"merge of itself":        top + "a: &a {<<: *a}\n",
		"merges":                 top + "a: &a {x: 1}\nb: {<<: [" + strings.Repeat("*a, ", 1000) + "]}\n",
		"brackets":               top + "a: " + strings.Repeat("[", 100_000),
		"closed brackets":        top + "a: " + strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000),
		"braces":                 top + "a: " + strings.Repeat("{a: ", 100_000),
		"dashes":                 top + "a:\n" + strings.Repeat("- ", 100_000) + "x\n",
		"question marks":         top + strings.Repeat("? ", 100_000) + "x\n",
		"colons":                 top + strings.Repeat("a: ", 100_000) + "\n",
		"indented":               top + staircase(3000),
		"anchors":                top + strings.Repeat("&a ", 100_000) + "x\n",
		"tags":                   top + "a: " + strings.Repeat("!!str ", 100_000) + "x\n",
		"a custom tag":           top + "a: !!python/object/apply:os.system [id]\n",
		"a long tag":             top + "a: !<tag:" + strings.Repeat("x", 100_000) + "> x\n",
		"directives":             "%YAML 1.2\n%TAG ! tag:evil,2000:\n---\n" + top + "a: !x y\n",
		"documents":              top + strings.Repeat("---\na: b\n", 50_000),
		"duplicate keys":         top + strings.Repeat("a: 1\n", 100_000),
		"duplicate keys, long":   top + strings.Repeat(strings.Repeat("k", 5000)+": 1\n", 100),
		"quotes never closed":    top + "a: \"" + strings.Repeat("x\n", 200_000),
		"single quotes":          top + "a: '" + strings.Repeat("''", 200_000),
		"escapes":                top + "a: \"" + strings.Repeat("\\x0", 100_000) + "\"\n",
		"a scalar of indents":    top + "a: |9\n" + strings.Repeat(" ", 500_000) + "x\n\t\n",
		"tabs":                   top + "a:\n" + strings.Repeat("\t", 500_000) + "b: 1\n",
		"keys without colon":     top + strings.Repeat("abc\n", 100_000),
		"flow without end":       top + "a: {" + strings.Repeat("b: [c, ", 40_000),
		"too many nodes":         top + "a: [" + strings.Repeat("x,", 1_000_001) + "]\n",
		"unknown anchors":        top + "a: [" + strings.Repeat("*b, ", 100_000) + "]\n",
		"spaces":                 strings.Repeat(" ", 1<<20),
		"comments only":          strings.Repeat("# x\n", 1<<18),
		"too large":              top + "a: " + strings.Repeat("x", yamlnode.MaxBytes),
		"nulls":                  strings.Repeat("\x00", 1<<20),
	}
}

func staircase(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// cost is what f takes: processor time on a quiet machine, and the memory that is in use at most, which a second goroutine looks at.
func cost(f func()) (took time.Duration, peak uint64) {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // as in flowgen
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	took = cputime.Of(f)
	close(stop)
	<-stopped
	return took, peak - min(peak, before)
}

// TestBombs: each is refused, quickly and in little memory.
func TestBombs(t *testing.T) {
	slowUnderRace(t)
	all := bombs()
	if len(all) < 30 {
		t.Fatalf("%d bombs", len(all))
	}
	for _, name := range sortedKeys(all) {
		sink := &diag.Sink{}
		took, peak := cost(func() {
			if wf := parser.Parse(memory{"x.flowgen.yaml": all[name]}, "x.flowgen.yaml", sink); wf != nil {
				check.Check(wf, sink)
			}
		})
		t.Logf("%-24s %7d bytes %8v %5.1f MiB: %s", name, len(all[name]), took.Round(100*time.Microsecond), float64(peak)/(1<<20), first(sink))
		if !sink.HasErrors() {
			t.Errorf("%s is not refused", name)
		}
		if name == "too many nodes" { // two mebibytes that are no bomb: the limit ends what is only large
			if took > slow(2*time.Second) || peak > 768<<20 {
				t.Errorf("%s takes %v and %d MiB", name, took, peak>>20)
			}
			continue
		}
		if took > slow(100*time.Millisecond) {
			t.Errorf("%s takes %v", name, took)
		}
		limit := uint64(64 << 20)
		if len(all[name]) > 256<<10 { // a tree of so much text is larger, before its mistakes are seen
			limit = 192 << 20
		}
		if peak > limit {
			t.Errorf("%s takes %d MiB", name, peak>>20)
		}
	}
}

func first(sink *diag.Sink) string {
	for _, d := range sink.List() {
		return string(d.Code) + " " + d.Message[:min(len(d.Message), 60)]
	}
	return "nothing"
}

// slow is a limit on a slow machine, whose caches others use as well, or under the race detector. What is not linear passes
// it all the same: files are large enough for a thousand times as much.
func slow(d time.Duration) time.Duration {
	if raceEnabled {
		return 20 * d
	}
	return 8 * d
}

// TestWideMap: duplicate keys are looked for in linear time.
func TestWideMap(t *testing.T) {
	keys := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "key_%d: %d\n", i, i)
		}
		return b.String()
	}
	parse := func(n int) time.Duration {
		f := source.NewFile("x.yaml", keys(n))
		once := func() time.Duration { return cputime.Of(func() { parseYAML(f) }) }
		return min(once(), once(), once())
	}
	took, more := parse(20_000), parse(80_000)
	t.Logf("20,000 keys %v, 80,000 keys %v", took, more)
	if took > slow(50*time.Millisecond) || more > 10*took+50*time.Millisecond { // a square would be 16 times as much
		t.Errorf("20,000 keys take %v, 80,000 %v", took, more)
	}
}

// heavy are files of up to a mebibyte that are all of one thing.
func heavy() map[string]string {
	const size = 900_000
	fill := func(before, piece, after string) string {
		return before + strings.Repeat(piece, (size-len(before)-len(after))/len(piece)) + after
	}
	numbered := func(before, piece, after string) string {
		var b strings.Builder
		b.WriteString(before)
		for i := 0; b.Len() < size-len(after); i++ {
			b.WriteString(strings.ReplaceAll(piece, "#", fmt.Sprint(i)))
		}
		return b.String() + after
	}
	let := func(x string) string { return "nodes: {n: {let: {x: " + x + "}}}\noutput: {x: $n.x}\n" }
	one := top + "input: {n: int, s: string, xs: list<int>}\n"
	return map[string]string{
		"nodes":                   numbered(top+"nodes:\n", "  n#: {let: {x: #}}\n", ""),
		"nodes and edges":         numbered(top+"nodes: {a: {let: {x: 1}}, b: {let: {x: 1}}}\nedges:\n", "  - {from: a, to: b, when: a.x > #}\n", ""),
		"one long edge":           fill(top+"nodes: {a: {let: {x: 1}}, b: {let: {x: 1}}}\nedges:\n  - a", " -> a", "\n"),
		"unknown targets":         numbered(top+"nodes: {a: {let: {x: 1}}}\nedges:\n", "  - a -> node_#\n", ""),
		"unknown names":           numbered(one+"nodes:\n", "  node_#: {let: {x: $nope_#.x}}\n", ""),
		"unknown fields":          numbered(one+"nodes:\n", "  node_#: {let: {x: $input.nope_#}}\n", ""),
		"unknown keys":            numbered(top, "key_#: 1\n", ""),
		"unknown keys of a node":  numbered(top+"nodes:\n  a:\n    let: {x: 1}\n", "    key_#: 1\n", ""),
		"unknown tools":           numbered(top+"tools: {t: {command: [a], effects: none}}\nnodes:\n", "  n#: {tool: tool_#}\n", ""),
		"unknown types":           numbered(top+"input:\n", "  f#: Type#\n", "nodes: {n: {let: {x: 1}}}\n"),
		"cases":                   numbered(one+"nodes: {a: {let: {x: 1}}}\nedges:\n  - {from: a, switch: input.n, cases: {", "#: end, ", "}, default: end}\n"),
		"input":                   numbered(top+"input:\n", "  f#: {type: int, default: #}\n", "nodes: {n: {let: {x: 1}}}\n"),
		"types":                   numbered(top+"types:\n", "  T#: {a: int}\n", "nodes: {n: {let: {x: 1}}}\n"),
		"types of types":          numbered(top+"types:\n  T: int\n", "  T#: list<T>\n", "nodes: {n: {let: {x: 1}}}\n"),
		"nested types":            fill(top+"input: {x: ", "list<", "int}\nnodes: {n: {let: {x: 1}}}\n"),
		"enum":                    numbered(top+"input: {x: 'enum<a", "|v#", ">'}\nnodes: {n: {let: {x: 1}}}\n"),
		"tools":                   numbered(top+"tools:\n", "  t#: {command: [a], in: {x: int}, effects: none}\n", "nodes: {n: {let: {x: 1}}}\n"),
		"tools with one bad name": numbered(top+"tools:\n", "  t#: {command: [a, '{{ y }}'], in: {x: int}, effects: none}\n", "nodes: {n: {let: {x: 1}}}\n"),
		"a long expression":       fill(one+let("")[:len("nodes: {n: {let: {x: ")]+"\"$1", " + 1", "\"}}}\noutput: {x: $n.x}\n"),
		"parentheses":             fill(one+"nodes: {n: {let: {x: \"$", "(", "\"}}}\n"),
		"unary":                   fill(one+"nodes: {n: {let: {x: \"$", "!", "true\"}}}\n"),
		"choices":                 fill(one+"nodes: {n: {let: {x: \"$", "true ? 1 : ", "1\"}}}\n"),
		"calls":                   fill(one+"nodes: {n: {let: {x: \"$", "size(", "\"}}}\n"),
		"fields of fields":        fill(one+"nodes: {n: {let: {x: \"$input", ".n", "\"}}}\n"),
		"macros":                  fill(one+"nodes: {n: {let: {x: \"$input.xs", ".map(x, x)", "\"}}}\n"),
		"a long list":             fill(one+"nodes: {n: {let: {x: \"$[1", ", 1", "]\"}}}\n"),
		"many templates":          fill(one+"nodes: {n: {let: {x: \"", "{{ input.n }}", "\"}}}\noutput: {x: $n.x}\n"),
		"open templates":          fill(one+"nodes: {n: {let: {x: \"", "{{ ", "\"}}}\n"),
		"braces as text":          fill(one+"nodes: {n: {let: {x: \"", "}} ", "\"}}}\n"),
		"bad templates":           fill(one+"nodes: {n: {let: {x: \"", "{{ no }}", "\"}}}\n"),
		"lines of bad templates":  fill(one+"nodes:\n  n:\n    let:\n      x: |\n", "        {{ no }}\n", ""),
		"escapes in strings":      fill(one+"nodes: {n: {let: {x: '$\"", "\\n", "\"'}}}\noutput: {x: $n.x}\n"),
		"text":                    fill(top+"nodes: {n: {let: {x: \"", "word ", "\"}}}\noutput: {x: $n.x}\n"),
		"lines of text":           fill(top+"nodes:\n  n:\n    let:\n      x: |\n", "        some text\n", "output: {x: $n.x}\n"),
		"escapes":                 fill(top+"nodes: {n: {let: {x: \"", "\\u2028", "\"}}}\noutput: {x: $n.x}\n"),
		"a description":           fill(top+"description: \"", "\\n*/ word ", "\"\nnodes: {n: {let: {x: 1}}}\noutput: {x: $n.x}\n"),
		"a pattern":               fill(top+"input: {s: {type: string, pattern: \"", "(a|b)*", "\"}}\nnodes: {n: {let: {x: $input.s}}}\noutput: {x: $n.x}\n"),
		"a repeated pattern":      top + "input: {s: {type: string, pattern: \"((a{0,100}){0,100}){0,100}\"}}\nnodes: {n: {let: {x: $input.s}}}\noutput: {x: $n.x}\n",
		"a URL":                   fill(top+"tools: {t: {http: {url: \"https://h/", "{x}/", "\"}, in: {x: string}, out: string}}\nnodes: {n: {tool: t, with: {x: a}}}\noutput: {x: $n}\n"),
		"braces in a URL":         fill(top+"tools: {t: {http: {url: \"https://h/", "{", "\"}, in: {x: string}, out: string}}\nnodes: {n: {tool: t, with: {x: a}}}\noutput: {x: $n}\n"),
		"arguments":               numbered(top+"tools: {t: {command: [a], in: {x: int}, effects: none}}\nnodes: {n: {tool: t, with: {", "x#: 1, ", "}}}\n"),
		"a deep value":            top + let(strings.Repeat("[", 90)+"1"+strings.Repeat("]", 90)),
		"a wide value":            fill(top+"nodes: {n: {let: {x: [", "{a: 1}, ", "{a: 1}]}}}\noutput: {x: $n.x}\n"),
		"a value of other types":  numbered(top+"nodes: {n: {let: {x: [", "{k#: 1}, ", "{a: 1}]}}}\noutput: {x: $n.x}\n"),
		"sets":                    numbered(top+"state: {s: {type: int, init: 0}}\nnodes: {n: {let: {x: 1}, set: {", "s#: 1, ", "}}}\noutput: {x: $n.x}\n"),
		"outputs":                 numbered(top+"nodes: {n: {let: {x: 1}}}\noutput: {", "o#: $n.x, ", "}\n"),
		"catches":                 numbered(top+"tools: {t: {command: [a], effects: none}}\nnodes: {n: {tool: t, catch: {", "CODE_#: end, ", "}}}\n"),
		"loops in loops":          top + "nodes:\n  n: " + strings.Repeat("{loop: {max: 2}, do: ", 40) + "{let: {x: 1}}" + strings.Repeat("}", 40) + "\noutput: {x: $n.x}\n",
		"switches":                numbered(one+"nodes:\n  a: {let: {x: 1}}\n", "  n#: {let: {x: 1}}\n", "edges: [a -> n0]\n"),
		"includes":                numbered(top+"include: [", "lib#.yaml, ", "]\nnodes: {n: {let: {x: 1}}}\n"),
		"secrets":                 numbered(top+"secrets: [", "S#, ", "]\nnodes: {n: {let: {x: 1}}}\n"),
		"comments":                numbered(top, "# comment #\n", "nodes: {n: {let: {x: 1}}}\noutput: {x: $n.x}\n"),
		"a long line of flow":     fill(top+"nodes: {n: {let: {x: [", "1,", "1]}}}\noutput: {x: $n.x}\n"),
		"long names":              fill(top+"nodes: {", "a", ": {let: {x: 1}}}\n"),
		"wrong spelling, long":    fill(one+"nodes: {n: {let: {x: $", "a", ".x}}}\n"),
	}
}

// TestHeavy: no file of up to a mebibyte keeps the compiler busy for longer than a second, or makes it swell, and what is
// said about it can be shown.
func TestHeavy(t *testing.T) {
	slowUnderRace(t)
	all := heavy()
	worst, most := time.Duration(0), uint64(0)
	for _, name := range sortedKeys(all) {
		text := all[name]
		if len(text) > 1<<20 {
			t.Fatalf("%s has %d bytes", name, len(text))
		}
		if number(name)%uint64(pick(6, 3, 1)) != 0 {
			continue
		}
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			took, peak := weigh(t, name, text)
			worst, most = max(worst, took), max(most, peak)
			if took > slow(time.Second) {
				t.Errorf("%s takes %v", name, took)
			}
			if peak > 400<<20 && !raceEnabled {
				t.Errorf("%s takes %d MiB", name, peak>>20)
			}
		})
	}
	t.Logf("the slowest takes %v, the largest %d MiB", worst, most>>20)
}

// weigh compiles a file, shows what is said about it, and says what that costs.
func weigh(t *testing.T, name, text string) (took time.Duration, peak uint64) {
	t.Helper()
	sink := &diag.Sink{}
	said := 0
	took, peak = cost(func() {
		if wf := parser.Parse(memory{"x.flowgen.yaml": text}, "x.flowgen.yaml", sink); wf != nil {
			if p := check.Check(wf, sink); p != nil {
				if _, err := codegen.Generate(p, codegen.Options{Package: "p"}); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		var w counter
		if err := diag.Text(&w, sink.List(), diag.TextOptions{}); err != nil {
			t.Error(err)
		}
		said = int(w)
	})
	t.Logf("%-24s %8v %6.1f MiB, %d errors, %d bytes said: %s", name, took.Round(time.Millisecond), float64(peak)/(1<<20), sink.Errors(), said, first(sink))
	return took, peak
}

// counter is a writer that keeps nothing.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
