package convert

// An Order is what is known of the order in which nodes run.
type Order[N comparable] struct {
	// Leads are what makes a node run; none: it always runs.
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
}

// Before reports whether leads put a node after another.
func (o *Order[N]) Before(first, then N) bool {
	seen := map[N]bool{}
	var visit func(N) bool
	visit = func(n N) bool {
		for _, l := range o.Leads(n) {
			if l.From == first {
				return true
			}
			if !seen[l.From] {
				seen[l.From] = true
				if visit(l.From) {
					return true
				}
			}
		}
		return false
	}
	return visit(then)
}

// Always reports whether a node runs in every run that gets so far, and with All whether it does well.
func (o *Order[N]) Always(n N) bool {
	if o.All && o.Fails(n) {
		return false
	}
	list := o.Leads(n)
	for _, l := range list {
		if sure := l.Sure && o.Always(l.From); sure != o.All {
			return sure
		}
	}
	return o.All || len(list) == 0
}

// Left reports whether a node has left its result whenever another runs.
func (o *Order[N]) Left(first, then N) bool {
	switch {
	case !o.Before(first, then):
		return false
	case o.All: // else the other would not run
		return true
	}
	return !o.Fails(first) && (o.Always(first) || o.inevitable(first, then))
}

// inevitable reports whether every way to a node goes through another.
func (o *Order[N]) inevitable(first, then N) bool {
	list := o.Leads(then)
	for _, l := range list {
		if l.From == first && l.Fail || l.From != first && !o.inevitable(first, l.From) {
			return false
		}
	}
	return len(list) > 0
}
