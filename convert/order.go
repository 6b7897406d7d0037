package convert

import "slices"

// An Order is what is known of the order in which nodes run.
type Order[N comparable] struct {
	// Leads are what makes a node run, in a list of its own; none: it always runs.
	Leads func(N) []Lead[N]
	// All says that a node runs when all its leads hold; else when one does.
	All bool
	// Fails reports whether a node may run and leave nothing, and the run goes on.
	Fails func(N) bool
}

// A Lead makes a node run after another.
type Lead[N comparable] struct {
	From N
	Sure bool // it holds whenever From has run
	Fail bool // it holds when From has failed
	Late bool // it only says that the node runs after From
}

// Before reports whether leads put a node after another.
func (o *Order[N]) Before(first, then N) bool {
	return o.follow(then, func(n N, before func(N) bool) bool {
		return slices.ContainsFunc(o.Leads(n), func(l Lead[N]) bool { return l.From == first || before(l.From) })
	})
}

// Always reports whether a node runs in every run that gets so far, and with All whether it does well.
func (o *Order[N]) Always(n N) bool {
	return o.follow(n, func(n N, before func(N) bool) bool {
		if o.All && o.Fails(n) {
			return false
		}
		list := o.makes(n)
		for _, l := range list {
			if sure := l.Sure && before(l.From); sure != o.All {
				return sure
			}
		}
		return o.All || len(list) == 0
	})
}

// makes are the leads that make a node run.
func (o *Order[N]) makes(n N) []Lead[N] {
	return slices.DeleteFunc(o.Leads(n), func(l Lead[N]) bool { return l.Late })
}

// follow calls f for a node, which may ask for the answers about those before it, each of which it gives once.
func (o *Order[N]) follow(n N, f func(n N, before func(N) bool) bool) bool {
	known := map[N]bool{}
	var ask func(N) bool
	ask = func(n N) bool {
		yes, is := known[n]
		if !is {
			known[n] = false // of a circle
			yes = f(n, ask)
			known[n] = yes
		}
		return yes
	}
	return ask(n)
}

// Left reports whether a node has left its result whenever another runs.
func (o *Order[N]) Left(first, then N) bool {
	switch {
	case !o.Before(first, then):
		return false
	case o.All: // else the other would not run
		return true
	}
	return !o.Fails(first) && (o.Always(first) || o.follow(then, func(n N, before func(N) bool) bool { // every way goes through first
		list := o.makes(n)
		for _, l := range list {
			if l.From == first && l.Fail || l.From != first && !before(l.From) {
				return false
			}
		}
		return len(list) > 0
	}))
}
