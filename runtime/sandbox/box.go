//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/flowgen-dev/flowgen/runtime/internal/isolate"
	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
)

const (
	// firstUser and users are the numbers of the users and groups that root's tools run as. People have no accounts there, and
	// containers that have users of their own have these too.
	firstUser, users = 61184, 4336
	// patience is how long a process may take to become a tool.
	patience = 20 * time.Second
	// glance is the time between two looks at what a tool has written.
	glance = 50 * time.Millisecond
	// entries bounds the files of a private directory.
	entries = 20_000
)

// A box is one isolated process and what belongs to it.
type box struct {
	abi     int
	limits  Limits
	network bool
	warm    bool
	trial   *trial
	folder  *folder // private
	dir     string  // its path
	uid     int     // 0: stays
	program string
	args    []string
	env     []string
	grants  []grant

	watch watched
}

func (p *Profile) start(cmd *exec.Cmd, need isolate.Need) (*proc.Child, error) {
	b := &box{abi: landlockABI(), limits: p.Limits.fill(), network: p.Network, warm: need.Warm}
	return begin(b, cmd, append(append([]string(nil), p.Read...), need.Read...))
}

// prepare makes the private directory.
func (b *box) prepare() error {
	b.abi = min(b.abi, knownABI)
	var err error
	if b.folder, err = newFolder(); err != nil {
		return failed("no private directory: %v", syscallText(err))
	}
	b.dir = b.folder.path
	if os.Geteuid() == 0 {
		b.uid = nextUser()
		if err := os.Chown(b.dir, b.uid, b.uid); err != nil {
			b.remove()
			return failed("no private directory for an ordinary user: %v", syscallText(err))
		}
	}
	return nil
}

// turn is how many users were given out.
var turn atomic.Uint32

// nextUser gives each process a user of its own, so that one tool cannot use up the processes of another: their limit counts
// all that a user has. Only after thousands, or next to those of another program, two may have the same.
func nextUser() int {
	return firstUser + int((uint32(os.Getpid())*97+turn.Add(1))%users)
}

func (b *box) remove() { b.folder.remove() }

// describe takes from cmd what the process becomes.
func (b *box) describe(cmd *exec.Cmd, read []string) error {
	prog, err := locate(cmd)
	if err != nil {
		return err
	}
	b.program, b.args = prog.path, cmd.Args
	b.grants = prog.grants
	for _, path := range read {
		path, err := filepath.Abs(path)
		if err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return failed("what the tool reads: %v", syscallText(err))
		}
		if home, err := filepath.EvalSymlinks(os.Getenv("HOME")); path == "/" || err == nil && home != "/" && below(home, path) {
			return failed("the tool would read all of %s: keep its modules in a folder of their own", path)
		}
		b.grants = append(b.grants, grant{Path: []byte(path), Rights: readAll})
	}
	b.env = environment(cmd.Env, b.dir, prog.grants)
	return nil
}

// launch starts the process and waits until it has become the tool.
func (b *box) launch(cmd *exec.Cmd) (*proc.Child, error) {
	d := &description{Parent: proc.Parent(), Keep: len(cmd.ExtraFiles), Program: []byte(b.program), Args: raws(b.args), Env: raws(b.env),
		Grants: append(machine(), b.grants...), ABI: b.abi, Network: b.network, UID: b.uid, GID: b.uid, Trial: b.trial}
	d.Grants = append(d.Grants, grant{Path: []byte(b.dir), Rights: private})
	limits, err := b.resourceLimits()
	if err != nil {
		return nil, err
	}
	d.Memory, d.Limits = limits[0], limits[1:]
	file, err := d.file()
	if err != nil {
		return nil, failed("%v", err)
	}
	defer file.Close()
	status, child, err := os.Pipe()
	if err != nil {
		return nil, failed("%v", err)
	}
	defer status.Close()
	defer b.disguise(cmd, file, child)()
	started, err := proc.Start(cmd)
	child.Close()
	if err != nil {
		return nil, failed("%v", err)
	}
	if err := verdict(status); err != nil {
		started.Kill()
		_, _ = started.Reap()
		return nil, err
	}
	return started, nil
}

// disguise makes cmd start the shim, and returns what makes it the tool's command again, for those who read it later.
func (b *box) disguise(cmd *exec.Cmd, file, child *os.File) (restore func()) {
	was := *cmd
	cmd.Path, cmd.Err = "/proc/self/exe", nil
	cmd.Args = []string{marker, fmt.Sprint(3 + len(cmd.ExtraFiles))}
	cmd.Env = []string{"GOMAXPROCS=1", "GOGC=off"} // of the shim: fewer threads, which must all end before it becomes the tool
	if cmd.Dir == "" {
		cmd.Dir = b.dir
	}
	cmd.ExtraFiles = append(append([]*os.File(nil), cmd.ExtraFiles...), file, child)
	return func() {
		cmd.Path, cmd.Args, cmd.Env, cmd.Dir, cmd.ExtraFiles = was.Path, was.Args, was.Env, was.Dir, was.ExtraFiles
	}
}

// verdict reads what the second process says before it is the tool: nothing, when all went well.
func verdict(status *os.File) error {
	_ = status.SetReadDeadline(time.Now().Add(patience))
	text, err := io.ReadAll(io.LimitReader(status, maxComplaint))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return failed("the process was not ready after %v", patience)
	case err != nil:
		return failed("%v", err)
	case len(text) > 0:
		return failed("%s", text)
	}
	return nil
}

// tryOut runs the trial.
func (b *box) tryOut() error {
	cmd := exec.Command("/proc/self/exe")
	b.program = "/proc/self/exe"
	child, err := b.launch(cmd)
	if err != nil {
		return err
	}
	if state, _ := child.Reap(); !state.Success() {
		return fmt.Errorf("the trial ended with %+v", state)
	}
	return nil
}

// exceeded is the limit that the process went beyond, of those that are looked at from outside.
func (b *box) exceeded(int) error {
	size, files := (&folder{path: b.dir}).size()
	switch {
	case size > b.limits.Disk:
		return failed("the tool wrote more than %d bytes to its private directory", b.limits.Disk)
	case files > entries:
		return failed("the tool made more than %d files in its private directory", entries)
	}
	return nil
}

// release removes what belonged to the process.
func (b *box) release() error {
	defer b.remove()
	return b.watch.end()
}

// resourceLimits are the limits of the process, the one on memory first.
func (b *box) resourceLimits() ([]limit, error) {
	uid := b.uid
	if uid == 0 {
		uid = os.Geteuid()
	}
	running, err := tasks(uid)
	if err != nil {
		return nil, failed("%v", err)
	}
	var stack unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_STACK, &stack); err != nil {
		return nil, failed("%v", err)
	}
	want := []limit{
		{unix.RLIMIT_DATA, uint64(b.limits.Memory)},
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_STACK, min(stack.Cur, 8<<20)},
		{unix.RLIMIT_NOFILE, uint64(b.limits.Files)},
		{unix.RLIMIT_FSIZE, uint64(b.limits.FileSize)},
		{unix.RLIMIT_NPROC, uint64(running + b.limits.Processes)},
		{unix.RLIMIT_MEMLOCK, 1 << 20},
		{unix.RLIMIT_MSGQUEUE, 0},
		{unix.RLIMIT_RTPRIO, 0},
		{unix.RLIMIT_NICE, 0},
	}
	if !b.warm {
		want = append(want, limit{unix.RLIMIT_CPU, uint64(max(b.limits.CPU.Round(time.Second)/time.Second, 1))})
	}
	for i := range want { // a limit that is lower already stays
		var have unix.Rlimit
		if err := unix.Getrlimit(want[i].Resource, &have); err != nil {
			return nil, failed("%v", err)
		}
		want[i].Value = min(want[i].Value, have.Max)
	}
	return want, nil
}

func raws(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}
