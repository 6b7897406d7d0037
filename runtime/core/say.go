package core

import (
	"io"
	"sync"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/usage"
)

// spent is what the call took whose output ptr points to; nil when neither the output nor the tool says.
func spent(o Op, ptr any) *usage.Usage {
	if s, ok := ptr.(usage.Spender); ok {
		return s.Spent()
	}
	if c, ok := o.(caller); ok && ptr != nil {
		if _, t := c.place(); t.spends != nil {
			return t.spends(ptr)
		}
	}
	return nil
}

// maxSaid bounds what is shown of what one attempt says, in bytes.
const maxSaid = 1 << 20

// Says returns where the running tool writes the text that it produces, piece by piece, for those who watch: each piece
// becomes an Output event, without secrets. It is nil when nobody observes the run. The tool closes it when it has said
// everything; what comes later is dropped, and so is what is more than 1 MiB. Nothing of it is recorded.
func (i Invocation) Says() io.WriteCloser {
	if i.call == nil {
		return nil
	}
	r, _ := i.call.place()
	if !r.observed() {
		return nil
	}
	s := &said{run: r, head: i.call.Head()}
	s.clean = r.state.rt.redactor.Load().Writer(pieces{s})
	return s
}

// said is safe for concurrent use.
type said struct {
	run  *Run
	head *Head

	mu    sync.Mutex
	clean io.WriteCloser // takes secrets out and passes the rest to pieces
	total int
	over  bool
	part  []byte // the beginning of a character
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.total += len(p); s.over || s.total > maxSaid {
		return len(p), nil
	}
	if _, err := s.clean.Write(p); err != nil {
		s.over = true // watching is no reason to fail
	}
	return len(p), nil
}

func (s *said) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.over = true
		return s.clean.Close()
	}
	return nil
}

// pieces makes events of text, in whole characters.
type pieces struct{ *said }

func (x pieces) Write(p []byte) (int, error) {
	text := append(x.part, p...)
	whole := wholeRunes(text)
	if whole > 0 {
		h := x.head
		x.run.emit(Event{Kind: Output, Key: h.Key(), Node: h.Node, Tool: h.Tool, Time: x.run.Now(), Attempt: int(h.Attempt), Text: string(text[:whole])})
	}
	x.part = append([]byte(nil), text[whole:]...)
	return len(p), nil
}

// wholeRunes is the length of text without the beginning of a character at its end.
func wholeRunes(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if utf8.RuneStart(text[len(text)-n]) {
			if !utf8.FullRune(text[len(text)-n:]) {
				return len(text) - n
			}
			break
		}
	}
	return len(text)
}
