package sim_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// shape is a random workflow: what a generated body does, interpreted.
type shape struct {
	kind string // call, seq, parallel, graph, map, keep, loop, sub, catch
	node *flow.Node
	kids []*shape
	tool *flow.Tool[query, string]
	edge [][]int // graph: predecessors of each kid
}

type query struct {
	ID   string   `json:"id"`
	Text string   `json:"text"`
	More []string `json:"more"`
}

// world gives random workflows tools whose results depend on their input alone. Faults do, too.
type world struct {
	seed    uint64
	fail    uint64 // percent of calls that fail
	real    bool   // tools take real time
	forbid  func(in query)
	mu      sync.Mutex
	flaky   map[string]bool
	counter int
	nodes   []*flow.Node
}

func (w *world) hash(s ...string) uint64 {
	f := fnv.New64a()
	fmt.Fprint(f, w.seed, s)
	x := f.Sum64()
	x = (x ^ x>>29) * 0xbf58476d1ce4e5b9
	return x ^ x>>32
}

func (w *world) call(ctx context.Context, in query) (string, error) {
	if w.forbid != nil {
		w.forbid(in)
	}
	if w.real {
		select {
		case <-time.After(time.Duration(rand.IntN(150)) * time.Microsecond):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	h := w.hash("call", in.ID, in.Text)
	if h%100 < w.fail {
		return "", errors.New("boom " + in.ID + " " + in.Text)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.flaky[in.ID+in.Text] {
		w.flaky[in.ID+in.Text] = true
		if h%7 == 0 {
			return "", value.Errorf(value.NetworkError, "down %s", in.Text)
		}
	}
	return fmt.Sprintf("%s%d", in.ID, h%1000), nil
}

// grow makes a random workflow.
func (w *world) grow(rng *rand.Rand, depth int) *shape {
	kinds := []string{"call", "seq", "parallel", "graph", "map", "keep", "loop", "sub", "catch"}
	s := &shape{kind: kinds[rng.IntN(len(kinds))]}
	if depth == 0 {
		s.kind = "call"
	}
	s.node = &flow.Node{ID: fmt.Sprintf("n%d", w.counter), Pos: fmt.Sprintf("w.yaml:%d:1", w.counter+1), Index: w.counter}
	w.counter++
	w.nodes = append(w.nodes, s.node)
	kids := 1
	switch s.kind {
	case "call":
		s.tool = flow.Bind("w."+s.node.ID+"@1", flow.Effects(rng.IntN(4)), w.call)
		s.node.Retry = &flow.Retry{Attempts: 2, Base: 50 * time.Microsecond, Jitter: 0.5}
		return s
	case "seq", "parallel":
		kids = 2 + rng.IntN(2)
	case "graph":
		kids = 2 + rng.IntN(4)
	case "map", "keep":
		s.node.Limit = 1 + rng.IntN(4)
	case "loop":
		s.node.Max = 4
	case "catch":
		s.node.CatchAny = true
	}
	for i := range kids {
		s.kids = append(s.kids, w.grow(rng, depth-1))
		var before []int
		for j := range i {
			if rng.IntN(3) == 0 {
				before = append(before, j)
			}
		}
		s.edge = append(s.edge, before)
	}
	return s
}

// body is the workflow's Body.
func (w *world) body(r *flow.Run, s *shape, in string) (string, error) {
	switch s.kind {
	case "call":
		return flow.Call(r, s.node, s.tool, query{ID: s.node.ID, Text: in})
	case "seq":
		var err error
		for _, k := range s.kids {
			if in, err = w.body(r, k, in); err != nil {
				return "", err
			}
		}
		return in, nil
	case "parallel":
		return w.parallel(r, s, in)
	case "graph":
		return w.graph(r, s, in)
	case "map", "keep":
		return w.mapped(r, s, in)
	case "loop":
		for i := 0; ; i++ {
			r, err := r.Iterate(s.node, i)
			if err != nil {
				return "", err
			}
			if in, err = w.body(r, s.kids[0], in); err != nil {
				return "", err
			}
			if w.hash("until", in)%2 == 0 {
				return in, nil
			}
		}
	case "sub":
		return w.body(r.In(s.node), s.kids[0], in)
	}
	out, err := w.body(r, s.kids[0], in)
	if err == nil {
		return out, nil
	}
	te, err := engine.Caught(s.node, err)
	if err != nil {
		return "", err
	}
	return "caught " + te.Message, nil
}

func (w *world) parallel(r *flow.Run, s *shape, in string) (string, error) {
	out := make([]string, len(s.kids))
	var branches []func(*flow.Run) error
	for i, k := range s.kids {
		branches = append(branches, func(r *flow.Run) (err error) {
			out[i], err = w.body(r, k, in)
			return err
		})
	}
	if err := flow.Parallel(r, branches...); err != nil {
		return "", err
	}
	return strings.Join(out, "|"), nil
}

func (w *world) graph(r *flow.Run, s *shape, in string) (string, error) {
	out := make([]string, len(s.kids))
	var steps []flow.Step
	for i, k := range s.kids {
		step := flow.Step{Node: k.node, Do: func(r *flow.Run) (err error) {
			text := in
			for _, j := range s.edge[i] {
				text += out[j]
			}
			out[i], err = w.body(r, k, text)
			return err
		}}
		for _, j := range s.edge[i] {
			step.After = append(step.After, s.kids[j].node)
		}
		steps = append(steps, step)
	}
	if err := flow.Graph(r, steps...); err != nil {
		return "", err
	}
	return strings.Join(out, "|"), nil
}

func (w *world) mapped(r *flow.Run, s *shape, in string) (string, error) {
	var items []string
	for i := range w.hash("items", in, s.node.ID) % 5 {
		items = append(items, fmt.Sprint(in, ".", i))
	}
	each := func(r *flow.Run, item string) (string, error) { return w.body(r, s.kids[0], item) }
	if s.kind == "map" {
		out, err := flow.Map(r, s.node, items, each)
		return strings.Join(out, ","), err
	}
	kept, err := flow.MapKeep(r, s.node, items, each)
	return value.JSON(kept), err
}

// newWorld makes the world and the workflow of a seed. The same seed gives the same.
func newWorld(seed, fail uint64) (*world, *shape) {
	w := &world{seed: seed, fail: fail, flaky: map[string]bool{}}
	return w, w.grow(rand.New(rand.NewPCG(seed, 1)), 4)
}

// run runs the workflow of a world and tells how it ended.
func (w *world) run(t testing.TB, ctx context.Context, s *shape, opts ...runtime.Option) string {
	t.Helper()
	rt, err := flow.New(&flow.Info{Name: "w", Nodes: w.nodes}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Start(ctx)
	out, err := w.body(r, s, "in")
	r.End(&err)
	if err != nil {
		return "error " + err.Error()
	}
	return out
}
