package cli

import (
	"io"
	"strings"
	"sync"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
)

// logView says whether what programs print is shown, and whether that is done of calls that a journal answers.
type logView struct{ on, replays bool }

// lines are those of an event that are to be shown.
func (v logView) lines(e *runtime.Event) []string {
	if !v.on || e.Kind != runtime.Logged || e.Replayed && !v.replays {
		return nil
	}
	return logLines(e.Key, e.Attempt, e.Text)
}

// logLines are lines of text that a program has printed, each with its call, harmless for a terminal.
func logLines(key string, attempt int, text string) (out []string) {
	head := safe(key)
	if attempt > 1 {
		head += " attempt " + itoa(attempt)
	}
	for line := range strings.Lines(text) {
		line = strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "  ")
		out = append(out, head+" | "+plain.Line(line, len(line)))
	}
	return out
}

// logsOnly shows what programs print and no progress.
type logsOnly struct {
	logView
	mu sync.Mutex
	w  io.Writer
}

func (l *logsOnly) Observe(e runtime.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines(&e) {
		_, _ = io.WriteString(l.w, line+"\n") // logs are no reason to fail
	}
}

func (l *logsOnly) close(error) {}

// logs are what the programs of calls have printed, call by call.
func (t *sheet) logs(calls callList) {
	for n := range calls.len() {
		c := calls.at(n)
		for _, line := range logLines(c.Key, c.Attempt, c.Logs) {
			t.b.WriteString(line + "\n")
		}
	}
}
