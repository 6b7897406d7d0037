package walk_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/parser/dialect/walk"
)

const end = walk.End

// graph makes a Graph of lines: "a: c1 b, c2 c, d" leads to b when c1 holds, to c when c2 does, else to d; "a: =r b c" leads
// where r says. Nothing, and "-", are the end.
func graph(t *testing.T, text string) walk.Graph {
	var w walk.Graph
	lines := strings.Split(strings.TrimSpace(text), "\n")
	place := func(name string) int {
		if name == "-" {
			return end
		}
		i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), name+":") })
		if i < 0 {
			t.Fatalf("no stop %q", name)
		}
		return i
	}
	for _, l := range lines {
		name, rest, _ := strings.Cut(strings.TrimSpace(l), ":")
		stop := walk.Stop{Do: call(name), Else: end}
		for part := range strings.SplitSeq(rest, ",") {
			switch words := strings.Fields(part); {
			case len(words) == 0:
			case words[0][0] == '=':
				stop.Route = &walk.Route{Value: expr.Read(words[0][1:]), Local: "next_" + name}
				for _, to := range words[1:] {
					stop.Route.Ways = append(stop.Route.Ways, walk.Way{Name: to, To: place(to)})
				}
			case len(words) == 1:
				stop.Else = place(words[0])
			default:
				stop.Tests = append(stop.Tests, walk.Test{When: expr.Read(words[0]), To: place(words[1])})
			}
		}
		w.Stops = append(w.Stops, stop)
	}
	return w
}

func call(name string) ir.Block {
	return ir.Block{&ir.DoStmt{Call: &ir.Expr{Node: expr.Read(name)}}}
}

// TestStructure shows the forms that graphs get.
func TestStructure(t *testing.T) {
	for _, tc := range []struct{ name, graph, want string }{
		{"line", "a: b\nb: c\nc: -", "a; b; c"},
		{"diamond", "a: x b, c\nb: d\nc: d\nd: -", "a; if x {b} else {c}; d"},
		{"two ways are one condition", "a: x b, y -, -\nb: -", "a; if x {b}"},
		{"two tests of one way", "a: x b, y b, c\nb: -\nc: -", "a; if x || y {b} else {c}"},
		{"three ways", "a: x b, y c, d\nb: e\nc: e\nd: e\ne: -", "a; if x {b} else {if y {c} else {d}}; e"},
		{"the end in between", "a: x b, -\nb: y c, -\nc: d\nd: -", "a; if !x {return}; b; if y {c; d}"},
		{"meets late", "a: x b, c\nb: y d, e\nd: f\ne: f\nf: g\nc: g\ng: -", "a; if x {b; if y {d} else {e}; f} else {c}; g"},
		{"route of two", "a: =r b c\nb: d\nc: d\nd: -", "a; if r == \"b\" {b} else {c}; d"},
		{"route of three", "a: =r b c -\nb: d\nc: d\nd: -", "a; switch r {b: b}{c: c}{default: return}; d"},
		{"tests before a route", "a: x d, =r b c\nb: d\nc: d\nd: -", "a; if !x {if r == \"b\" {b} else {c}}; d"},
		{"loop", "a: b\nb: x a, y c, -\nc: -", "loop {a; b; if !x {break}}; if y {c}"},
		{"loop with the exit in the middle", "a: x b, -\nb: a", "loop {a; if !x {break}; b}"},
		{"limit", "a: limited -, x b, y -, -\nb: a", "loop {a; if limited || !x {break}; b}"},
		{"no parentheses", "a: x -, y -, z b, -\nb: a", "loop {a; if x || y || !z {break}; b}"},
		{"loop on itself", "a: x a, b\nb: -", "loop {a; if !x {break}}; b"},
		{"router of a loop", "a: b\nb: =r a c\nc: -", "loop {a; b; if r != \"a\" {break}}; c"},
		{"router with three ways out of a loop", "a: =r a b c\nb: -\nc: -", "loop {a; let next_a = r; if next_a == \"a\" {next}; if next_a == \"b\" {break}; c; return}; b"},
		{"loop inside", "s: x a, c\na: b\nb: y a, d\nc: d\nd: -", "s; if x {loop {a; b; if !y {break}}} else {c}; d"},
		{"loop in a loop", "a: b\nb: x b, c\nc: y a, d\nd: -", "loop {a; loop {b; if !x {break}}; c; if !y {break}}; d"},
		{"two exits that meet", "a: x b, e\nb: y a, f\ne: g\nf: g\ng: -", "loop {a; if !x {e; break}; b; if !y {f; break}}; g"},
		{"no way out", "a: b\nb: a", "loop {a; b}"},
		{"a way back from a branch", "a: x b, c\nb: a\nc: y a, -", "loop {a; if x {b} else {c; if !y {break}}}"},
		{"unreachable", "a: -\nb: a", "a"},
		{"two entries", "s: x a, b\na: b\nb: y a, -", ""},
		{"crossed", "a: x b, c\nb: y d, e\nc: z d, e\nd: -\ne: -", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, ok := walk.Structure(graph(t, tc.graph))
			if ok != (tc.want != "") || shown(got) != tc.want {
				t.Errorf("got  %s\nwant %s", shown(got), tc.want)
			}
		})
	}
	if _, ok := walk.Structure(walk.Graph{Stops: make([]walk.Stop, 301)}); ok {
		t.Error("nothing bounds a graph")
	}
}

// shown is a block on one line.
func shown(b ir.Block) string {
	var out []string
	for _, s := range b {
		switch s := s.(type) {
		case *ir.DoStmt:
			out = append(out, s.Call.Node.String())
		case *ir.LetStmt:
			out = append(out, "let "+s.Name.Name+" = "+s.Value.Node.String())
		case *ir.IfStmt:
			text := "if " + s.Cond.Node.String() + " {" + shown(s.Then) + "}"
			if len(s.Else) > 0 {
				text += " else {" + shown(s.Else) + "}"
			}
			out = append(out, text)
		case *ir.SwitchStmt:
			text := "switch " + s.On.Node.String() + " "
			for _, a := range s.Arms {
				text += fmt.Sprintf("{%v: %s}", a.Value, shown(a.Do))
			}
			if len(s.Default) > 0 {
				text += "{default: " + shown(s.Default) + "}"
			}
			out = append(out, text)
		case *ir.WhileStmt:
			out = append(out, "loop {"+shown(s.Do)+"}")
		case *ir.NextStmt:
			out = append(out, "next")
		case *ir.BreakStmt:
			out = append(out, "break")
		case *ir.ReturnStmt:
			out = append(out, "return")
		}
	}
	return strings.Join(out, "; ")
}

// A token is what goes through a graph. What conditions and routes say depends on how many stops it has seen.
type token struct {
	seen   []string
	locals map[string]string
	salt   int
	ways   map[string][]string // of routes
}

const far = 60

func (k *token) at(name string) bool {
	k.seen = append(k.seen, name)
	return len(k.seen) < far
}

func (k *token) chance(name string) int {
	h := uint32(k.salt*31 + len(k.seen)*7919)
	for _, c := range name {
		h = (h ^ uint32(c)) * 16777619
	}
	return int(h >> 7)
}

func (k *token) text(n *expr.Node) string {
	if n.Op == expr.Lit {
		return n.Value.(string)
	}
	if v, ok := k.locals[n.Text]; ok {
		return v
	}
	ways := k.ways[n.Text]
	return ways[k.chance(n.Text)%len(ways)]
}

func (k *token) holds(n *expr.Node) bool {
	switch {
	case n.Op == expr.Unary:
		return !k.holds(n.Kids[0])
	case n.Op == expr.Binary && n.Text == "&&":
		return k.holds(n.Kids[0]) && k.holds(n.Kids[1])
	case n.Op == expr.Binary && n.Text == "||":
		return k.holds(n.Kids[0]) || k.holds(n.Kids[1])
	case n.Op == expr.Binary:
		return (k.text(n.Kids[0]) == k.text(n.Kids[1])) == (n.Text == "==")
	}
	return k.chance(n.Text)%3 > 0
}

// walks is the reference: from stop to stop, as the graph says.
func (k *token) walks(w walk.Graph) {
	for at := w.Start; at != end; {
		stop := w.Stops[at]
		if !k.at(stop.Do[0].(*ir.DoStmt).Call.Node.Text) {
			return
		}
		at = stop.Else
		if r := stop.Route; r != nil {
			name := k.text(r.Value)
			at = r.Ways[slices.IndexFunc(r.Ways, func(w walk.Way) bool { return w.Name == name })].To
		}
		for _, t := range slices.Backward(stop.Tests) {
			if k.holds(t.When) {
				at = t.To
			}
		}
	}
}

// How a block ends.
const (
	goesOn = iota
	next
	stops
	returns
)

// runs interprets a block.
func (k *token) runs(b ir.Block) int {
	for _, s := range b {
		how := goesOn
		switch s := s.(type) {
		case *ir.DoStmt:
			if !k.at(s.Call.Node.Text) {
				how = returns
			}
		case *ir.LetStmt:
			k.locals[s.Name.Name] = k.text(s.Value.Node)
		case *ir.IfStmt:
			if how = goesOn; k.holds(s.Cond.Node) {
				how = k.runs(s.Then)
			} else {
				how = k.runs(s.Else)
			}
		case *ir.SwitchStmt:
			v := k.text(s.On.Node)
			if i := slices.IndexFunc(s.Arms, func(a ir.SwitchArm) bool { return a.Value == v }); i >= 0 {
				how = k.runs(s.Arms[i].Do)
			} else {
				how = k.runs(s.Default)
			}
			if how == stops {
				panic("a break in a switch")
			}
		case *ir.WhileStmt:
			for how == goesOn || how == next {
				how = k.runs(s.Do)
			}
			if how == stops {
				how = goesOn
			}
		case *ir.NextStmt:
			how = next
		case *ir.BreakStmt:
			how = stops
		case *ir.ReturnStmt:
			how = returns
		default:
			panic(fmt.Sprintf("%T", s))
		}
		if how != goesOn {
			return how
		}
	}
	return goesOn
}

// TestStructureWalks compares what runs, in which order: as the graph says, and as the statements do.
func TestStructureWalks(t *testing.T) {
	formed, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "stops")
		w := walk.Graph{Start: rapid.IntRange(0, n-1).Draw(t, "start"), Stops: make([]walk.Stop, n)}
		ways := map[string][]string{}
		back := rapid.IntRange(0, 9).Draw(t, "back") < 4
		for i := range n {
			to := func(label string) int {
				lo := -1
				if !back {
					lo = i + 1
				}
				if at := rapid.IntRange(lo, n).Draw(t, label); at < n {
					return at
				}
				return end
			}
			stop := walk.Stop{Do: call(fmt.Sprint("n", i)), Else: to("else")}
			for j := range rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 3}).Draw(t, "tests") {
				stop.Tests = append(stop.Tests, walk.Test{When: expr.Read(fmt.Sprint("c", i, "_", j)), To: to("to")})
			}
			if rapid.IntRange(0, 4).Draw(t, "routes") == 0 {
				r := &walk.Route{Value: expr.Read(fmt.Sprint("r", i)), Local: fmt.Sprint("l", i)}
				for range rapid.IntRange(1, 4).Draw(t, "ways") {
					at := to("way")
					name := fmt.Sprint("n", at)
					if !slices.Contains(ways[r.Value.Text], name) {
						ways[r.Value.Text] = append(ways[r.Value.Text], name)
						r.Ways = append(r.Ways, walk.Way{Name: name, To: at})
					}
				}
				stop.Route = r
			}
			w.Stops[i] = stop
		}
		block, ok := walk.Structure(w)
		if all++; !ok {
			return
		}
		formed++
		reached := reach(w)
		block.All(func(s ir.Stmt) {
			if do, ok := s.(*ir.DoStmt); ok {
				if name := do.Call.Node.Text; !reached[name] {
					t.Fatalf("%s is not reached, or written twice:\n%s", name, block)
				} else {
					delete(reached, name)
				}
			}
		})
		if len(reached) > 0 {
			t.Fatalf("%v are not written:\n%s", reached, block)
		}
		for salt := range 25 {
			want := &token{salt: salt, ways: ways}
			want.walks(w)
			got := &token{salt: salt, ways: ways, locals: map[string]string{}}
			got.runs(block)
			if d := cmp.Diff(want.seen, got.seen); d != "" {
				t.Fatalf("%s\n%s", d, shown(block))
			}
		}
	})
	if formed*3 < all {
		t.Errorf("%d of %d graphs have a form", formed, all)
	}
}

func reach(w walk.Graph) map[string]bool {
	out := map[string]bool{}
	for open := []int{w.Start}; len(open) > 0; {
		at := open[0]
		if open = open[1:]; at == end {
			continue
		}
		stop := w.Stops[at]
		name := stop.Do[0].(*ir.DoStmt).Call.Node.Text
		if out[name] {
			continue
		}
		out[name] = true
		if stop.Route == nil {
			open = append(open, stop.Else)
		} else {
			for _, way := range stop.Route.Ways {
				open = append(open, way.To)
			}
		}
		for _, t := range stop.Tests {
			open = append(open, t.To)
		}
	}
	return out
}
