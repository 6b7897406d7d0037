package cli

import (
	"io"
	"strings"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
)

// beatEvery is how often a log says what is running, when it says nothing else. Build servers stop jobs that are silent.
const beatEvery = 30 * time.Second

// lines writes one line when a node has ended, for logs and pipes, and one every beatEvery about those that run.
type lines struct {
	w    io.Writer
	now  func() time.Time
	logs logView

	mu      sync.Mutex
	held    *strings.Builder // lines that wait for the end of a question; nil: none is open
	running []active         // in the order of their beginnings
	ledger

	stop, ended chan struct{}
}

// active is a node that has not ended.
type active struct {
	key   string
	begin time.Time
}

func newLines(s *system, logs logView) *lines {
	l := &lines{w: s.stderr, now: s.now, logs: logs, stop: make(chan struct{}), ended: make(chan struct{})}
	beats, stopBeats := s.beats()
	go func() {
		defer close(l.ended)
		defer stopBeats()
		for {
			select {
			case <-beats:
				l.beat()
			case <-l.stop:
				return
			}
		}
	}()
	return l
}

func (l *lines) pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = new(strings.Builder)
}

func (l *lines) resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.WriteString(l.w, l.held.String())
	l.held = nil
}

func (l *lines) Observe(e runtime.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e.Kind {
	case runtime.NodeStart:
		if !l.inMap(e.Key) {
			l.running = append(l.running, active{e.Key, l.now()})
		}
	case runtime.NodeEnd:
		for i, r := range l.running {
			if r.key == e.Key {
				l.running = append(l.running[:i], l.running[i+1:]...)
				break
			}
		}
	}
	for _, line := range l.logs.lines(&e) {
		l.put(line + "\n")
	}
	l.write(l.record(e))
}

// write writes lines; l.mu is held.
func (l *lines) write(list []entry) {
	var b strings.Builder
	for _, n := range list {
		line := outcomeWords[n.outcome] + n.text
		if about := n.about(); about != "" {
			line += " " + about
		}
		b.WriteString(line + "\n")
	}
	l.put(b.String())
}

// put writes text, or keeps it for the end of a question; l.mu is held.
func (l *lines) put(text string) {
	switch {
	case text == "":
		return
	case l.held != nil:
		l.held.WriteString(text)
		return
	}
	_, _ = io.WriteString(l.w, text) // progress is no reason to fail
}

// maxBeat is how many nodes a line about what is running names.
const maxBeat = 5

// beat writes what is running. A question that is open says so itself.
func (l *lines) beat() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(l.rest(nil))
	if len(l.running) == 0 || l.held != nil {
		return
	}
	now := l.now()
	var parts []string
	for _, r := range l.running[:min(maxBeat, len(l.running))] {
		text := safe(r.key) + " " + duration(now.Sub(r.begin))
		if m := l.maps[r.key]; m.total > 0 {
			text += " (" + m.String() + " items)"
		}
		parts = append(parts, text)
	}
	if more := len(l.running) - maxBeat; more > 0 {
		parts = append(parts, itoa(more)+" more")
	}
	_, _ = io.WriteString(l.w, "running   "+strings.Join(parts, ", ")+"\n")
}

func (l *lines) close(err error) {
	close(l.stop)
	<-l.ended
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(l.rest(err))
}
