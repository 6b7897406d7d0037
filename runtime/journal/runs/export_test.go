package runs

import (
	"encoding/binary"
	"hash/crc32"
	"testing"
)

// SmallFiles keeps values from this size on in files of their own, for the time of a test.
func SmallFiles(t *testing.T, size int) {
	before := large
	large = size
	t.Cleanup(func() { large = before })
}

// SmallJournals bounds journals that are given as files, for the time of a test.
func SmallJournals(t *testing.T, size int) {
	before := maxFile
	maxFile = size
	t.Cleanup(func() { maxFile = before })
}

// SmallValues bounds the values that a journal can refer to, for the time of a test.
func SmallValues(t *testing.T, size int) {
	before := maxInline
	maxInline = size
	t.Cleanup(func() { maxInline = before })
}

// SetLeastIndexed sets from how many bytes on journals have an index, until the function it returns is called.
func SetLeastIndexed(n int64) (back func()) {
	before := leastIndexed
	leastIndexed = n
	return func() { leastIndexed = before }
}

// Indexed makes a new Reader's first step where it is one through an index, and returns how many bytes of the journal that has.
func Indexed(r *Reader) int64 {
	r.index.tried = true
	if !r.load() {
		return 0
	}
	return r.index.has
}

// SumIndex puts the right sum to what may be an index.
func SumIndex(text []byte) []byte {
	if len(text) < 4 {
		return text
	}
	body := text[:len(text)-4]
	return binary.LittleEndian.AppendUint32(body, crc32.Checksum(body, castagnoli()))
}

// LinesKept are the lines that the next List need not read. Each line that is read is another one.
func LinesKept(f *Folder) map[string]any {
	all := map[string]any{}
	for id, l := range f.kept.runs {
		all[id] = l
	}
	return all
}
