package core

import (
	"errors"
	"sync/atomic"
)

// Step is one step of Graph. Do decides itself whether the step has anything to do: a skipped step returns nil.
type Step struct {
	Node  *Node
	After []*Node
	Do    func(*Run) error
}

// Graph runs steps that depend on each other: each starts as soon as all in After have ended, without barriers.
// Errors are as in Parallel; no step starts after one that failed. Nodes in After that are not a step count as ended.
func Graph(r *Run, steps ...Step) error {
	g := &graph{steps: steps, next: make([][]int, len(steps)), waits: make([]atomic.Int32, len(steps))}
	place := make(map[*Node]int, len(steps))
	for i, s := range steps {
		place[s.Node] = i
	}
	for i, s := range steps {
		for _, before := range s.After {
			if j, ok := place[before]; ok {
				g.next[j] = append(g.next[j], i)
				g.waits[i].Add(1)
			}
		}
	}
	var ready []int
	for i := range steps {
		if g.waits[i].Load() == 0 {
			ready = append(ready, i)
		}
	}
	if err := g.fork(r, ready); err != nil {
		return g.first.Err()
	}
	if int(g.ended.Load()) < len(steps) {
		return errors.New("runtime: steps of a graph wait for each other")
	}
	return nil
}

// graph needs nothing but Fork: the branch that ends a step's last predecessor goes on with that step.
type graph struct {
	steps []Step
	next  [][]int // steps that wait for this one
	waits []atomic.Int32
	ended atomic.Int32
	first FirstFailure // by step: an inner fork would count branches
}

func (g *graph) fork(r *Run, ready []int) error {
	if len(ready) == 0 {
		return nil
	}
	if len(ready) == 1 {
		return g.chain(r, ready[0])
	}
	return r.carrier().Fork(r, len(ready), len(ready), func(r *Run, i int) error { return g.chain(r, ready[i]) })
}

// chain runs step i and what becomes ready by it.
func (g *graph) chain(r *Run, i int) error {
	for {
		if err := g.steps[i].Do(r); err != nil {
			g.first.Set(i, err)
			return err
		}
		g.ended.Add(1)
		var ready []int
		for _, j := range g.next[i] {
			if g.waits[j].Add(-1) == 0 {
				ready = append(ready, j)
			}
		}
		if len(ready) != 1 {
			return g.fork(r, ready)
		}
		i = ready[0]
	}
}
