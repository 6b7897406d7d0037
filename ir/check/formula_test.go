package check

import (
	"testing"

	"pgregory.net/rapid"
)

// table is a formula as brute force has it: its value for every assignment of cases to decisions.
type table []bool

// world is a few decisions and all their assignments.
type world struct {
	cases  []int
	assign [][]int
}

func newWorld(cases []int) *world {
	w := &world{cases: cases}
	total := 1
	for _, n := range cases {
		total *= n
	}
	for x := range total {
		row := make([]int, len(cases))
		for i, n := range cases {
			row[i], x = x%n, x/n
		}
		w.assign = append(w.assign, row)
	}
	return w
}

func (d *diagram) eval(f formula, row []int) bool {
	for f > always {
		f = d.nodes[f].kids[row[d.nodes[f].decision]]
	}
	return f == always
}

func (t table) and(o table) table  { return t.zip(o, func(a, b bool) bool { return a && b }) }
func (t table) or(o table) table   { return t.zip(o, func(a, b bool) bool { return a || b }) }
func (t table) less(o table) table { return t.zip(o, func(a, b bool) bool { return a && !b }) }
func (t table) zip(o table, f func(a, b bool) bool) table {
	out := make(table, len(t))
	for i := range t {
		out[i] = f(t[i], o[i])
	}
	return out
}

func (t table) none() bool {
	for _, v := range t {
		if v {
			return false
		}
	}
	return true
}

// TestFormulaAgainstTables builds random formulas beside their truth tables. Whatever the limit of the diagram, what it
// proves is true; below the limit it proves all that is true, and equal formulas are equal numbers.
func TestFormulaAgainstTables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(rapid.SliceOfN(rapid.IntRange(1, 4), 1, 5).Draw(t, "cases"))
		limit := rapid.SampledFrom([]int{maxDiagram, 3, 6, 12}).Draw(t, "limit")
		d := newDiagram(limit)
		for _, n := range w.cases {
			d.decide(n)
		}
		constant := func(v bool) table {
			out := make(table, len(w.assign))
			for i := range out {
				out[i] = v
			}
			return out
		}
		formulas, tables := []formula{never, always}, []table{constant(false), constant(true)}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			pick := func() int { return rapid.IntRange(0, len(formulas)-1).Draw(t, "operand") }
			x, y := pick(), pick()
			var f formula
			var v table
			switch rapid.IntRange(0, 4).Draw(t, "op") {
			case 0:
				i := rapid.IntRange(0, len(w.cases)-1).Draw(t, "decision")
				k := rapid.IntRange(0, w.cases[i]-1).Draw(t, "case")
				f, v = d.is(i, k), constant(false)
				for j, row := range w.assign {
					v[j] = row[i] == k
				}
			case 1:
				f, v = d.and(formulas[x], formulas[y]), tables[x].and(tables[y])
			case 2:
				f, v = d.or(formulas[x], formulas[y]), tables[x].or(tables[y])
			case 3:
				f, v = d.without(formulas[x], formulas[y]), tables[x].less(tables[y])
			case 4:
				z := pick()
				f, v = d.anyOf([]formula{formulas[x], formulas[y], formulas[z]}), tables[x].or(tables[y]).or(tables[z])
			}
			formulas, tables = append(formulas, f), append(tables, v)
			compareFormula(t, d, w, f, v)
			for j := range formulas {
				comparePair(t, d, f, formulas[j], v, tables[j])
				comparePair(t, d, formulas[j], f, tables[j], v)
			}
		}
		if d.full && limit == maxDiagram {
			t.Fatal("full without reason")
		}
	})
}

func compareFormula(t *rapid.T, d *diagram, w *world, f formula, v table) {
	if f == unknown {
		if !d.full {
			t.Fatal("unknown below the limit")
		}
		return
	}
	for i, row := range w.assign {
		if d.eval(f, row) != v[i] {
			t.Fatalf("formula %d is %v for %v", f, !v[i], row)
		}
	}
	var support [10]bool
	for _, i := range d.support(f, 1<<20) {
		support[i] = true
	}
	for i, n := range w.cases {
		possible := make([]bool, n)
		depends := false
		for j, row := range w.assign {
			possible[row[i]] = possible[row[i]] || v[j]
			other := append([]int(nil), row...)
			for k := range n {
				other[i] = k
				depends = depends || d.eval(f, other) != v[j]
			}
		}
		if depends != support[i] {
			t.Fatalf("support of %d has decision %d: %v", f, i, support[i])
		}
		for k, is := range d.casesIn(f, i) {
			if is != possible[k] {
				t.Fatalf("case %d of decision %d in formula %d: %v", k, i, f, is)
			}
		}
	}
}

func comparePair(t *rapid.T, d *diagram, f, g formula, v, u table) {
	implies, excludes := v.less(u).none(), v.and(u).none()
	known := f != unknown && g != unknown && !d.full
	if got := d.implies(f, g); got && !implies || known && got != implies {
		t.Fatalf("%d implies %d: %v", f, g, got)
	}
	if got := d.excludes(f, g); got && !excludes || known && got != excludes {
		t.Fatalf("%d excludes %d: %v", f, g, got)
	}
	if f != unknown && g != unknown {
		same := true
		for i := range v {
			same = same && v[i] == u[i]
		}
		if same != (f == g) {
			t.Fatalf("%d and %d are the same: %v", f, g, same)
		}
	}
}

// TestFormulaLongChain is what makes large workflows cheap: a chain of conditions costs one node each.
func TestFormulaLongChain(t *testing.T) {
	d := newDiagram(maxDiagram)
	const n = 20_000
	for range n {
		d.decide(2)
	}
	f := always
	var earlier formula
	for i := n - 1; i >= 0; i-- {
		if i == n/2 {
			earlier = f
		}
		f = d.and(f, d.is(i, 0))
	}
	if d.full || len(d.nodes) > 2*n+10 {
		t.Fatalf("%d nodes", len(d.nodes))
	}
	if !d.implies(f, earlier) || d.implies(earlier, f) {
		t.Error("the end of the chain implies its middle, and not the other way round")
	}
}
