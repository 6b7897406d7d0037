package journal

import "hash/maphash"

// table finds records by key and attempt. The key is in the record alone: a map that has it, too, takes twice as much.
type table struct {
	seed maphash.Seed
	by   map[uint64]*kept // the sum of key and attempt
	rest map[id]*kept     // those whose sum another one has
}

type id struct {
	key     string
	attempt int
}

func newTable() *table { return &table{seed: maphash.MakeSeed(), by: map[uint64]*kept{}} }

// sumOf is a variable for a test in which all records have the same.
var sumOf = func(seed maphash.Seed, key string, attempt int) uint64 {
	return maphash.String(seed, key) + uint64(attempt)*0x9E3779B97F4A7C15
}

func (t *table) len() int {
	if t == nil {
		return 0
	}
	return len(t.by) + len(t.rest)
}

func (t *table) get(key string, attempt int) *kept {
	if t == nil {
		return nil
	}
	if e := t.by[sumOf(t.seed, key, attempt)]; e != nil && e.key == key && int(e.attempt) == attempt {
		return e
	}
	return t.rest[id{key, attempt}]
}

// put adds a record, or replaces that of the same key and attempt.
func (t *table) put(e *kept) {
	sum := sumOf(t.seed, e.key, int(e.attempt))
	k := id{e.key, int(e.attempt)}
	if there := t.by[sum]; there == nil || there.key == e.key && there.attempt == e.attempt {
		delete(t.rest, k)
		t.by[sum] = e
		return
	}
	if t.rest == nil {
		t.rest = map[id]*kept{}
	}
	t.rest[k] = e
}

func (t *table) remove(e *kept) {
	if sum := sumOf(t.seed, e.key, int(e.attempt)); t.by[sum] == e {
		delete(t.by, sum)
		return
	}
	delete(t.rest, id{e.key, int(e.attempt)})
}

// all yields the records in no order. What it has yielded may be removed meanwhile.
func (t *table) all(yield func(*kept) bool) {
	if t == nil {
		return
	}
	for _, e := range t.by {
		if !yield(e) {
			return
		}
	}
	for _, e := range t.rest {
		if !yield(e) {
			return
		}
	}
}
