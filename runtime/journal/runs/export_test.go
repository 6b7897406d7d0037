package runs

import "testing"

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
