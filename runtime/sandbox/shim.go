//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
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
	args, env := texts(d.Args), texts(d.Env)
	if err := d.become(fd); err != nil {
		complain(status, err)
	}
	if d.Trial != nil {
		if err := d.Trial.run(d); err != nil {
			complain(status, err)
		}
		os.Exit(0)
	}
	err = syscall.Exec(string(d.Program), args, env) // returns only when it failed
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

func texts(list [][]byte) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = string(b)
	}
	return out
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
	// Under the tool's limits Go may not get memory any more: the filter is made before, and nothing is collected.
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
