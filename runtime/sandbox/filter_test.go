//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// call is what the kernel shows a filter: number, architecture, instruction pointer, arguments.
type call struct {
	nr   uint32
	arch uint32
	args [6]uint64
}

// run does what the kernel does with a filter, for the instructions that filter writes.
func run(t *testing.T, p []unix.SockFilter, c call) uint32 {
	t.Helper()
	data := binary.LittleEndian.AppendUint32(nil, c.nr)
	data = binary.LittleEndian.AppendUint32(data, c.arch)
	data = binary.LittleEndian.AppendUint64(data, 0)
	for _, a := range c.args {
		data = binary.LittleEndian.AppendUint64(data, a)
	}
	var acc uint32
	for pc := 0; pc < len(p); pc++ {
		i := p[pc]
		jump := func(yes bool) {
			if yes {
				pc += int(i.Jt)
			} else {
				pc += int(i.Jf)
			}
		}
		switch i.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			acc = binary.LittleEndian.Uint32(data[i.K:])
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			acc &= i.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			jump(acc == i.K)
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			jump(acc >= i.K)
		case unix.BPF_RET | unix.BPF_K:
			return i.K
		default:
			t.Fatalf("instruction %d: code %#x", pc, i.Code)
		}
	}
	t.Fatal("the filter runs off its end")
	return 0
}

const (
	pass  = uint32(unix.SECCOMP_RET_ALLOW)
	kill  = uint32(unix.SECCOMP_RET_KILL_PROCESS)
	eperm = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	nosys = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	done  = uint32(unix.SECCOMP_RET_ERRNO)
)

const self = 4711

func TestFilterOfNumbers(t *testing.T) {
	for _, scoped := range []bool{true, false} {
		for _, network := range []bool{true, false} {
			p := filter(self, scoped, network)
			if len(p) > unix.BPF_MAXINSNS {
				t.Fatalf("%d instructions are too many", len(p))
			}
			byRule := map[uint32]bool{}
			for _, r := range rules(self, scoped, network) {
				if byRule[r.nr] {
					t.Errorf("two rules for call %d", r.nr)
				}
				byRule[r.nr] = true
			}
			n := 0
			for nr := range uint32(1000) {
				want := eperm
				switch {
				case byRule[nr]:
					continue
				case slices.Contains(ignored, nr):
					want = done
				case nr == unix.SYS_CLONE3 || nr > newest:
					want = nosys
				case slices.Contains(allowed, nr) || scoped && slices.Contains(signals, nr) || network && slices.Contains(outgoing, nr):
					want = pass
					n++
				}
				if got := run(t, p, call{nr: nr, arch: auditArch}); got != want {
					t.Errorf("scoped %v, network %v: call %d gives %#x, want %#x", scoped, network, nr, got, want)
				}
				if got := run(t, p, call{nr: nr, arch: auditArch ^ 1}); got != kill {
					t.Errorf("call %d of another architecture gives %#x", nr, got)
				}
				if got := run(t, p, call{nr: nr | 0x40000000, arch: auditArch}); got != kill {
					t.Errorf("x32 call %d gives %#x", nr, got)
				}
			}
			if n < 150 {
				t.Errorf("only %d calls are allowed", n)
			}
		}
	}
}

func TestFilterOfArguments(t *testing.T) {
	const dirt = 0xdeadbeef << 32 // what the kernel does not look at either
	minus := func(n int) uint64 { return uint64(uint32(-n)) }
	tests := []struct {
		name            string
		scoped, network bool
		nr              uint32
		args            [6]uint64
		want            uint32
	}{
		{"fork", true, false, unix.SYS_CLONE, [6]uint64{uint64(unix.SIGCHLD)}, pass},
		{"thread", true, false, unix.SYS_CLONE, [6]uint64{0x3d0f00}, pass},
		{"user namespace", true, false, unix.SYS_CLONE, [6]uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, eperm},
		{"network namespace", true, false, unix.SYS_CLONE, [6]uint64{unix.CLONE_NEWNET | dirt}, eperm},
		{"sibling", true, false, unix.SYS_CLONE, [6]uint64{unix.CLONE_PARENT}, eperm},
		{"typing for others", true, false, unix.SYS_IOCTL, [6]uint64{0, 0x5412 | dirt}, eperm},
		{"window size", true, false, unix.SYS_IOCTL, [6]uint64{0, 0x5413}, pass},
		{"owner of signals", true, false, unix.SYS_FCNTL, [6]uint64{3, unix.F_SETOWN}, eperm},
		{"lock", true, false, unix.SYS_FCNTL, [6]uint64{3, unix.F_SETLK}, pass},
		{"private memory", true, false, unix.SYS_MMAP, [6]uint64{0, 1, 3, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS}, pass},
		{"shared file", true, false, unix.SYS_MMAP, [6]uint64{0, 1, 3, unix.MAP_SHARED}, pass},
		{"shared memory", true, false, unix.SYS_MMAP, [6]uint64{0, 1, 3, unix.MAP_SHARED | unix.MAP_ANONYMOUS}, eperm},
		{"shared memory, validated", true, false, unix.SYS_MMAP, [6]uint64{0, 1, 3, unix.MAP_SHARED_VALIDATE | unix.MAP_ANONYMOUS}, eperm},
		{"growing memory", true, false, unix.SYS_MMAP, [6]uint64{0, 1, 3, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_GROWSDOWN}, eperm},
		{"name", true, false, unix.SYS_PRCTL, [6]uint64{unix.PR_SET_NAME}, pass},
		{"death signal", true, false, unix.SYS_PRCTL, [6]uint64{unix.PR_SET_PDEATHSIG}, eperm},
		{"memory map", true, false, unix.SYS_PRCTL, [6]uint64{unix.PR_SET_MM}, eperm},
		{"own limits", true, false, unix.SYS_PRLIMIT64, [6]uint64{dirt}, pass},
		{"limits of others", true, false, unix.SYS_PRLIMIT64, [6]uint64{1}, eperm},
		{"own priority", true, false, unix.SYS_SETPRIORITY, [6]uint64{unix.PRIO_PROCESS, 0}, pass},
		{"priority of others", true, false, unix.SYS_SETPRIORITY, [6]uint64{unix.PRIO_PROCESS, 1}, eperm},
		{"priority of a user", true, false, unix.SYS_SETPRIORITY, [6]uint64{unix.PRIO_USER, 0}, eperm},
		{"processors of others", true, false, unix.SYS_SCHED_SETAFFINITY, [6]uint64{1}, eperm},
		{"pair of streams", true, false, unix.SYS_SOCKETPAIR, [6]uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, pass},
		{"pair of datagrams", true, false, unix.SYS_SOCKETPAIR, [6]uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, eperm},
		{"pair of others", true, true, unix.SYS_SOCKETPAIR, [6]uint64{unix.AF_INET, unix.SOCK_STREAM}, eperm},
		{"socket", true, false, unix.SYS_SOCKET, [6]uint64{unix.AF_INET, unix.SOCK_STREAM}, eperm},
		{"connect", true, false, unix.SYS_CONNECT, [6]uint64{}, eperm},
		{"TCP with network", true, true, unix.SYS_SOCKET, [6]uint64{unix.AF_INET, unix.SOCK_STREAM | unix.SOCK_NONBLOCK, unix.IPPROTO_TCP}, pass},
		{"UDP6 with network", true, true, unix.SYS_SOCKET, [6]uint64{unix.AF_INET6, unix.SOCK_DGRAM}, pass},
		{"MPTCP with network", true, true, unix.SYS_SOCKET, [6]uint64{unix.AF_INET, unix.SOCK_STREAM, 262}, eperm},
		{"raw with network", true, true, unix.SYS_SOCKET, [6]uint64{unix.AF_INET, unix.SOCK_RAW}, eperm},
		{"unix with network", true, true, unix.SYS_SOCKET, [6]uint64{unix.AF_UNIX, unix.SOCK_STREAM}, eperm},
		{"listen with network", true, true, unix.SYS_LISTEN, [6]uint64{}, eperm},
		{"kill, scoped by Landlock", true, false, unix.SYS_KILL, [6]uint64{1}, pass},
		{"kill others", false, false, unix.SYS_KILL, [6]uint64{1}, eperm},
		{"kill all", false, false, unix.SYS_KILL, [6]uint64{minus(1)}, eperm},
		{"kill self", false, false, unix.SYS_KILL, [6]uint64{self}, pass},
		{"kill own group", false, false, unix.SYS_KILL, [6]uint64{minus(self)}, pass},
		{"kill own group by 0", false, false, unix.SYS_KILL, [6]uint64{0}, pass},
		{"abort", false, false, unix.SYS_TGKILL, [6]uint64{self, 99}, pass},
		{"thread of others", false, false, unix.SYS_TGKILL, [6]uint64{1, 99}, eperm},
		{"thread by number", false, false, unix.SYS_TKILL, [6]uint64{self}, eperm},
		{"queue", false, false, unix.SYS_RT_SIGQUEUEINFO, [6]uint64{self}, eperm},
	}
	for _, tt := range tests {
		p := filter(self, tt.scoped, tt.network)
		if got := run(t, p, call{tt.nr, auditArch, tt.args}); got != tt.want {
			t.Errorf("%s: %#x, want %#x", tt.name, got, tt.want)
		}
	}
}

// TestJumpsFit guards against a rule whose block is longer than a jump.
func TestJumpsFit(t *testing.T) {
	for _, scoped := range []bool{true, false} {
		for _, r := range rules(self, scoped, true) {
			if n := len(r.compile(pass, eperm)); n > 255 {
				t.Errorf("the rule of call %d has %d instructions", r.nr, n)
			}
		}
	}
}

// FuzzFilter looks for calls that get through beside the list.
func FuzzFilter(f *testing.F) {
	f.Add(uint32(unix.SYS_CLONE), uint64(unix.CLONE_NEWUSER), uint64(0), uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, nr uint32, a, b, c, d uint64) {
		got := run(t, filter(self, true, false), call{nr, auditArch, [6]uint64{a, b, c, d}})
		known := slices.Contains(allowed, nr) || slices.Contains(signals, nr) ||
			slices.ContainsFunc(rules(self, true, false), func(r rule) bool { return r.nr == nr })
		if got == pass && !known {
			t.Errorf("call %d passes", nr)
		}
	})
}
