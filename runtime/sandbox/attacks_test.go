//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The payloads of the matrix run as processes of their own: this test binary with FLOWGEN_ATTACK set. Each says whether it
// got what it wanted. None of them does harm when it does: files are sparse, memory is mapped and not touched, processes sleep.

// target is what the payload is told about its victim.
type target struct {
	base, work               string // the victim's directory, the payload's own
	parent                   int
	tcp, udp                 int
	abstract, socket, setuid string
	fd                       int
}

func targetFromEnv() target {
	work := os.Getenv("A_WORK")
	if work == "" { // in the sandbox it starts in its private directory
		work, _ = os.Getwd()
	}
	n := func(key string) int { v, _ := strconv.Atoi(os.Getenv(key)); return v }
	return target{base: os.Getenv("A_BASE"), work: work, parent: n("A_PARENT"), tcp: n("A_TCP"), udp: n("A_UDP"),
		abstract: os.Getenv("A_ABSTRACT"), socket: os.Getenv("A_SOCKET"), setuid: os.Getenv("A_SETUID"), fd: n("A_FD")}
}

func (v target) env() []string {
	return []string{"A_BASE=" + v.base, "A_WORK=" + v.work, fmt.Sprint("A_PARENT=", v.parent), fmt.Sprint("A_TCP=", v.tcp), fmt.Sprint("A_UDP=", v.udp),
		"A_ABSTRACT=" + v.abstract, "A_SOCKET=" + v.socket, "A_SETUID=" + v.setuid, fmt.Sprint("A_FD=", v.fd)}
}

const (
	canary     = "canary-4be1"
	canaryFile = "id_ed25519"
	worldFile  = "world"
)

// attack runs one payload. The last line of its output is the verdict.
func attack(name string) {
	v := targetFromEnv()
	f, ok := payloads[name]
	if !ok {
		fmt.Println("ERROR no such attack")
		os.Exit(3)
	}
	if err := f(v); err != nil {
		fmt.Println("BLOCKED", err)
		return
	}
	fmt.Println("OK")
}

func anyOf(paths ...string) error {
	var err error
	for _, path := range paths {
		if err = open(path, unix.O_RDONLY); err == nil {
			return nil
		}
	}
	return err
}

func task(file string) string { return fmt.Sprintf("/proc/self/task/%d/%s", os.Getpid(), file) }

var payloads = map[string]func(target) error{
	"inherited variable": func(target) error { return found(os.Getenv("A_SECRET_TOKEN")) },
	"inherited file":     inheritedFile,
	"read a host file":   func(v target) error { return reads(filepath.Join(v.base, canaryFile)) },
	"list a host folder": func(v target) error { _, err := os.ReadDir(v.base); return err },
	"write a host file":  func(v target) error { return open(filepath.Join(v.base, worldFile), unix.O_WRONLY) },
	"make a host file":   func(v target) error { return os.WriteFile(filepath.Join(v.base, "made"), nil, 0o600) },
	"cut a host file":    func(v target) error { return os.Truncate(filepath.Join(v.base, worldFile), 1) },
	"remove a host file": func(v target) error { return os.Remove(filepath.Join(v.base, "removable")) },
	"chmod a host file":  chmods,
	"date a host file":   dates,
	"xattr on host file": func(v target) error { return unix.Setxattr(filepath.Join(v.base, worldFile), "user.x", []byte("y"), 0) },
	"symlink out":        symlink,
	"hard link out":      hardlink,
	"rename into scratch": func(v target) error {
		return os.Rename(filepath.Join(v.base, worldFile), filepath.Join(v.work, "mine"))
	},
	"dot dot":        func(v target) error { return reads(relative(v.work, filepath.Join(v.base, canaryFile))) },
	"/proc/1/root":   func(v target) error { return reads(fmt.Sprintf("/proc/%d/root%s/%s", v.parent, v.base, canaryFile)) },
	"parent environ": func(v target) error { return open(fmt.Sprintf("/proc/%d/environ", v.parent), unix.O_RDONLY) },
	"parent memory":  func(v target) error { return open(fmt.Sprintf("/proc/%d/mem", v.parent), unix.O_RDONLY) },
	"own memory":     func(target) error { return open("/proc/self/mem", unix.O_RDWR) },
	"host's network": func(target) error {
		return anyOf("/proc/net/tcp", "/proc/net/unix", "/proc/self/net/tcp", "/proc/thread-self/net/tcp", task("net/tcp"))
	},
	"host's mounts": func(target) error {
		return anyOf("/proc/mounts", "/proc/self/mounts", "/proc/self/mountinfo", "/proc/self/mountstats", task("mounts"))
	},
	"host's groups":      func(target) error { return anyOf("/proc/self/cgroup", task("cgroup")) },
	"keeper environ":     func(target) error { return open(fmt.Sprintf("/proc/%d/environ", os.Getppid()), unix.O_RDONLY) },
	"signal keeper":      func(target) error { return unix.Kill(os.Getppid(), 0) },
	"signal parent":      func(v target) error { return unix.Kill(v.parent, 0) },
	"ptrace parent":      tracesParent,
	"vm_read parent":     vmRead,
	"limits of parent":   func(v target) error { return unix.Prlimit(v.parent, unix.RLIMIT_CORE, nil, new(unix.Rlimit)) },
	"priority of parent": func(v target) error { return unix.Setpriority(unix.PRIO_PROCESS, v.parent, 19) },
	"affinity of parent": affinity,
	"TCP":                func(v target) error { return dial("tcp", fmt.Sprint("127.0.0.1:", v.tcp)) },
	"Multipath TCP":      mptcp,
	"UDP (DNS)":          dns,
	"abstract socket":    func(v target) error { return dial("unix", "@"+v.abstract) },
	"path socket":        func(v target) error { return dial("unix", v.socket) },
	"datagram pair":      datagramPair,
	"raw netlink":        func(target) error { return socket(unix.AF_NETLINK, unix.SOCK_RAW, 0) },
	"user namespace":     userNamespace,
	"exotic calls":       exotic,
	"io_uring":           ioUring,
	"SysV memory":        sysv,
	"inotify":            inotify,
	"memory file + exec": memfd,
	"own program":        ownProgram,
	"setuid program":     setuid,
	"2000 descriptors":   descriptors,
	"200 MiB file":       bigFile,
	"many files":         manyFiles,
	"300 processes":      forkBomb,
	"512 MiB memory":     memory(unix.MAP_PRIVATE | unix.MAP_ANON),
	"512 MiB shared":     memory(unix.MAP_SHARED | unix.MAP_ANON),
	"512 MiB growing":    memory(unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_GROWSDOWN),
	"endless loop": func(target) error {
		for landmark[0] = 0; ; landmark[0]++ {
		}
	},
	"session of its own": func(target) error { return orphan(&syscall.SysProcAttr{Setsid: true}) },
	"group of its own":   func(target) error { return orphan(&syscall.SysProcAttr{Setpgid: true}) },
	"orphan":             func(target) error { return orphan(nil) },
	"clear death signal": func(target) error { return unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0) },
}

var errMissed = errors.New("nothing there")

var landmark [8]byte

func found(s string) error {
	if !strings.Contains(s, canary) {
		return errMissed
	}
	return nil
}

func reads(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return found(string(text))
}

func relative(from, to string) string {
	rel, err := filepath.Rel(from, to)
	if err != nil {
		return to
	}
	return filepath.Join(from, "x", "..", rel) // Join cleans; the point is the kernel's own walk
}

func inheritedFile(v target) error {
	b := make([]byte, 100)
	n, err := unix.Pread(v.fd, b, 0)
	if err != nil {
		return err
	}
	return found(string(b[:n]))
}

// chmods and dates look at the effect: the filter lets the calls succeed without one.
func chmods(v target) error {
	path := filepath.Join(v.base, "modes")
	if err := os.Chmod(path, 0o640); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil || st.Mode&0o777 != 0o640 {
		return fmt.Errorf("mode is %o: %v", st.Mode&0o777, err)
	}
	return nil
}

func dates(v target) error {
	path := filepath.Join(v.base, "modes")
	if err := os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil || st.Mtim.Sec != 1 {
		return fmt.Errorf("time is %d: %v", st.Mtim.Sec, err)
	}
	return nil
}

func symlink(v target) error {
	link := filepath.Join(v.work, "link")
	if err := os.Symlink(filepath.Join(v.base, canaryFile), link); err != nil {
		return err
	}
	return reads(link)
}

func hardlink(v target) error {
	link := filepath.Join(v.work, "hard")
	if err := os.Link(filepath.Join(v.base, canaryFile), link); err != nil {
		return err
	}
	return reads(link)
}

func tracesParent(v target) error {
	runtime.LockOSThread()
	return unix.PtraceSeize(v.parent) // ends with this process
}

func vmRead(v target) error {
	var b [8]byte
	local := []unix.Iovec{{Base: &b[0], Len: 8}}
	// The address is this program's own, which is the parent's as well: both are the same file at the same place.
	_, err := unix.ProcessVMReadv(v.parent, local, []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&landmark)), Len: 8}}, 0)
	return err
}

func affinity(v target) error {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(v.parent, &set); err != nil {
		return err
	}
	return unix.SchedSetaffinity(v.parent, &set)
}

func dial(network, address string) error {
	c, err := net.DialTimeout(network, address, 30*time.Second)
	if err == nil {
		c.Close()
	}
	return err
}

func mptcp(v target) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 262)
	if err != nil {
		return err
	}
	return unix.Connect(fd, &unix.SockaddrInet4{Port: v.tcp, Addr: [4]byte{127, 0, 0, 1}})
}

// dns sends a question that carries a secret out, and waits for the answer.
func dns(v target) error {
	c, err := net.Dial("udp", fmt.Sprint("127.0.0.1:", v.udp))
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Write([]byte("secret.example.com")); err != nil {
		return err
	}
	_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
	_, err = c.Read(make([]byte, 64))
	return err
}

// datagramPair sends from one end of a pair to an address of its own choice.
func datagramPair(v target) error {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	return unix.Sendto(fds[0], []byte("x"), 0, &unix.SockaddrUnix{Name: v.socket + ".dgram"})
}

func userNamespace(target) error {
	return quick(&syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER})
}

// quick starts a process that ends at once.
func quick(attr *syscall.SysProcAttr) error {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = attr
	return cmd.Run()
}

func exotic(target) error {
	var reached []string
	for name, nr := range map[string]uintptr{"bpf": unix.SYS_BPF, "perf_event_open": unix.SYS_PERF_EVENT_OPEN, "keyctl": unix.SYS_KEYCTL,
		"userfaultfd": unix.SYS_USERFAULTFD, "add_key": unix.SYS_ADD_KEY, "open_by_handle_at": unix.SYS_OPEN_BY_HANDLE_AT, "mount": unix.SYS_MOUNT,
		"kexec_load": unix.SYS_KEXEC_LOAD, "mq_open": unix.SYS_MQ_OPEN, "fanotify_init": unix.SYS_FANOTIFY_INIT} {
		if err := raw(nr); err != unix.EPERM && err != unix.ENOSYS && err != unix.EACCES {
			reached = append(reached, name)
		}
	}
	if len(reached) == 0 {
		return errors.New("none reached")
	}
	return nil
}

func ioUring(target) error {
	if err := raw(unix.SYS_IO_URING_SETUP); err != unix.EINVAL && err != unix.EFAULT {
		return err
	}
	return nil
}

func sysv(target) error {
	id, err := unix.SysvShmGet(0, 4096, unix.IPC_CREAT|0o600)
	if err == nil {
		_, err = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	}
	return err
}

func inotify(v target) error {
	fd, err := unix.InotifyInit1(0)
	if err != nil {
		return err
	}
	_, err = unix.InotifyAddWatch(fd, v.base, unix.IN_ALL_EVENTS)
	return err
}

func memfd(target) error {
	fd, err := unix.MemfdCreate("x", 0)
	if err != nil {
		return err
	}
	text, err := os.ReadFile("/bin/true")
	if err != nil {
		return err
	}
	if _, err := unix.Write(fd, text); err != nil {
		return err
	}
	return exec.Command(fmt.Sprint("/proc/self/fd/", fd)).Run()
}

func ownProgram(v target) error {
	text, err := os.ReadFile("/bin/true")
	if err != nil {
		return err
	}
	path := filepath.Join(v.work, "prog")
	if err := os.WriteFile(path, text, 0o700); err != nil {
		return err
	}
	return exec.Command(path).Run()
}

func setuid(v target) error {
	cmd := exec.Command(v.setuid)
	cmd.Env = []string{"FLOWGEN_ATTACK=whoami"}
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	if !bytes.Contains(out, []byte("euid 0")) {
		return fmt.Errorf("%s", bytes.TrimSpace(out))
	}
	return nil
}

func descriptors(target) error {
	for i := range 2000 {
		if _, err := unix.Open("/dev/null", unix.O_RDONLY, 0); err != nil {
			return fmt.Errorf("after %d: %w", i, err)
		}
	}
	return nil
}

func bigFile(v target) error {
	f, err := os.Create(filepath.Join(v.work, "big"))
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Truncate(200 << 20)
}

func manyFiles(v target) error {
	b := make([]byte, 1<<20)
	for i := range 48 {
		if err := os.WriteFile(filepath.Join(v.work, fmt.Sprint("fill", i)), b, 0o600); err != nil {
			return err
		}
	}
	if os.Getenv("A_WORK") == "" { // the sandbox looks from outside, and on a busy machine later
		time.Sleep(30 * time.Second)
	}
	return nil
}

func forkBomb(target) error {
	var all []*exec.Cmd
	defer func() {
		for _, c := range all {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}()
	for i := range 300 {
		c := exec.Command("/bin/sleep", "20")
		if err := c.Start(); err != nil {
			return fmt.Errorf("after %d: %w", i, err)
		}
		all = append(all, c)
	}
	return nil
}

func memory(flags int) func(target) error {
	return func(target) error {
		const piece = 32 << 20
		for i := range 16 {
			b, err := unix.Mmap(-1, 0, piece, unix.PROT_READ|unix.PROT_WRITE, flags)
			if err != nil {
				return fmt.Errorf("after %d MiB: %w", i*32, err)
			}
			b[len(b)-1] = 1
		}
		return nil
	}
}

// orphan leaves a process behind and tells its number.
func orphan(attr *syscall.SysProcAttr) error {
	cmd := exec.Command("/bin/sleep", "30")
	cmd.SysProcAttr = attr
	if err := cmd.Start(); err != nil {
		return err
	}
	fmt.Println("PID", cmd.Process.Pid)
	return nil
}
