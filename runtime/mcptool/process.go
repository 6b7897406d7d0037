package mcptool

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowgen-dev/flowgen/runtime/internal/locate"
	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

const (
	// grace is how long a server may take to end after its input has ended, and again after SIGTERM.
	grace = 2 * time.Second

	// unasked is how much a server may send beyond the answers it owes, between two requests.
	unasked = 16 << 20
)

type local struct {
	command []string
	env     []envSecret
}

// envSecret is a variable of a server and the secret it holds.
type envSecret struct{ variable, secret string }

// A process is a local server.
type process struct {
	session *session
	child   *proc.Child
	in      *os.File // what we write into
	out     *frames
	err     *os.File
	stderr  proc.Tail
	said    chan struct{} // closed when nothing more comes from err
	exited  chan struct{} // closed when the first process has ended, and is reaped
	end     proc.State    // once it is

	mu    sync.Mutex
	fatal error // why it cannot be used any more
}

// spawn starts the server and makes the transport to it.
func (x *session) spawn() (mcp.Transport, error) {
	p, err := x.run()
	if err != nil {
		return nil, err
	}
	x.process = p
	return &connecting{session: x, wrap: func(c mcp.Connection) mcp.Connection { return &wire{Connection: c, session: x} },
		Transport: &mcp.IOTransport{Reader: p.out, Writer: p.in, MaxLineLength: -1}}, nil // frames bounds the lines
}

func (x *session) run() (*process, error) {
	s := x.server
	if len(s.command) == 0 {
		return nil, value.Invalid("server %s has no command", s.name)
	}
	cmd := exec.Command(locate.Program(s.command[0]), s.command[1:]...)
	cmd.Dir = locate.Root() // its arguments are files of the workflow's folder, too
	cmd.Env = proc.Environment()
	for i, e := range s.env {
		if strings.IndexByte(x.secrets[i], 0) >= 0 {
			return nil, value.Errorf(value.AuthRequired, "secret %s cannot be used in a variable", e.secret)
		}
		cmd.Env = append(cmd.Env, e.variable+"="+x.secrets[i])
	}
	p := &process{session: x, said: make(chan struct{}), exited: make(chan struct{})}
	var ends []*os.File
	pipe := func() (r, w *os.File, err error) {
		if r, w, err = os.Pipe(); err == nil {
			ends = append(ends, r, w)
		}
		return r, w, err
	}
	inR, inW, err1 := pipe()
	outR, outW, err2 := pipe()
	errR, errW, err3 := pipe()
	err := errors.Join(err1, err2, err3)
	if err == nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, errW
		p.child, err = proc.Start(cmd)
	}
	if err != nil {
		proc.CloseAll(ends...)
		return nil, s.notStarted(err)
	}
	proc.CloseAll(inR, outW, errW)
	p.in, p.err = inW, errR
	p.out = &frames{File: outR, process: p, ended: make(chan struct{})}
	go func() {
		defer close(p.said)
		_, _ = io.Copy(&p.stderr, p.err) // a read fails only when stop has closed the pipe: what was read stands
	}()
	go func() {
		defer close(p.exited)
		p.end, _ = p.child.Reap() // with what is left of the group
	}()
	return p, nil
}

// notStarted says why no process came to be.
func (s *Server) notStarted(err error) error {
	return s.fault(value.SandboxError, "server "+s.name+" could not be started: "+shown(filepath.Base(s.command[0]))+": "+plain.Line(proc.Reason(err), messageRunes))
}

// broken tells whether the process cannot be used any more.
func (p *process) broken() bool {
	p.mu.Lock()
	fatal := p.fatal != nil
	p.mu.Unlock()
	select {
	case <-p.exited:
		return true
	default:
		return fatal
	}
}

// giveUp ends the server: err is what calls under way fail with. The first reason stays.
func (p *process) giveUp(err error) {
	p.mu.Lock()
	if p.fatal == nil {
		p.fatal = err
	}
	p.mu.Unlock()
	p.child.Kill()
}

// hungUp tells the errors of a connection whose other end is gone from those of what came over it.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, os.ErrClosed) || errors.Is(err, syscall.EPIPE)
}

// kill ends a server that does not do what it must.
func (p *process) kill(why string) {
	p.giveUp(p.broke(why))
}

func (p *process) broke(why string) error {
	s := p.session.server
	return s.fault(value.SandboxError, "server "+s.name+" was stopped: "+why, p.tailEntry())
}

func (p *process) tailEntry() value.Entry {
	return value.Entry{Key: "stderr", Value: value.String(p.stderr.Text())}
}

// fault is why calls of the server fail, nil when that has other reasons.
func (p *process) fault(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fatal != nil && ctx.Err() != nil { // the call had ended before
		return nil
	}
	return p.fatal
}

// lost is the error of a call during which the connection ended: because the process did, or because of what it wrote.
func (p *process) lost(err error) error {
	s := p.session.server
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if !hungUp(err) {
		return s.fault(value.SandboxError, "server "+s.name+" violates the protocol: "+p.session.line(plain.Misfit(proc.Innermost(err)).Error()), p.tailEntry())
	}
	select {
	case <-p.exited:
	case <-ctx.Done():
		return s.fault(value.SandboxError, "server "+s.name+" closed its output", p.tailEntry())
	}
	for _, last := range []chan struct{}{p.out.ended, p.said} { // what it wrote last may say more
		select {
		case <-last:
		case <-ctx.Done():
		}
	}
	p.mu.Lock()
	fatal := p.fatal
	p.mu.Unlock()
	if fatal != nil {
		return fatal
	}
	message := "server " + s.name + " ended"
	entries := []value.Entry{p.tailEntry()}
	switch {
	case p.end.Lost:
	case p.end.Signal != "":
		message = "server " + s.name + " was killed by " + p.end.Signal
	default:
		message += " with status " + strconv.Itoa(p.end.Code)
		entries = append(entries, value.Entry{Key: "exit_code", Value: value.Int(int64(p.end.Code))})
	}
	if last := plain.Line(lastLine(p.stderr.Text(), p.session.redactor), messageRunes); last != "" {
		message += ": " + last
	}
	return s.fault(value.SandboxError, message, entries...)
}

// stop ends the server as the protocol wants it: its input ends, then SIGTERM, then SIGKILL.
func (p *process) stop() {
	_ = p.in.Close()
	if !proc.Within(grace, p.exited) {
		p.child.Terminate()
		if !proc.Within(grace, p.exited) {
			p.child.Kill()
			<-p.exited
		}
	}
	proc.CloseAll(p.out.File, p.err)
}

// frames is a server's standard output, one message a line. It bounds lines and what comes without being asked for.
type frames struct {
	*os.File
	process *process
	reading sync.Mutex
	line    int // bytes of the line so far
	unasked int // bytes since a request
	asked   int64
	ended   chan struct{} // closed when nothing more is read
	once    sync.Once
	closing sync.Once
}

// Close is called by the client. What the server wrote before is still looked at, as it may say why the server ended;
// stop closes the pipe.
func (f *frames) Close() error {
	f.closing.Do(func() {
		go func() {
			b := make([]byte, 4<<10)
			for err := error(nil); err == nil; {
				_, err = f.Read(b)
			}
		}()
	})
	return nil
}

func (f *frames) Read(b []byte) (n int, err error) {
	f.reading.Lock() // the client's reader may be there yet when the rest is read
	defer f.reading.Unlock()
	defer func() {
		if err != nil {
			f.once.Do(func() { close(f.ended) })
		}
	}()
	n, err = f.File.Read(b)
	x := f.process.session
	if calls := x.requests.Load(); calls != f.asked {
		f.asked, f.unasked = calls, 0
	}
	f.unasked += n
	for rest := b[:n]; len(rest) > 0; {
		if f.line == 0 && !starts(rest[0]) {
			f.process.kill("it wrote output that is not a message: " + plain.Line(f.process.session.redactor.Cut(string(rest[:min(len(rest), 80)])), 80))
			return 0, io.EOF
		}
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			f.line += len(rest)
			break
		}
		f.line = 0
		rest = rest[i+1:]
	}
	if f.line > x.frame || f.unasked > unasked+int(x.calls.Load())*x.frame {
		f.process.giveUp(x.tooLarge())
		return 0, io.EOF
	}
	return n, err
}

// starts tells what a line of the protocol can begin with.
func starts(c byte) bool {
	return c == '{' || c == '[' || c == ' ' || c == '\t' || c == '\r' || c == '\n'
}

// lastLine is the last line of what a server wrote, without secrets.
func lastLine(text string, secrets *redact.Redactor) string {
	lines := strings.Split(strings.TrimSpace(secrets.Cut(text)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
