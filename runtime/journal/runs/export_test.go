package runs

import "testing"

// SmallFiles keeps values from this size on in files of their own, for the time of a test.
func SmallFiles(t *testing.T, size int) {
	before := large
	large = size
	t.Cleanup(func() { large = before })
}
