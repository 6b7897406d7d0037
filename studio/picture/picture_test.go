package picture

import (
	"fmt"
	"slices"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/cli"
)

func paths(p *Picture) (list []string) {
	for _, n := range p.Nodes {
		list = append(list, n.Path)
	}
	return list
}

// TestFolded: closed boxes have no parts and count them, agents are closed until they are opened, and so is all of a large graph.
func TestFolded(t *testing.T) {
	shape := &cli.Shape{Parts: []*cli.Shape{
		{Path: "each", ID: "each", About: []string{"map items"}, Parts: []*cli.Shape{
			{Path: "each/a", ID: "a"},
			{Path: "each/help", ID: "help", About: []string{"agent m"}, Tools: []string{"w.search@1", "w.blame@2"}},
		}, Links: []cli.Link{{From: 0, To: 1}}},
		{Path: "last", ID: "last"},
	}, Links: []cli.Link{{From: 0, To: 1}}}
	for _, c := range []struct {
		folded []string
		want   []string
		edges  int
	}{
		{nil, []string{"each", "each/a", "each/help", "last"}, 2},
		{[]string{}, []string{"each", "each/a", "each/help", "each/help/search", "each/help/blame", "last"}, 2},
		{[]string{"each"}, []string{"each", "last"}, 1},
		{[]string{"each/help", "nothing", "last"}, []string{"each", "each/a", "each/help", "last"}, 2},
	} {
		p := Folded(shape, c.folded)
		if got := paths(p); !slices.Equal(got, c.want) || len(p.Edges) != c.edges {
			t.Errorf("%q: %q, %d edges", c.folded, got, len(p.Edges))
		}
	}
	if p := Folded(shape, []string{"each"}); p.Nodes[0].Fold != 4 || p.Nodes[0].Box || p.Nodes[1].Fold != 0 {
		t.Errorf("%+v", p.Nodes)
	}
	if len(shape.Parts[0].Parts) != 2 || len(shape.Parts[0].Parts[1].Parts) != 0 {
		t.Error("the graph itself has changed")
	}
	large := &cli.Shape{}
	for i := range 40 {
		box := &cli.Shape{Path: fmt.Sprint("n", i), ID: fmt.Sprint("n", i)}
		for j := range 10 {
			box.Parts = append(box.Parts, &cli.Shape{Path: fmt.Sprint("n", i, "/m", j), ID: fmt.Sprint("m", j)})
		}
		large.Parts = append(large.Parts, box)
	}
	if p := Of(large); len(p.Nodes) != 40 {
		t.Errorf("%d nodes are shown", len(p.Nodes))
	}
	if p := Folded(large, []string{}); len(p.Nodes) != 440 {
		t.Errorf("%d nodes are shown", len(p.Nodes))
	}
}
