package program

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// many is the number of packages from which a build is worth a word. What a changed workflow compiles is fewer: its own
// package, a main, and the user's tools.
const many = 8

// A progress takes what `go build -v` writes to stderr and tells the user about a long build: the first one compiles the
// runtime and what it needs of the standard library, which takes a minute on a small machine. The rest of the text is kept
// for error messages. It must not be used by several builds.
type progress struct {
	out     io.Writer // nil: nobody is told
	name    string    // what is built
	live    bool      // out is a terminal: the line is written over
	begin   time.Time
	line    []byte       // the incomplete last one
	kept    bytes.Buffer // all but the names of packages
	count   int          // packages
	fetched bool         // a download was reported
}

func newProgress(out io.Writer, file string) *progress {
	p := &progress{out: out, name: programName(file), begin: time.Now()}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		p.live = true
	}
	return p
}

// Write implements io.Writer and does not fail.
func (p *progress) Write(text []byte) (int, error) {
	p.line = append(p.line, text...)
	for {
		i := bytes.IndexByte(p.line, '\n')
		if i < 0 {
			return len(text), nil
		}
		p.read(string(p.line[:i+1]))
		p.line = p.line[i+1:]
	}
}

// read takes one line. The name of a package has no space and no colon; all that the go command has to say does.
func (p *progress) read(line string) {
	text := strings.TrimRight(line, "\r\n")
	switch {
	case strings.HasPrefix(text, "go: downloading "):
		p.kept.WriteString(line)
		if !p.fetched {
			p.fetched = true
			p.say("downloading the modules of %s", p.name)
		}
	case text == "" || strings.ContainsAny(text, " :#\t"):
		p.kept.WriteString(line)
	default:
		if p.count++; p.count == many || p.live && p.count > many {
			p.say("compiling %s and the packages it needs, the first time only", p.name)
		}
	}
}

func (p *progress) say(format string, args ...any) {
	switch {
	case p.out == nil:
	case p.live:
		text := fmt.Sprintf(format, args...)
		if p.count > 0 {
			text += fmt.Sprintf(": %d", p.count)
		}
		fmt.Fprintf(p.out, "\r\x1b[Kflowgen: %s", text)
	default:
		fmt.Fprintf(p.out, "flowgen: "+format+"\n", args...)
	}
}

// done ends the report and returns what else was written.
func (p *progress) done() string {
	p.kept.Write(p.line)
	p.line = nil
	if p.out != nil && p.live && (p.count >= many || p.fetched) {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	if p.out != nil && p.count >= many {
		fmt.Fprintf(p.out, "flowgen: compiled %d packages in %v\n", p.count, time.Since(p.begin).Round(time.Second))
	}
	return p.kept.String()
}
