package worker

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime"
)

const tailBytes = 8 << 10

// tail keeps the last bytes of what is written to it. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	last []byte
	cut  bool
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if n > tailBytes {
		p, t.cut = p[n-tailBytes:], true
	}
	t.last = append(t.last, p...)
	// Moved only when twice as long as needed, so each byte moves at most once or so.
	if len(t.last) > 2*tailBytes {
		t.last = append(t.last[:0], t.last[len(t.last)-tailBytes:]...)
		t.cut = true
	}
	return n, nil
}

// text returns the end of the stream as valid UTF-8.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, cut := t.last, t.cut
	if len(last) > tailBytes {
		last, cut = last[len(last)-tailBytes:], true
	}
	for i := 0; cut && i < utf8.UTFMax && len(last) > 0 && !utf8.RuneStart(last[0]); i++ {
		last = last[1:] // the rest of a character that was cut in two
	}
	return strings.ToValidUTF8(string(last), "\uFFFD")
}

// lastLine returns the line in which an interpreter says why it stops: the last one that names an error, or else the last.
func (t *tail) lastLine(secrets *runtime.Redactor) string {
	lines := strings.Split(strings.TrimSpace(secrets.Cut(t.text())), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if first, _, ok := strings.Cut(lines[i], ":"); ok && strings.Contains(first, "Error") && !strings.Contains(first, " ") {
			return strings.TrimSpace(lines[i])
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}
