//go:build linux && (amd64 || arm64)

package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A trial is a process that tries to break out instead of becoming a tool.
type trial struct {
	Outside []byte // a directory that everybody may write to, with a file that everybody may read
	Inside  []byte // the private directory
}

const trialFile = "file"

// run returns the first attempt that did not end as it must.
func (t *trial) run(d *description) error {
	outside, parent := filepath.Join(string(t.Outside), trialFile), d.Parent
	for _, a := range []struct {
		what string
		want error
		do   func() error
	}{
		{"reading a file of others", unix.EACCES, func() error { return open(outside, unix.O_RDONLY) }},
		{"writing a file of others", unix.EACCES, func() error { return open(outside, unix.O_WRONLY) }},
		{"making a file of others", unix.EACCES, func() error { return open(outside+"2", unix.O_CREAT|unix.O_WRONLY) }},
		{"cutting off a file of others", unix.EACCES, func() error { return unix.Truncate(outside, 0) }},
		{"reading the parent's environment", unix.EACCES, func() error { return open(fmt.Sprintf("/proc/%d/environ", parent), unix.O_RDONLY) }},
		{"writing the private directory", nil, func() error { return open(filepath.Join(string(t.Inside), "own"), unix.O_CREAT|unix.O_WRONLY) }},
		{"a signal to the parent", unix.EPERM, func() error { return unix.Kill(parent, 0) }},
		{"tracing the parent", unix.EPERM, func() error { return unix.PtraceSeize(parent) }},
		{"the parent's limits", unix.EPERM, func() error { return unix.Prlimit(parent, unix.RLIMIT_CORE, nil, new(unix.Rlimit)) }},
		{"a socket", unix.EPERM, func() error { return socket(unix.AF_UNIX, unix.SOCK_STREAM, 0) }},
		{"a TCP socket", networkWant(d, nil), func() error { return socket(unix.AF_INET, unix.SOCK_STREAM, 0) }},
		{"a multipath TCP socket", unix.EPERM, func() error { return socket(unix.AF_INET, unix.SOCK_STREAM, 262) }},
		{"a session of its own", unix.EPERM, func() error { _, err := unix.Setsid(); return err }},
		{"a group of its own", unix.EPERM, func() error { return unix.Setpgid(0, 0) }},
		{"namespaces of its own", unix.EPERM, func() error { return unix.Unshare(unix.CLONE_NEWUSER) }},
		{"io_uring", unix.EPERM, func() error { return raw(unix.SYS_IO_URING_SETUP) }},
		{"bpf", unix.EPERM, func() error { return raw(unix.SYS_BPF) }},
		{"keys", unix.EPERM, func() error { return raw(unix.SYS_KEYCTL) }},
		{"a program in memory", unix.EPERM, func() error { _, err := unix.MemfdCreate("x", 0); return err }},
		{"the limits", nil, d.limitsHold},
		{"the state of the process", nil, d.stateHolds},
		{"the limit on memory", nil, d.memoryHolds}, // the last one, see image.exec
	} {
		if err := a.do(); err != a.want {
			return fmt.Errorf("%s: got %s, want %s", a.what, outcome(err), outcome(a.want))
		}
	}
	return nil
}

func networkWant(d *description, granted error) error {
	if d.Network {
		return granted
	}
	return unix.EPERM
}

func outcome(err error) string {
	if err == nil {
		return "success"
	}
	return err.Error()
}

func open(path string, flags int) error {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o600)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func socket(family, kind, proto int) error {
	fd, err := unix.Socket(family, kind, proto)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// raw makes a system call with zeros, which none of those tried here accepts.
func raw(nr uintptr) error {
	if _, _, e := unix.Syscall6(nr, 0, 0, 0, 0, 0, 0); e != 0 {
		return e
	}
	return nil
}

func (d *description) limitsHold() error {
	for _, l := range d.Limits {
		if err := l.holds(); err != nil {
			return err
		}
	}
	return nil
}

func (l limit) holds() error {
	var got unix.Rlimit
	if err := unix.Getrlimit(l.Resource, &got); err != nil {
		return err
	}
	if got.Cur > l.Value || got.Max > l.Value {
		return fmt.Errorf("limit %d is %d", l.Resource, got.Max)
	}
	return nil
}

// memoryHolds limits the memory of this process, which is the last thing that it does.
func (d *description) memoryHolds() error {
	if err := unix.Setrlimit(d.Memory.Resource, &unix.Rlimit{Cur: d.Memory.Value, Max: d.Memory.Value}); err != nil {
		return err
	}
	return d.Memory.holds()
}

func (d *description) stateHolds() error {
	switch {
	case unix.Geteuid() == 0 || unix.Getuid() == 0:
		return fmt.Errorf("still root")
	case unix.Getpgrp() != os.Getpid():
		return fmt.Errorf("in a group of others")
	}
	if n, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); n != 1 {
		return fmt.Errorf("new privileges are possible (%d, %v)", n, err)
	}
	if n, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0); n != unix.SECCOMP_MODE_FILTER {
		return fmt.Errorf("no filter (%d, %v)", n, err)
	}
	if groups, err := unix.Getgroups(); d.UID != 0 && (err != nil || len(groups) > 0) {
		return fmt.Errorf("root's groups %v, %v", groups, err)
	}
	return nil
}

// proof remembers what the trial found.
var proof struct {
	mu   sync.Mutex
	done bool
	err  error
	at   time.Time
}

// retrial is how long a failure holds: it may have been the machine's mood.
const retrial = time.Second

// available proves once that processes are isolated on this machine. A failure is tried again after a while.
func available() error {
	proof.mu.Lock()
	defer proof.mu.Unlock()
	if proof.done && (proof.err == nil || time.Since(proof.at) < retrial) {
		return proof.err
	}
	proof.err = nil
	if err := prove(landlockABI()); err != nil {
		proof.err = err
	}
	proof.done, proof.at = true, time.Now()
	return proof.err
}

// prove runs a trial with a version of Landlock.
func prove(abi int) error {
	if abi < leastABI {
		return failed("processes cannot be isolated here: the kernel needs Landlock version %d (Linux 6.2), it has %d", leastABI, abi)
	}
	f, err := newFolder()
	if err != nil {
		return failed("no directory for a trial: %v", syscallText(err))
	}
	defer f.remove()
	outside := f.path
	// Only Landlock must be between the trial and this file.
	file := filepath.Join(outside, trialFile)
	err = os.WriteFile(file, []byte("x"), 0o600)
	if err = cmp.Or(err, os.Chmod(file, 0o666), os.Chmod(outside, 0o777)); err != nil {
		return failed("no file for a trial: %v", syscallText(err))
	}
	b := &box{abi: abi, limits: DefaultLimits()}
	defer b.remove()
	if err := b.prepare(); err != nil {
		return err
	}
	b.trial = &trial{Outside: []byte(outside), Inside: []byte(b.dir)}
	if err := b.tryOut(); err != nil {
		return failed("processes cannot be isolated here: %v", err)
	}
	return nil
}

// syscallText is the reason without the path, which may be private.
func syscallText(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}
