package pysource

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:embed probe.py
var probeScript string

const (
	probeTime = 30 * time.Second // for everything that one compilation asks
	maxAnswer = 64 << 20         // bytes of one answer
)

// A probe is a Python that parses source for us. It imports nothing of the user's and runs none of it: -I leaves out the
// current folder and the environment, -S the site packages.
type probe struct {
	cmd    *exec.Cmd
	cancel context.CancelFunc
	in     io.WriteCloser
	out    *bufio.Reader
	hello  hello

	key    string      // what it was started with
	limit  *time.Timer // kills it
	broken bool        // it has ended, or has to
}

// hello says which Python it is.
type hello struct {
	Version string   `json:"version"`
	Library string   `json:"library"` // folder of its own modules
	Path    []string `json:"path"`
	Builtin []string `json:"builtin"` // modules without a file
}

// The errors when there is no interpreter, or none that is run.
var (
	errNoPython    = errors.New("`python3` is not in PATH")
	errNoOwnPython = errors.New("the only `python3` in PATH belongs to the project, whose programs are never run at compile time")
)

// errEnded is the error of a Python that crashed over a source, or took too long.
var errEnded = errors.New("the interpreter ended while it read the source")

// startProbe runs an interpreter. The root of the disk is where it finds nothing of the user's, and no file that tells a
// version manager what to run.
func startProbe(exe string, strange []string) (*probe, error) {
	env := environment(strange)
	key := strings.Join(append(env, exe), "\x00")
	if p := takeIdle(key); p != nil {
		return p, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &probe{cmd: exec.CommandContext(ctx, exe, "-I", "-S", "-W", "ignore", "-c", probeScript), cancel: cancel}
	p.cmd.WaitDelay = time.Second
	p.cmd.Env = env
	p.cmd.Dir = filepath.VolumeName(exe) + string(filepath.Separator)
	p.limited(key, cancel)
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		cancel()
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	if err := p.answer(&p.hello); err != nil {
		p.close()
		return nil, fmt.Errorf("`%s` does not run: %w", filepath.Base(exe), err)
	}
	return p, nil
}

// ask parses one source.
func (p *probe) ask(text string, facts *facts) error {
	request, err := json.Marshal(map[string]string{"source": text})
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(request, '\n')); err != nil {
		p.broken = true
		return errEnded
	}
	err = p.answer(facts)
	p.broken = p.broken || err != nil
	return err
}

func (p *probe) answer(v any) error {
	var line []byte
	for {
		part, err := p.out.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxAnswer:
			return errors.New("the source is too large to describe")
		case err == nil:
			if json.Unmarshal(line, v) != nil {
				return fmt.Errorf("it answers %q", strings.TrimSpace(string(line[:min(len(line), 80)])))
			}
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return errEnded
		}
	}
}

func (p *probe) close() {
	p.limit.Stop()
	_ = p.in.Close()
	p.cancel()
	_ = p.cmd.Wait()
}
