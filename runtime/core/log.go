package core

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

// Bounds of what programs print besides their results, in bytes.
const (
	keptHead   = 16 << 10 // kept of the beginning of an attempt
	keptTail   = 48 << 10 // and of its end
	keptOfRun  = 16 << 20 // kept of all attempts of a run
	shownLogs  = 1 << 20  // shown of an attempt
	longestLog = 8 << 10  // shown of a line at a time
)

// Logs reports whether a journal keeps, or an observer sees, what is given to Log.
func (i Invocation) Logs() bool {
	if i.call == nil {
		return false
	}
	r, _ := i.call.place()
	return r.observed() || r.keepsLogs()
}

// Log takes what the program of the running tool prints besides its result: its standard error, for example. Observers
// get it as Logged events, line by line, 1 MiB of an attempt at most; a journal keeps the first 16 KiB and the last
// 48 KiB of an attempt, 16 MiB of a run, and how much was dropped. Secrets are taken out. Log does not retain p.
func (i Invocation) Log(p []byte) {
	if len(p) == 0 || !i.Logs() {
		return
	}
	r, _ := i.call.place()
	h := i.call.Head()
	attaching.Lock()
	if h.bounds != nil && h.bounds.state.Load() == left { // nobody waits for the function
		attaching.Unlock()
		return
	}
	b := h.metadata()
	if b.logs == nil {
		b.logs = &logs{run: r, head: h, keeps: r.keepsLogs()}
		b.logs.clean = r.state.rt.redactor.Load().Writer(cleanLogs{b.logs})
	}
	l := b.logs
	attaching.Unlock()
	l.write(p)
}

// keepsLogs reports whether the engine records.
func (r *Run) keepsLogs() bool {
	if r.eng == nil {
		return false
	}
	_, plain := r.eng.(Goroutines)
	return !plain
}

// logs is what the program of one attempt has printed. It is safe for concurrent use.
type logs struct {
	run   *Run
	head  *Head
	keeps bool

	mu      sync.Mutex
	clean   io.WriteCloser // takes secrets out and passes the rest to cleanLogs
	over    bool
	first   []byte
	last    []byte
	dropped int64  // between first and last
	line    []byte // that has not been shown, because its end has not come
	shown   int
}

func (l *logs) write(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	if _, err := l.clean.Write(p); err != nil {
		l.over = true // what a program prints is no reason to fail
	}
}

// end returns what is kept.
func (l *logs) end() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over {
		l.over = true
		_ = l.clean.Close()
	}
	l.show(len(l.line))
	if !l.keeps {
		return ""
	}
	if more := len(l.last) - keptTail; more > 0 {
		l.dropped += int64(more)
		l.last = l.last[more:]
	}
	text := string(l.first) + string(l.last)
	if l.dropped > 0 {
		text = string(l.first) + droppedLogs(l.dropped) + string(l.last)
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if n := int64(len(text)); l.run.state.logged.Add(n) > keptOfRun {
		return droppedLogs(l.dropped + n)
	}
	return text
}

func droppedLogs(n int64) string { return fmt.Sprintf("\n[%d bytes dropped]\n", n) }

// cleanLogs takes text without secrets.
type cleanLogs struct{ *logs }

func (x cleanLogs) Write(p []byte) (int, error) {
	if x.keeps {
		x.keep(p)
	}
	if x.run.observed() && x.shown < shownLogs {
		x.line = append(x.line, p...)
		switch end := bytes.LastIndexByte(x.line, '\n') + 1; {
		case end > 0:
			x.show(end)
		case len(x.line) > longestLog:
			x.show(wholeRunes(x.line))
		}
	}
	return len(p), nil
}

func (l *logs) keep(p []byte) {
	n := min(len(p), keptHead-len(l.first))
	l.first = append(l.first, p[:n]...)
	l.last = append(l.last, p[n:]...)
	if more := len(l.last) - keptTail; more > keptTail {
		l.dropped += int64(more)
		l.last = l.last[:copy(l.last, l.last[more:])]
	}
}

// show gives the first n bytes of line to observers.
func (l *logs) show(n int) {
	if n == 0 {
		return
	}
	text := strings.ToValidUTF8(string(l.line[:n]), "\uFFFD")
	l.line = append(l.line[:0], l.line[n:]...)
	if l.shown += n; l.shown >= shownLogs {
		text += fmt.Sprintf("\n[more than %d bytes: the rest is not shown]\n", shownLogs)
		l.line = nil
	}
	l.run.logged(l.head, text)
}

func (r *Run) logged(h *Head, text string) {
	if r.observed() {
		r.emit(Event{Kind: Logged, Key: h.Key(), Node: h.Node, Tool: h.Tool, Time: r.Now(), Attempt: int(h.Attempt), Replayed: h.Replayed, Text: text})
	}
}
