package exectool

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// capped keeps what is written to it up to max bytes and closes over when there
// is more. Without keep it is not a result, and goes to the logs.
type capped struct {
	keep bool
	max  int64
	buf  []byte
	over chan struct{}
	full bool
	log  tool.Invocation
}

func (w *capped) Write(p []byte) (int, error) {
	switch {
	case !w.keep:
		w.log.Log(p)
		return len(p), nil
	case w.full:
		return len(p), nil
	}
	if int64(len(w.buf))+int64(len(p)) > w.max {
		w.full = true
		w.buf = nil
		close(w.over)
		return len(p), nil
	}
	w.buf = append(w.buf, p...)
	return len(p), nil
}

func (w *capped) exceeded() bool {
	select {
	case <-w.over:
		return true
	default:
		return false
	}
}

const headBytes = 1 << 10 // enough for the line that goes into the message

// ends keeps the first and the last bytes of what is written to it, and passes it on to the logs.
type ends struct {
	proc.Tail
	head []byte
	log  tool.Invocation
}

func (w *ends) Write(p []byte) (int, error) {
	w.log.Log(p)
	if room := headBytes - len(w.head); room > 0 {
		w.head = append(w.head, p[:min(room, len(p))]...)
	}
	return w.Tail.Write(p)
}

// first returns the first line with anything on it.
func (w *ends) first() string {
	for line := range bytes.Lines(w.head) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return string(line)
		}
	}
	return ""
}

func text(c *Command, out []byte) (string, error) {
	if err := checkUTF8(c, out); err != nil {
		return "", err
	}
	if body, ok := bytes.CutSuffix(out, []byte("\n")); ok && !c.Verbatim {
		out = bytes.TrimSuffix(body, []byte("\r"))
	}
	return string(out), nil
}

func lines(c *Command, out []byte) ([]string, error) {
	if err := checkUTF8(c, out); err != nil {
		return nil, err
	}
	list := make([]string, 0, bytes.Count(out, []byte("\n"))+1)
	for line := range strings.Lines(string(out)) {
		if body, ok := strings.CutSuffix(line, "\n"); ok {
			line = strings.TrimSuffix(body, "\r")
		}
		list = append(list, line)
	}
	return list, nil
}

func checkUTF8(c *Command, out []byte) error {
	if utf8.Valid(out) {
		return nil
	}
	at := 0
	for {
		r, size := utf8.DecodeRune(out[at:])
		if r == utf8.RuneError && size <= 1 {
			return value.Invalid("%s wrote output that is not UTF-8 (byte %d)", c.name(), at)
		}
		at += size
	}
}
