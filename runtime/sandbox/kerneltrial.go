//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/flowgen-dev/flowgen/runtime/internal/isolate"
)

// kernelMarker is the argument with which this program tries to break out of gVisor instead of doing what it does.
const kernelMarker = "flowgen-sandbox: trying gVisor"

// passed is what a trial says that found nothing open.
const passed = "nothing is open"

// init is the trial. In every other process it looks at one string.
func init() {
	if len(os.Args) != 5 || os.Args[1] != kernelMarker {
		return
	}
	if err := breakOut(os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(passed)
	os.Exit(0)
}

// tryKernel runs a trial in gVisor.
func tryKernel() error {
	outside, err := os.CreateTemp("", "flowgen-trial-")
	if err != nil {
		return failed("no file for a trial: %v", syscallText(err))
	}
	defer os.Remove(outside.Name())
	defer outside.Close()
	_ = outside.Chmod(0o666) // only the sandbox must be between the trial and this file
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return failed("no address for a trial: %v", syscallText(err))
	}
	defer listener.Close()
	exe, err := os.Executable()
	if err != nil {
		return failed("%v", err)
	}
	cmd := exec.Command(exe, kernelMarker, outside.Name(), listener.Addr().String(), release())
	cmd.Env = []string{"GOMAXPROCS=1"}
	read, write, err := os.Pipe()
	if err != nil {
		return failed("%v", err)
	}
	defer read.Close()
	cmd.Stdout, cmd.Stderr = write, write
	child, err := new(Kernel).start(cmd, isolate.Need{})
	write.Close()
	if err != nil {
		return err
	}
	late := time.AfterFunc(patience, child.Kill)
	defer late.Stop()
	_ = read.SetReadDeadline(time.Now().Add(2 * patience))
	out, _ := io.ReadAll(io.LimitReader(read, maxComplaint))
	state, err := child.Reap()
	if err != nil {
		return err
	}
	if text := strings.TrimSpace(string(out)); !state.Success() || text != passed {
		line, _, _ := strings.Cut(text, "\n")
		return failed("processes cannot be isolated with gVisor here: %s (exit code %d)", line[:min(len(line), 300)], state.Code)
	}
	return nil
}

// breakOut returns the first attempt that did not end as it must.
func breakOut(outside, address, kernel string) error {
	for _, path := range []string{outside, "/etc/passwd", "/etc/shadow", "/proc/1/root" + outside} {
		if _, err := os.Stat(path); err == nil {
			return fmt.Errorf("%s is there", filepath.Base(path))
		}
	}
	for _, at := range []string{"/usr/bin/x", "/bin/x", "/x", filepath.Join(filepath.Dir(outside), "x")} {
		if os.WriteFile(at, []byte("x"), 0o600) == nil {
			return errors.New("a directory outside can be written")
		}
	}
	own := filepath.Join(os.Getenv("TMPDIR"), "own")
	if err := os.WriteFile(own, []byte("x"), 0o700); err != nil {
		return fmt.Errorf("the private directory cannot be written: %w", err)
	}
	if c, err := net.DialTimeout("tcp", address, time.Second); err == nil {
		c.Close()
		return errors.New("the network is there")
	}
	if os.Getpid() > 2 || syscall.Kill(os.Getppid(), 0) == nil && os.Getppid() > 1 {
		return errors.New("other processes are there")
	}
	if release() == kernel {
		return errors.New("the kernel is the one outside")
	}
	return nil
}

// release is the kernel that runs this process.
func release() string {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return ""
	}
	return unix.ByteSliceToString(name.Release[:]) + " " + unix.ByteSliceToString(name.Version[:])
}
