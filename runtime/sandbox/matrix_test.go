//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/flowgen-dev/flowgen/runtime/internal/isolate"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
)

func TestMain(m *testing.M) {
	switch name := os.Getenv("FLOWGEN_ATTACK"); name {
	case "":
		leaks.Main(m)
	case "whoami":
		fmt.Println("euid", os.Geteuid())
	case "start and wait":
		startAndWait()
	case "every":
		attackAll()
	default:
		attack(name)
	}
}

// ordinary is the user as which root repeats the matrix.
const ordinary = 12345

// TestMatrix runs every payload twice: without isolation, where it must succeed, or the payload would prove nothing, and
// isolated, where it must not. Started by root it does so as root and, in a process of its own, as an ordinary user.
func TestMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process for each of a hundred escapes")
	}
	if err := available(); err != nil {
		t.Fatal(err)
	}
	v := newVictim(t)
	t.Logf("%d attacks as user %d, Landlock %d", len(payloads), os.Geteuid(), landlockABI())
	for _, name := range slices.Sorted(maps.Keys(payloads)) {
		t.Run(name, func(t *testing.T) {
			if why := v.impossible(name); why != "" {
				t.Log("without isolation it fails here as well: " + why)
			} else if got := v.try(t, name, nil); got != "" {
				t.Errorf("without isolation the attack fails, so this proves nothing: %s", got)
			}
			got := v.try(t, name, &Profile{Read: []string{v.readable}, Limits: Limits{Disk: 8 << 20, CPU: time.Second}})
			if got == "" {
				t.Error("the attack succeeded in the sandbox")
			}
			t.Log(got)
		})
	}
}

// TestMatrixAsOrdinaryUser is the same as another user; CI runs as root.
func TestMatrixAsOrdinaryUser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process for each of a hundred escapes")
	}
	if os.Geteuid() != 0 {
		t.Skip("TestMatrix runs as an ordinary user already")
	}
	dir := publicDir(t)
	self := copySelf(t, dir, 0o755)
	temp := filepath.Join(dir, "tmp")
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(temp, ordinary, ordinary); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestMatrix$", "-test.v", "-test.timeout=20m")
	cmd.Env = []string{"TMPDIR=" + temp, "PATH=" + systemPath, "HOME=" + temp, "A_SETUID=" + copySelf(t, dir, 0o4755), "A_SECRET_TOKEN=" + canary}
	cmd.Dir = temp
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary, Groups: []uint32{ordinary, ordinary + 1}}, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	want := fmt.Sprintf("%d attacks as user %d", len(payloads), ordinary)
	if !bytes.Contains(out, []byte(want)) || bytes.Count(out, []byte("    --- PASS")) != len(payloads) {
		t.Errorf("no %q in\n%s", want, out)
	}
}

// victim is this process, with everything that a payload may want.
type victim struct {
	target
	self     string
	readable string // a directory that the sandbox may read
}

func newVictim(t *testing.T) *victim {
	t.Setenv("A_SECRET_TOKEN", canary)
	dir := publicDir(t)
	v := &victim{self: copySelf(t, dir, 0o755), readable: filepath.Join(dir, "readable")}
	v.base, v.parent = filepath.Join(dir, "base"), os.Getpid()
	for _, d := range []string{v.base, v.readable} {
		check(t, os.Mkdir(d, 0o700))
		check(t, os.Chmod(d, 0o777))
	}
	for _, f := range []string{canaryFile, worldFile, "removable", "modes"} {
		check(t, os.WriteFile(filepath.Join(v.base, f), []byte(canary), 0o600))
	}
	// What everybody may do only the sandbox forbids.
	check(t, os.Chmod(filepath.Join(v.base, worldFile), 0o666))
	v.setuid = os.Getenv("A_SETUID") // from root
	if os.Geteuid() == 0 {
		v.setuid = copySelf(t, v.readable, 0o4755)
	}
	f, err := os.Open(filepath.Join(v.base, canaryFile))
	check(t, err)
	// Not closed by exec: as if another program had left it to this one.
	v.fd, err = unix.FcntlInt(f.Fd(), unix.F_DUPFD, 70)
	check(t, err)
	t.Cleanup(func() { unix.Close(v.fd); f.Close() })
	_ = unix.Prctl(unix.PR_SET_PTRACER, ^uintptr(0), 0, 0, 0) // where Yama would forbid what is to be shown
	v.listen(t)
	return v
}

func (v *victim) listen(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	check(t, err)
	v.tcp, v.udp = tcp.Addr().(*net.TCPAddr).Port, udp.LocalAddr().(*net.UDPAddr).Port
	v.abstract, v.socket = fmt.Sprint("flowgen-test-", os.Getpid()), filepath.Join(v.base, "s")
	abstract, err := net.Listen("unix", "@"+v.abstract)
	check(t, err)
	path, err := net.Listen("unix", v.socket)
	check(t, err)
	dgram, err := net.ListenPacket("unixgram", v.socket+".dgram")
	check(t, err)
	check(t, os.Chmod(v.socket, 0o777))
	check(t, os.Chmod(v.socket+".dgram", 0o777))
	for _, l := range []net.Listener{tcp, abstract, path} {
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				c.Close()
			}
		}()
	}
	go func() {
		b := make([]byte, 64)
		for {
			_, from, err := udp.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = udp.WriteTo([]byte("answer"), from)
		}
	}()
	t.Cleanup(func() {
		for _, c := range []io.Closer{tcp, udp, abstract, path, dgram} {
			c.Close()
		}
	})
}

// impossible tells why an attack cannot succeed on this machine whether isolated or not; "" when it can.
func (v *victim) impossible(name string) string {
	var err error
	switch name {
	case "Multipath TCP":
		err = mptcp(v.target)
	case "user namespace":
		err = userNamespace(v.target)
	case "io_uring":
		err = ioUring(v.target)
	case "SysV memory":
		err = sysv(v.target)
	case "xattr on host file":
		err = unix.Setxattr(filepath.Join(v.base, worldFile), "user.y", []byte("y"), 0)
	case "setuid program":
		var st unix.Statfs_t
		if err = unix.Statfs(v.base, &st); err == nil && st.Flags&unix.ST_NOSUID != 0 {
			return "the file system ignores setuid"
		}
		if v.setuid == "" {
			return "there is none"
		}
	case "512 MiB growing":
		_, err = unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_GROWSDOWN)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// try runs a payload, in the sandbox or, with a nil profile, as it is. It returns why it failed; "" when it did not.
func (v *victim) try(t *testing.T, name string, p *Profile) string {
	t.Helper()
	v.restore(t)
	cmd := exec.Command(v.self)
	// A file, and no pipe: an orphan would hold it.
	said, err := os.CreateTemp(t.TempDir(), "said")
	check(t, err)
	defer said.Close()
	cmd.Stdout, cmd.Stderr = said, said
	wait, kill := cmd.Wait, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var over error
	if p == nil {
		v.work = t.TempDir()
		cmd.Env = append(append(os.Environ(), v.env()...), "FLOWGEN_ATTACK="+name)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		check(t, cmd.Start())
	} else {
		v.work = "" // the private directory
		cmd.Env = append(v.env(), "FLOWGEN_ATTACK="+name)
		child, err := p.Start(cmd, isolate.Need{})
		check(t, err)
		kill = child.Kill
		wait = func() (err error) { err, over = reap(child); return err }
	}
	ended := make(chan error, 1)
	go func() { ended <- wait() }()

	timeout := time.Minute // of a machine that does much else
	if name == "endless loop" && p == nil {
		timeout = 2 * time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	var end error
	late := false
	select {
	case end = <-ended:
	case <-ctx.Done():
		late = true
	}
	if late {
		kill()
		end = <-ended
	}
	out, err := os.ReadFile(said.Name())
	check(t, err)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	pid := 0
	for _, line := range lines {
		if n, ok := strings.CutPrefix(line, "PID "); ok {
			pid, _ = strconv.Atoi(n)
		}
	}
	last := lines[len(lines)-1]
	switch {
	case late && name == "endless loop":
		return "" // nobody stopped it
	case late:
		t.Errorf("%s did not end: %s", name, out)
		return ""
	case over != nil:
		return over.Error()
	case pid != 0:
		return v.survivor(pid, p != nil)
	case end != nil:
		return end.Error()
	case last == "OK":
		return ""
	case strings.HasPrefix(last, "BLOCKED"):
		return last
	}
	t.Errorf("%s: output %q", name, out)
	return ""
}

// survivor says whether a process was left behind, and ends it. A killed one takes its time on a busy machine, and may stay a
// zombie until init looks at it.
func (v *victim) survivor(pid int, killed bool) string {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return "its process is gone as well"
	}
	defer unix.Close(fd)
	patience := 400 * time.Millisecond
	if killed {
		patience = 20 * time.Second // fewer than the seconds that it would sleep
	}
	if n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(patience.Milliseconds())); n == 1 {
		return "its process is gone as well"
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return "its process is gone as well"
	}
	return ""
}

// restore makes the files whole again after an attack that worked.
func (v *victim) restore(t *testing.T) {
	for f, mode := range map[string]os.FileMode{worldFile: 0o666, "removable": 0o600, "modes": 0o600} {
		path := filepath.Join(v.base, f)
		check(t, os.WriteFile(path, []byte(canary), mode))
		check(t, os.Chmod(path, mode))
	}
	_ = os.Remove(filepath.Join(v.base, "made"))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// publicDir is a directory that every user can enter, wherever this one's temporary files are.
func publicDir(t *testing.T) string {
	base := ""
	for _, base = range []string{os.TempDir(), "/tmp", "/var/tmp", "/dev/shm"} {
		if entered(base) {
			break
		}
	}
	dir, err := os.MkdirTemp(base, "flowgen-test-")
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	check(t, os.Chmod(dir, 0o755))
	return dir
}

// entered tells whether every user can enter a directory.
func entered(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || info.Mode()&0o001 == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// copySelf copies this program, which stands where only its user comes.
func copySelf(t *testing.T, dir string, mode uint32) string {
	from, err := os.Open("/proc/self/exe")
	check(t, err)
	defer from.Close()
	to, err := os.CreateTemp(dir, "self-")
	check(t, err)
	_, err = io.Copy(to, from)
	check(t, err)
	check(t, to.Close())
	check(t, syscall.Chmod(to.Name(), mode))
	return to.Name()
}
