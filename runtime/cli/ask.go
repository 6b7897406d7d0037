package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// maxLine bounds one line of answers, so that an endless one takes no more.
const maxLine = 1 << 20

// person asks the questions of human nodes, one after the other: at the
// terminal, or the lines of a file (see filed). It never waits for somebody who is not
// there: where neither is given a question has no answer.
type person struct {
	s    *system
	file io.Reader // answers; nil: ask at the terminal
	hold holder    // the progress display, which must not draw over a question; may be nil
	mute bool      // questions are events only, because standard error is for machines

	who  *askers             // of the workflow
	kept map[string][]string // answers of the file that are for others, by name; for who has the turn

	turn  chan struct{} // held while a question is open
	once  sync.Once
	lines chan string   // of a file
	ended chan struct{} // closed when there are no more lines
	done  chan struct{}

	mu   sync.Mutex
	open chan string // lines typed for the open question; nil: none is open
}

// holder is a display that can keep still.
type holder interface {
	// pause leaves the terminal to a question until resume is called.
	pause()
	resume()
}

func newPerson(s *system, f *runFlags, shown display, plan string) (*person, *mistake) {
	p := &person{s: s, kept: map[string][]string{}, mute: f.jsonEvents, turn: make(chan struct{}, 1), lines: make(chan string), ended: make(chan struct{}), done: make(chan struct{})}
	p.hold, _ = shown.(holder)
	switch f.answers {
	case "":
	case "-":
		p.file = s.stdin
	default:
		file, err := os.Open(f.answers)
		if err != nil {
			return nil, &mistake{"cannot read " + f.answers + ": " + err.Error(), ""}
		}
		p.file = file
	}
	if p.file != nil {
		p.who = askersOf(plan)
	}
	return p, nil
}

// close gives up the answers that nobody asked for.
func (p *person) close() {
	close(p.done)
	if c, ok := p.file.(*os.File); ok && p.file != p.s.stdin {
		_ = c.Close()
	}
}

func (p *person) ask(ctx context.Context, q runtime.Question) (string, error) {
	if p.file == nil && !p.s.typing() {
		return "", runtime.Nobody("the question needs a terminal; pass answers with --answers")
	}
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if p.hold != nil {
		p.hold.pause()
		defer p.hold.resume()
	}
	lines := p.begin()
	defer p.end()
	p.say(question(q))
	for {
		answer, err := p.next(ctx, lines)
		if err != nil {
			if !p.mute && p.file == nil {
				p.say("\n") // the question's line has no end yet
			}
			return "", err
		}
		if p.file != nil {
			p.say(safe(p.s.clean(answer)) + "\n")
		}
		wrong := q.Check(answer)
		if wrong == nil {
			return answer, nil
		}
		var te *value.ToolError
		if errors.As(wrong, &te) {
			p.say(safe(te.Message) + "\n" + prompt(q))
		}
	}
}

// next is the next line for the open question.
func (p *person) next(ctx context.Context, lines <-chan string) (string, error) {
	if p.file != nil {
		return p.filed(ctx, tool.Context(ctx).Key())
	}
	return p.line(ctx, lines)
}

// aheadMost is how many lines can be typed ahead of a question that asks again.
const aheadMost = 64

// begin opens a question: what is typed from now on is for it.
func (p *person) begin() <-chan string {
	lines := p.lines
	if p.file == nil {
		lines = make(chan string, aheadMost)
		p.mu.Lock()
		p.open = lines
		p.mu.Unlock()
	}
	p.once.Do(func() { go p.read() })
	return lines
}

func (p *person) end() {
	p.mu.Lock()
	p.open = nil
	p.mu.Unlock()
}

// read hands over lines as they come. Of a terminal those that were typed while no question was open go nowhere: the
// next question must not take the late answer to another.
func (p *person) read() {
	defer close(p.ended)
	from := p.file
	if from == nil {
		from = p.s.stdin
	}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if p.file == nil {
			p.typed(lines.Text())
			continue
		}
		select {
		case p.lines <- lines.Text():
		case <-p.done:
			return
		}
	}
}

func (p *person) typed(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case p.open <- line: // never while no question is open: the channel is nil
	default:
	}
}

func (p *person) line(ctx context.Context, lines <-chan string) (string, error) {
	select {
	case text := <-lines:
		return text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	case <-p.ended:
	}
	select {
	case text := <-lines: // typed before the end
		return text, nil
	default:
		return "", runtime.Nobody("--answers has no answer left")
	}
}

func (p *person) say(text string) {
	if !p.mute {
		_, _ = io.WriteString(p.s.stderr, text) // who does not see the question cannot answer it
	}
}

// question is a question with what can be answered. A text of several lines keeps them.
func question(q runtime.Question) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(q.Text, "\n")) {
		b.WriteString(safe(strings.TrimRight(line, "\r\n")) + "\n")
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if strings.Contains(text, "\n") {
		return "? " + text + "\n" + prompt(q)
	}
	return "? " + text + " " + prompt(q)
}

// prompt is what is before an answer.
func prompt(q runtime.Question) string {
	switch {
	case q.Choices != nil:
		shown := make([]string, len(q.Choices))
		for i, c := range q.Choices {
			shown[i] = safe(c)
		}
		return "[" + strings.Join(shown, "/") + "] "
	case q.Type == "bool":
		return "[yes/no] "
	case q.Type == "int":
		return "[integer] "
	case q.Type == "float":
		return "[number] "
	}
	return "> "
}

// typing reports whether somebody can type answers: both ends of a conversation are a terminal.
func (s *system) typing() bool {
	if s.typed != nil {
		return s.typed()
	}
	in, ok := s.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return false
	}
	_, _, seen := s.size()
	return seen
}

// clean is text without secrets.
func (s *system) clean(text string) string {
	if s.redact == nil {
		return text
	}
	return s.redact(text)
}
