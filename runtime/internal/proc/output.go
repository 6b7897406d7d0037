package proc

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// TailBytes is how much of the end of a stream a Tail keeps.
const TailBytes = 8 << 10

// Tail keeps the last bytes of what is written to it. The zero value has none. It is safe for concurrent use.
type Tail struct {
	mu   sync.Mutex
	last []byte
	cut  bool
}

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if n > TailBytes {
		p, t.cut = p[n-TailBytes:], true
	}
	t.last = append(t.last, p...)
	// Moved only when twice as long as needed, so each byte moves at most once or so.
	if len(t.last) > 2*TailBytes {
		t.last = append(t.last[:0], t.last[len(t.last)-TailBytes:]...)
		t.cut = true
	}
	return n, nil
}

// Text returns the end of the stream as valid UTF-8.
func (t *Tail) Text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, cut := t.last, t.cut
	if len(last) > TailBytes {
		last, cut = last[len(last)-TailBytes:], true
	}
	for i := 0; cut && i < utf8.UTFMax && len(last) > 0 && !utf8.RuneStart(last[0]); i++ {
		last = last[1:] // the rest of a character that was cut in two
	}
	return strings.ToValidUTF8(string(last), "\uFFFD")
}
