package proc

import (
	"bytes"
	"strings"
	"testing"
)

func TestTailCutsBetweenCharacters(t *testing.T) {
	var w Tail
	for range 3 * TailBytes {
		_, _ = w.Write([]byte("é"))
		_, _ = w.Write([]byte("日"))
	}
	if got := w.Text(); strings.ContainsRune(got, '\uFFFD') || len(got) > TailBytes || len(got) < TailBytes-4 {
		t.Errorf("%d bytes, starts with %q", len(got), got[:10])
	}
	_, _ = w.Write(bytes.Repeat([]byte("x"), 10*TailBytes))
	if got := w.Text(); got != strings.Repeat("x", TailBytes) {
		t.Errorf("one large write: %d bytes", len(got))
	}
}
