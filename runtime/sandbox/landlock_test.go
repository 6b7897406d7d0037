//go:build linux && (amd64 || arm64)

package sandbox

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// in calls f in a thread that is in a Landlock domain and ends with f.
func in(t *testing.T, abi int, network bool, f func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends
		err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		domain := -1
		if err == nil {
			domain, err = ruleset(abi, network)
		}
		if err == nil {
			defer unix.Close(domain)
			err = restrict(domain)
		}
		if err == nil {
			f()
		}
		done <- err
	}()
	check(t, <-done)
}

// Each version of Landlock holds back all that it can, without the system call filter.
func TestLandlockByVersion(t *testing.T) {
	if landlockABI() < scopeABI {
		t.Skipf("this kernel has version %d", landlockABI())
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	abstract, err := net.Listen("unix", "@"+filepath.Base(t.TempDir()))
	check(t, err)
	defer abstract.Close()
	other := exec.Command("sleep", "600")
	check(t, other.Start())
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	file := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(file, []byte("text"), 0o600))

	reach := func(family int, to unix.Sockaddr) error {
		fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Connect(fd, to)
	}
	ioctl := func() error { // on a device that was opened inside
		fd, err := unix.Open("/dev/zero", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}
	for abi := leastABI; abi <= min(knownABI, landlockABI()); abi++ {
		for _, network := range []bool{false, true} {
			var open, cut, device, tcp, name, signal error
			in(t, abi, network, func() {
				open = touch(file)
				cut = unix.Truncate(file, 1)
				device = ioctl()
				tcp = reach(unix.AF_INET, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
				name = reach(unix.AF_UNIX, &unix.SockaddrUnix{Name: abstract.Addr().String()})
				signal = unix.Kill(other.Process.Pid, 0)
			})
			for what, tt := range map[string]struct {
				got  error
				held bool
			}{
				"opening a file": {open, true}, "cutting a file": {cut, true}, "opening a device": {device, true},
				"TCP": {tcp, abi >= netABI && !network}, "an abstract socket": {name, abi >= scopeABI}, "a signal": {signal, abi >= scopeABI},
			} {
				if (tt.got != nil) != tt.held {
					t.Errorf("version %d, network %v: %s: %v", abi, network, what, tt.got)
				}
			}
		}
	}
	for abi, want := range map[int]uint64{3: 1<<15 - 1, 4: 1<<15 - 1, 5: 1<<16 - 1, 6: 1<<16 - 1, 7: 1<<16 - 1} {
		if got := handled(abi); got != want {
			t.Errorf("version %d handles %x, want %x", abi, got, want)
		}
	}
	if _, err := ruleset(leastABI, false); err != nil {
		t.Error(err)
	}
	if err := restrict(-1); err == nil {
		t.Error("no ruleset is one")
	}
}

func touch(file string) error {
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err
}
