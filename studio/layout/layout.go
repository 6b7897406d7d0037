// Package layout gives the nodes of a graph places, so that all who draw it draw the same picture. The same graph always gives the
// same places.
package layout

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"
)

// A Node is what is drawn as a box; with Parts it is one around them.
type Node struct {
	Name  string // the text in the box
	Note  string // a second text, to the right of it or below
	Parts []*Node
	Links []Link // between the Parts

	X, Y, W, H float64 // of the box, from the corner of the picture
	Paths      []Path  // of the Links
}

// A Link leads from one part of a node to another, by their places in Parts.
type Link struct {
	From, To int
	Label    string
}

// A Path is how a link is drawn: a line through points, and the place of its label.
type Path struct {
	Points         [][2]float64
	LabelX, LabelY float64
	Back           bool // it leads upwards
}

// Sizes in pixels of the page.
const (
	letter, padding     = 7.2, 30
	least, most, height = 120, 280, 32
	headroom, margin    = 34, 14
	gapX, gapY          = 22, 40
)

// Place gives all parts of a node their places, and the node its size.
func Place(n *Node) {
	place(n)
	shift(n, margin, margin)
	n.X, n.Y = 0, 0
	n.W, n.H = n.W+2*margin, n.H+2*margin
}

// place lays the parts out from (0, 0).
func place(n *Node) {
	text := utf8.RuneCountInString(n.Name) + utf8.RuneCountInString(n.Note)
	n.W, n.H = min(max(float64(text)*letter+padding+16, least), most), height
	if len(n.Parts) == 0 {
		return
	}
	for _, p := range n.Parts {
		place(p)
		if len(p.Parts) > 0 {
			for _, inner := range p.Parts {
				shift(inner, margin, headroom)
			}
			for i := range p.Paths {
				p.Paths[i].move(margin, headroom)
			}
			p.W, p.H = max(p.W+2*margin, min(float64(utf8.RuneCountInString(p.Name)+utf8.RuneCountInString(p.Note))*letter+padding+16, 420)), p.H+headroom+margin
		}
	}
	g := graphOf(n)
	g.layers()
	g.order()
	n.W, n.H = g.places()
	n.Paths = g.paths(n)
	for i, p := range n.Parts {
		x, y := g.all[i].x, g.all[i].y
		p.X, p.Y = 0, 0
		shift(p, x, y)
	}
}

func shift(n *Node, x, y float64) {
	n.X, n.Y = n.X+x, n.Y+y
	for _, p := range n.Parts {
		shift(p, x, y)
	}
	for i := range n.Paths {
		n.Paths[i].move(x, y)
	}
}

func (p *Path) move(x, y float64) {
	for i := range p.Points {
		p.Points[i][0] += x
		p.Points[i][1] += y
	}
	p.LabelX, p.LabelY = p.LabelX+x, p.LabelY+y
}

// graph is one level of a picture: nodes in rows, with a bend for each row that a link passes.
type graph struct {
	all   []*spot // the nodes, then the bends
	rows  [][]*spot
	chain [][]*spot // of each link, from its upper end to its lower one
	back  []bool    // by link
}

type spot struct {
	row, at    int // in its row
	w, h, x, y float64
	up, down   []*spot
	weight     float64
}

func graphOf(n *Node) *graph {
	g := &graph{back: make([]bool, len(n.Links)), chain: make([][]*spot, len(n.Links))}
	for _, p := range n.Parts {
		g.all = append(g.all, &spot{w: p.W, h: p.H})
	}
	next := make([][]int, len(n.Parts)) // links that leave
	for i, l := range n.Links {
		next[l.From] = append(next[l.From], i)
	}
	state := make([]int, len(n.Parts)) // 1: on the way, 2: done
	var walk func(int)
	walk = func(at int) {
		state[at] = 1
		for _, i := range next[at] {
			switch to := n.Links[i].To; state[to] {
			case 0:
				walk(to)
			case 1:
				g.back[i] = true
			}
		}
		state[at] = 2
	}
	for i := range n.Parts {
		if state[i] == 0 {
			walk(i)
		}
	}
	for i, l := range n.Links {
		from, to := g.all[l.From], g.all[l.To]
		if g.back[i] {
			from, to = to, from
		}
		g.chain[i] = []*spot{from, to}
	}
	return g
}

// layers gives each node the row below all that lead to it, and each link its bends.
func (g *graph) layers() {
	for range g.all { // as long as the longest way
		moved := false
		for _, c := range g.chain {
			if c[0] != c[1] && c[1].row <= c[0].row {
				c[1].row, moved = c[0].row+1, true
			}
		}
		if !moved {
			break
		}
	}
	for i, c := range g.chain {
		from, to := c[0], c[1]
		if from == to {
			continue
		}
		way := []*spot{from}
		for row := from.row + 1; row < to.row; row++ {
			bend := &spot{row: row, w: 10}
			g.all = append(g.all, bend)
			way = append(way, bend)
		}
		way = append(way, to)
		for k := 1; k < len(way); k++ {
			way[k-1].down = append(way[k-1].down, way[k])
			way[k].up = append(way[k].up, way[k-1])
		}
		g.chain[i] = way
	}
	for _, s := range g.all {
		for len(g.rows) <= s.row {
			g.rows = append(g.rows, nil)
		}
		s.at = len(g.rows[s.row])
		g.rows[s.row] = append(g.rows[s.row], s)
	}
}

// order sorts rows by the middle of the neighbours above, then below, a few times.
func (g *graph) order() {
	for pass := range 6 {
		for i := range g.rows {
			row := g.rows[i]
			if pass%2 == 1 {
				row = g.rows[len(g.rows)-1-i]
			}
			for _, s := range row {
				near := s.up
				if pass%2 == 1 {
					near = s.down
				}
				s.weight = float64(s.at)
				if len(near) > 0 {
					sum := 0.0
					for _, o := range near {
						sum += float64(o.at)
					}
					s.weight = sum / float64(len(near))
				}
			}
			slices.SortStableFunc(row, func(a, b *spot) int { return cmp.Compare(a.weight, b.weight) })
			for at, s := range row {
				s.at = at
			}
		}
	}
}

// places gives nodes their coordinates: each as near to the middle of its neighbours as its row allows.
func (g *graph) places() (w, h float64) {
	for _, row := range g.rows {
		x := 0.0
		for _, s := range row {
			s.x, x = x, x+s.w+gapX
		}
	}
	for pass := range 8 {
		for i := range g.rows {
			row, above := g.rows[i], true
			if pass%2 == 1 {
				row, above = g.rows[len(g.rows)-1-i], false
			}
			settle(row, above)
		}
	}
	left := math.Inf(1)
	for _, s := range g.all {
		left = min(left, s.x)
	}
	for _, row := range g.rows {
		tall := 0.0
		for _, s := range row {
			tall = max(tall, s.h)
		}
		for _, s := range row {
			s.x, s.y = math.Round(s.x-left), h
			w = max(w, s.x+s.w)
			if s.h == 0 { // a bend passes the row
				s.h = tall
			}
		}
		h += tall + gapY
	}
	return w, max(h-gapY, 0)
}

func settle(row []*spot, above bool) {
	for _, s := range row {
		near := s.down
		if above {
			near = s.up
		}
		s.weight = s.x
		if len(near) > 0 {
			sum := 0.0
			for _, o := range near {
				sum += o.x + o.w/2
			}
			s.weight = sum/float64(len(near)) - s.w/2
		}
	}
	// pushed apart from both sides, and the middle of both taken
	right := make([]float64, len(row))
	for i, s := range row {
		right[i] = s.weight
		if i > 0 {
			right[i] = max(right[i], right[i-1]+row[i-1].w+gapX)
		}
	}
	leftmost := make([]float64, len(row))
	for i := len(row) - 1; i >= 0; i-- {
		leftmost[i] = row[i].weight
		if i < len(row)-1 {
			leftmost[i] = min(leftmost[i], leftmost[i+1]-row[i].w-gapX)
		}
	}
	for i, s := range row {
		s.x = (right[i] + leftmost[i]) / 2
		if i > 0 {
			s.x = max(s.x, row[i-1].x+row[i-1].w+gapX)
		}
	}
}

func (g *graph) paths(n *Node) []Path {
	var list []Path
	for i, way := range g.chain {
		p := Path{Back: g.back[i]}
		if len(way) == 2 && way[0] == way[1] { // to itself
			s := way[0]
			right := s.x + s.w
			p.Points = [][2]float64{{right, s.y + s.h/3}, {right + 12, s.y + s.h/3}, {right + 12, s.y + s.h*2/3}, {right, s.y + s.h*2/3}}
			p.LabelX, p.LabelY, p.Back = right+12, s.y+s.h/2, true
			list = append(list, p)
			continue
		}
		for k, s := range way {
			x := s.x + s.w/2
			if k > 0 {
				last := p.Points[len(p.Points)-1]
				if last[0] != x {
					middle := s.y - gapY/2
					p.Points = append(p.Points, [2]float64{last[0], middle}, [2]float64{x, middle})
				}
				p.Points = append(p.Points, [2]float64{x, s.y})
			}
			if k < len(way)-1 {
				p.Points = append(p.Points, [2]float64{x, s.y + s.h})
			}
		}
		lower := way[1]
		p.LabelX, p.LabelY = lower.x+lower.w/2, lower.y-gapY/2+14
		if p.Back {
			slices.Reverse(p.Points)
		}
		list = append(list, p)
	}
	return list
}
