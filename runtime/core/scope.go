package core

import (
	"strconv"
	"sync"
	"sync/atomic"
)

// Scope is one place in the tree of map items, loop iterations and sub-workflows. It counts the visits of its nodes.
// Scopes exist only when an engine is attached; a nil *Scope is the root of a run without one.
type Scope struct {
	parent *Scope
	node   *Node
	item   int   // -1: a sub-workflow, transparent: see there
	visit  int32 // of node in parent

	dense []atomic.Int32 // root scope: one counter per node of the table

	mu    sync.Mutex // guards the following
	few   [4]counter // most scopes hold few nodes
	many  map[*Node]int32
	draws map[*Node]int32
}

type counter struct {
	node  *Node
	count int32
}

// transparent marks a scope that is not seen in keys: it holds a visit that its parent has counted.
const transparent = -2

// Path returns the scope's part of the keys inside it: "" or "probe[3]/", "pub/", "refine#2[0]/pub/".
func (s *Scope) Path() string { return s.path() }

func (s *Scope) path() string {
	var room [64]byte
	return string(s.appendPath(room[:0]))
}

func (s *Scope) appendPath(b []byte) []byte {
	if s == nil || s.parent == nil {
		return b
	}
	b = s.parent.appendPath(b)
	if s.item == transparent {
		return b
	}
	b = appendVisited(b, s.node.ID, s.visit)
	if s.item >= 0 {
		b = append(strconv.AppendInt(append(b, '['), int64(s.item), 10), ']')
	}
	return append(b, '/')
}

// key is that of a visit of the node of that id.
func (s *Scope) key(id string, visit int32) string {
	var room [64]byte
	return string(appendVisited(s.appendPath(room[:0]), id, visit))
}

// appendVisited appends an id, and the visit from 2 on.
func appendVisited(b []byte, id string, visit int32) []byte {
	b = append(b, id...)
	if visit <= 1 {
		return b
	}
	return strconv.AppendInt(append(b, '#'), int64(visit), 10)
}

// enter counts one more visit of n and returns its number, from 1.
func (s *Scope) enter(n *Node) int32 {
	if s == nil {
		return 1
	}
	if i := n.Index; i >= 0 && i < len(s.dense) {
		return s.dense[i].Add(1)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.slot(n, 1)
}

// current returns the number of n's latest visit, at least 1.
func (s *Scope) current(n *Node) int32 {
	if i := n.Index; i >= 0 && i < len(s.dense) {
		return max(1, s.dense[i].Load())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(1, *s.slot(n, 0))
}

// slot adds d to n's counter and returns it; s.mu is held.
func (s *Scope) slot(n *Node, d int32) *int32 {
	for i := range s.few {
		c := &s.few[i]
		if c.node == nil {
			c.node = n
		}
		if c.node == n {
			c.count += d
			return &c.count
		}
	}
	if s.many == nil {
		s.many = map[*Node]int32{}
	}
	v := s.many[n] + d
	s.many[n] = v
	return &v
}

// draw counts the random numbers drawn for n.
func (s *Scope) draw(n *Node) int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draws == nil {
		s.draws = map[*Node]int32{}
	}
	s.draws[n]++
	return s.draws[n]
}
