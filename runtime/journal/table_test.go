package journal

import (
	"hash/maphash"
	"testing"

	"pgregory.net/rapid"
)

// A table is a map of records by key and attempt, also where sums are the same.
func TestTable(t *testing.T) {
	before := sumOf
	defer func() { sumOf = before }()
	for _, sums := range []uint64{1, 3, 1 << 60} {
		sumOf = func(_ maphash.Seed, key string, attempt int) uint64 { return uint64(len(key)*7+attempt) % sums }
		rapid.Check(t, func(t *rapid.T) {
			table, want := newTable(), map[id]*kept{}
			for range rapid.IntRange(0, 40).Draw(t, "steps") {
				key, attempt := rapid.SampledFrom([]string{"a", "b", "cc", "dd", "eee"}).Draw(t, "key"), rapid.IntRange(1, 3).Draw(t, "attempt")
				switch e := table.get(key, attempt); {
				case e != want[id{key, attempt}]:
					t.Fatalf("%s, %d is %v, not %v", key, attempt, e, want[id{key, attempt}])
				case e != nil && rapid.Bool().Draw(t, "remove"):
					table.remove(e)
					delete(want, id{key, attempt})
				default:
					e = &kept{key: key, attempt: int32(attempt)}
					table.put(e)
					want[id{key, attempt}] = e
				}
			}
			n := 0
			for e := range table.all {
				if n++; want[id{e.key, int(e.attempt)}] != e {
					t.Fatalf("%s, %d is not there", e.key, e.attempt)
				}
			}
			if n != len(want) || table.len() != n {
				t.Fatalf("%d records of %d, %d", n, len(want), table.len())
			}
		})
	}
}
