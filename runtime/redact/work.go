package redact

import "sync"

// work is what a search needs while it runs. Searches take turns with it.
type work struct {
	levels [1 + 4]level // by the number of bytes read: a symbol has up to four
	memo   [memoSize]memo
	one    symbols // of a place where no escape begins
	turn   uint32  // memos of other turns are void
	used   int     // how many are not
	steps  int     // how many places and digits were read, for tests
}

// memo is what may be at a place: rows of escapes are read again from each place, so that reading them costs the same
// only if each place is read once.
type memo struct {
	key   uint64
	turn  uint32
	ended bool
	symbols
}

const memoSize = 1 << 10

var works = sync.Pool{New: func() any { return new(work) }}

// begin voids all memos.
func (w *work) begin() {
	w.turn++
	w.used = 0
	if w.turn == 0 {
		clear(w.memo[:])
		w.turn = 1
	}
}

// find returns the memo of key, nil if there is none.
func (w *work) find(key uint64) *memo {
	for i := key * 0x9E3779B97F4A7C15 >> 54; ; i++ {
		m := &w.memo[i%memoSize]
		if m.turn != w.turn {
			return nil
		}
		if m.key == key {
			return m
		}
	}
}

// keep returns a new memo for key. It forgets the others when they are too many.
func (w *work) keep(key uint64) *memo {
	if w.used == memoSize*3/4 {
		w.begin()
	}
	w.used++
	w.steps++
	i := key * 0x9E3779B97F4A7C15 >> 54
	for w.memo[i%memoSize].turn == w.turn {
		i++
	}
	m := &w.memo[i%memoSize]
	m.key, m.turn = key, w.turn
	return m
}
