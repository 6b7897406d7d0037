//go:build linux && (amd64 || arm64)

package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/flowgen-dev/flowgen/runtime/internal/isolate"
	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
)

// kernelMemory is what gVisor takes itself, besides the memory of the tool.
const kernelMemory = 128 << 20

// A kernelBox is one process in gVisor and what belongs to it.
type kernelBox struct {
	*box
	runsc string
	base  string // its folder: root, private, state, config.json
	id    string // of the container

	mounts []mount
}

func (k *Kernel) start(cmd *exec.Cmd, need isolate.Need) (*proc.Child, error) {
	runsc, err := findRunsc()
	if err != nil {
		return nil, err
	}
	b := &kernelBox{runsc: runsc, box: &box{limits: k.Limits.fill(), warm: need.Warm}}
	return begin(b, cmd, append(append([]string(nil), k.Read...), need.Read...))
}

// findRunsc is the program of gVisor. A name that leads into the working directory is refused.
func findRunsc() (string, error) {
	name := os.Getenv(RunscVariable)
	if name == "" {
		name = "runsc"
	}
	path, err := exec.LookPath(name)
	if err == nil && !filepath.IsAbs(path) {
		err = exec.ErrDot
	}
	if err != nil {
		return "", failed("gVisor is missing: %s was not found (%v). Install it with `%s`, or set %s to its path", name, reasonOf(err), Runsc, RunscVariable)
	}
	return path, nil
}

func reasonOf(err error) error {
	var e *exec.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// prepare makes the folder of the bundle, with the private directory in it.
func (b *kernelBox) prepare() error {
	if err := b.box.prepare(); err != nil {
		return err
	}
	b.base = b.dir
	b.id = filepath.Base(b.base)
	b.dir = filepath.Join(b.base, "private")
	err := os.Mkdir(b.dir, 0o700)
	if err = cmp.Or(err, os.Mkdir(b.state(), 0o700), os.Mkdir(b.root(), 0o755), os.Chmod(b.root(), 0o755)); err != nil {
		b.remove()
		return failed("no private directory: %v", syscallText(err))
	}
	if b.uid != 0 {
		if err := os.Chown(b.dir, b.uid, b.uid); err != nil {
			b.remove()
			return failed("no private directory: %v", syscallText(err))
		}
	}
	return nil
}

func (b *kernelBox) root() string  { return filepath.Join(b.base, "root") }
func (b *kernelBox) state() string { return filepath.Join(b.base, "state") }
func (b *kernelBox) log() string   { return filepath.Join(b.base, "log") }

// flags are those of runsc for all commands. Started by an ordinary user, runsc makes a user namespace.
func (b *kernelBox) flags() []string {
	flags := []string{"--root=" + b.state(), "--log=" + b.log(), "--network=none", "--gofer-network-namespace=new", "--platform=systrap", "--overlay2=none", "--host-uds=none", "--host-fifo=none"}
	if b.uid == 0 {
		flags = append(flags, "--rootless")
	}
	if !cgroups() {
		flags = append(flags, "--ignore-cgroups")
	}
	return flags
}

// launch starts runsc in the place of the command.
func (b *kernelBox) launch(cmd *exec.Cmd) (*proc.Child, error) {
	if err := b.bundle(cmd); err != nil {
		return nil, err
	}
	was := *cmd
	defer func() { // those who read it later see the tool's command
		cmd.Path, cmd.Args, cmd.Env, cmd.Dir = was.Path, was.Args, was.Env, was.Dir
	}()
	cmd.Path, cmd.Err, cmd.Dir = b.runsc, nil, b.base
	cmd.Env = []string{"PATH=" + systemPath, "TMPDIR=" + b.base}
	cmd.Args = append(append([]string{b.runsc}, b.flags()...), "run", "--bundle="+b.base)
	for i := range cmd.ExtraFiles {
		cmd.Args = append(cmd.Args, fmt.Sprintf("--pass-fd=%d:%d", 3+i, 3+i))
	}
	cmd.Args = append(cmd.Args, b.id)
	child, err := proc.Start(cmd) // the sandbox ends with runsc
	if err != nil {
		return nil, failed("gVisor could not be started: %v", reason(err))
	}
	return child, nil
}

// release removes what belonged to the process, and says why it ended when that was not its own doing.
func (b *kernelBox) release() error {
	over := b.watch.end()
	defer b.remove()
	if left, _ := filepath.Glob(filepath.Join(b.state(), "*.state")); len(left) > 0 { // runsc was killed
		remove := exec.Command(b.runsc, append(b.flags(), "delete", "--force", b.id)...)
		remove.Env, remove.Dir, remove.WaitDelay = []string{"PATH=" + systemPath}, b.base, time.Second
		_ = remove.Run()
	}
	if cgroups() { // of a runsc that was killed before it knew that it had them
		for _, group := range groups(b.id) {
			_ = unix.Rmdir(group)
		}
	}
	if why := b.complaint(); over == nil && why != "" {
		return failed("gVisor could not run the tool: %s", why)
	}
	return over
}

// complaint is the last error in the log of runsc.
func (b *kernelBox) complaint() string {
	text, err := os.ReadFile(b.log())
	if err != nil {
		return ""
	}
	const mark = "FATAL ERROR: "
	at := strings.LastIndex(string(text), mark)
	if at < 0 {
		return ""
	}
	line, _, _ := strings.Cut(string(text[at+len(mark):]), "\n")
	return line[:min(len(line), maxComplaint)]
}

// kernelProof remembers what the trial found, for the runsc that it found.
var kernelProof struct {
	mu    sync.Mutex
	runsc string
	err   error
	at    time.Time
}

// kernelAvailable proves once that gVisor isolates on this machine. A failure is tried again after a while.
func kernelAvailable() error {
	runsc, err := findRunsc()
	if err != nil {
		return err
	}
	p := &kernelProof
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.runsc == runsc && (p.err == nil || time.Since(p.at) < retrial) {
		return p.err
	}
	p.err = tryKernel()
	p.runsc, p.at = runsc, time.Now()
	return p.err
}
