package layout_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/flowgen-dev/flowgen/studio/layout"
)

// random is a graph of up to a few levels, with loops and links to itself.
func random(r *rand.Rand, deep int) *layout.Node {
	n := &layout.Node{Name: fmt.Sprint("node", r.IntN(1000))}
	if deep == 0 {
		return n
	}
	for range r.IntN(12) {
		n.Parts = append(n.Parts, random(r, r.IntN(deep)))
	}
	for range r.IntN(2*len(n.Parts) + 1) {
		n.Links = append(n.Links, layout.Link{From: r.IntN(len(n.Parts)), To: r.IntN(len(n.Parts))})
	}
	return n
}

// TestPlace: boxes lie within those around them and do not overlap, lines end at boxes, and the same graph gives the same picture.
func TestPlace(t *testing.T) {
	for seed := range uint64(500) {
		n, again := random(rand.New(rand.NewPCG(seed, 1)), 4), random(rand.New(rand.NewPCG(seed, 1)), 4)
		layout.Place(n)
		layout.Place(again)
		if !reflect.DeepEqual(n, again) {
			t.Fatalf("seed %d: two pictures differ", seed)
		}
		check(t, seed, n)
	}
}

func check(t *testing.T, seed uint64, n *layout.Node) {
	t.Helper()
	const slack = 0.5
	for i, p := range n.Parts {
		if p.X < n.X-slack || p.Y < n.Y-slack || p.X+p.W > n.X+n.W+slack || p.Y+p.H > n.Y+n.H+slack {
			t.Errorf("seed %d: %v is not within %v", seed, box(p), box(n))
		}
		for _, o := range n.Parts[i+1:] {
			if p.X < o.X+o.W-slack && o.X < p.X+p.W-slack && p.Y < o.Y+o.H-slack && o.Y < p.Y+p.H-slack {
				t.Errorf("seed %d: %v and %v overlap", seed, box(p), box(o))
			}
		}
		check(t, seed, p)
	}
	for i, l := range n.Links {
		points := n.Paths[i].Points
		if !touches(n.Parts[l.From], points[0]) || !touches(n.Parts[l.To], points[len(points)-1]) {
			t.Errorf("seed %d: a line from %v to %v is %v", seed, box(n.Parts[l.From]), box(n.Parts[l.To]), points)
		}
	}
}

func box(n *layout.Node) [4]float64 { return [4]float64{n.X, n.Y, n.X + n.W, n.Y + n.H} }

func touches(n *layout.Node, p [2]float64) bool {
	const slack = 1
	return p[0] >= n.X-slack && p[0] <= n.X+n.W+slack && p[1] >= n.Y-slack && p[1] <= n.Y+n.H+slack
}
