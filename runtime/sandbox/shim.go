//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// shimExit is the exit code of a second process that could not become the tool.
const shimExit = 125

// init turns a process that was started as the shim into the tool. In every other process it looks at one string.
func init() {
	if len(os.Args) != 2 || os.Args[0] != marker {
		return
	}
	fd, err := strconv.Atoi(os.Args[1])
	if err != nil || fd < 3 {
		complain(2, errDescription)
	}
	// Rights and filters belong to a thread. The other threads end when this one becomes the program.
	runtime.LockOSThread()
	d, err := readDescription(fd)
	if err != nil {
		complain(2, err)
	}
	status := fd + 1
	image, err := newImage(d)
	if err != nil {
		complain(status, err)
	}
	if err := d.become(fd); err != nil {
		complain(status, err)
	}
	if d.Trial != nil {
		if err := d.Trial.run(d); err != nil {
			complain(status, err)
		}
		os.Exit(0)
	}
	err = image.exec() // returns only when it failed
	if err == unix.EACCES && d.UID != 0 {
		err = fmt.Errorf("%w (root's tools run as user %d, who must be allowed to execute it)", err, d.UID)
	}
	complain(status, &os.PathError{Op: "exec", Path: string(d.Program), Err: err})
}

// complain ends the process. The parent reads the text from the status pipe.
func complain(fd int, err error) {
	text := err.Error()
	_, _ = unix.Write(fd, []byte(text[:min(len(text), maxComplaint)]))
	os.Exit(shimExit)
}

const maxComplaint = 4 << 10

// An image is what a process needs to become the tool: the arguments of its last two system calls.
type image struct {
	program   *byte
	args, env []*byte // end with nil
	memory    unix.Rlimit
}

func newImage(d *description) (*image, error) {
	program, err := unix.ByteSliceFromString(string(d.Program))
	if err != nil {
		return nil, fmt.Errorf("name of the program: %w", err)
	}
	i := &image{program: &program[0], memory: unix.Rlimit{Cur: d.Memory.Value, Max: d.Memory.Value}}
	if i.args, err = pointers(d.Args); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	if i.env, err = pointers(d.Env); err != nil {
		return nil, fmt.Errorf("environment: %w", err)
	}
	return i, nil
}

func pointers(list [][]byte) ([]*byte, error) {
	out := make([]*byte, len(list)+1)
	for i, b := range list {
		text, err := unix.ByteSliceFromString(string(b))
		if err != nil {
			return nil, err
		}
		out[i] = &text[0]
	}
	return out, nil
}

// exec limits memory, and becomes the program. In between nothing can be allocated: the limit counts what Go has reserved,
// and all of the race detector's memory. So there are only bare system calls, which neither of them takes part in.
//
//go:norace
func (i *image) exec() error {
	if _, _, e := unix.RawSyscall6(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_DATA, uintptr(unsafe.Pointer(&i.memory)), 0, 0, 0); e != 0 {
		return fmt.Errorf("resource limit %d: %w", unix.RLIMIT_DATA, e)
	}
	e := unix.EAGAIN // also what Linux answers while Go starts a thread
	for try := 0; e == unix.EAGAIN && try < 1000; try++ {
		_, _, e = unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(i.program)), uintptr(unsafe.Pointer(&i.args[0])), uintptr(unsafe.Pointer(&i.env[0])))
	}
	return e
}

// become takes from this thread what the tool must not have. The order matters: what needs rights comes before they go, the
// filter, which forbids most of it, last.
func (d *description) become(fd int) error {
	// Everything but the standard streams and the files of the tool closes when the program begins: also what this
	// program itself inherited from elsewhere.
	if err := unix.CloseRange(uint(fd), ^uint(0)>>32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("closing descriptors: %w", err)
	}
	unix.Umask(0o077)
	domain, err := ruleset(d.ABI, d.Network)
	if err != nil {
		return err
	}
	for _, g := range d.Grants {
		if err := g.allow(domain); err != nil {
			return err
		}
	}
	if d.UID != 0 {
		if err := d.changeUser(); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("death signal: %w", err)
	}
	if os.Getppid() != d.Parent {
		return fmt.Errorf("the program that started the tool is gone")
	}
	// The limit on memory comes last of all, in image.exec.
	program := filter(os.Getpid(), d.ABI >= scopeABI, d.Network)
	debug.SetGCPercent(-1)
	for _, l := range d.Limits {
		if err := unix.Setrlimit(l.Resource, &unix.Rlimit{Cur: l.Value, Max: l.Value}); err != nil {
			return fmt.Errorf("resource limit %d: %w", l.Resource, err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if err := restrict(domain); err != nil {
		return err
	}
	return install(program)
}

// changeUser makes an ordinary user of root. Of all of root's rights reading stays, where root has it: Landlock bounds what is
// read, and a program below a private directory such as /root could not be started otherwise. The system calls are raw: they
// are about this thread, and Go's are about all of them.
func (d *description) changeUser() error {
	for i := range uintptr(3) { // pipes belong to root, and /dev/stderr opens them once more
		var st unix.Stat_t
		if unix.Fstat(int(i), &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO {
			_ = unix.Fchown(int(i), d.UID, d.GID)
		}
	}
	for c := uintptr(0); unix.Prctl(unix.PR_CAPBSET_READ, c, 0, 0, 0) == nil; c++ {
		if c == unix.CAP_DAC_READ_SEARCH {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			return fmt.Errorf("dropping capability %d: %w", c, err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_KEEPCAPS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	uid, gid := uintptr(d.UID), uintptr(d.GID)
	if _, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); e != 0 {
		return fmt.Errorf("leaving root's groups: %w", e)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESGID, gid, gid, gid); e != 0 {
		return fmt.Errorf("becoming group %d: %w", gid, e)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, uid, uid, uid); e != 0 {
		return fmt.Errorf("becoming user %d: %w", uid, e)
	}
	return d.keepReading()
}

// keepReading drops all capabilities but CAP_DAC_READ_SEARCH, and lets that one survive the start of the program.
func (d *description) keepReading() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	if _, _, e := unix.RawSyscall(unix.SYS_CAPGET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&caps[0])), 0); e != 0 {
		return fmt.Errorf("capabilities: %w", e)
	}
	const read = 1 << unix.CAP_DAC_READ_SEARCH
	have := caps[0].Permitted & read
	caps = [2]unix.CapUserData{{Effective: have, Permitted: have, Inheritable: have}}
	if _, _, e := unix.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&caps[0])), 0); e != 0 {
		return fmt.Errorf("capabilities: %w", e)
	}
	if have == 0 {
		return nil
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, unix.CAP_DAC_READ_SEARCH, 0, 0); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	return nil
}
