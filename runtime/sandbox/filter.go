//go:build linux && (amd64 || arm64)

package sandbox

import (
	"slices"

	"golang.org/x/sys/unix"
)

// The filter lists what is allowed. A system call that is not in it fails with EPERM; one that is newer than the list, and
// clone3, whose arguments no filter can read, fail with ENOSYS, which makes C libraries take the older way.

// A test compares the low 32 bits of one argument under a mask. The kernel reads all the arguments tested here as 32 bits.
type test struct {
	arg       uint32
	mask, val uint32
}

const exact = ^uint32(0)

// A rule is about one system call: it is allowed when all tests of one of the alternatives hold, or, with deny, when none does.
type rule struct {
	nr   uint32
	deny bool
	alts [][]test
}

func is(arg uint32, vals ...uint32) [][]test {
	var alts [][]test
	for _, v := range vals {
		alts = append(alts, []test{{arg, exact, v}})
	}
	return alts
}

// namespaces are the flags of clone that make namespaces; CLONE_PARENT would leave zombies to this program.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
	unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWTIME | unix.CLONE_PARENT

// The flags of prctl that change nothing beyond the process. PR_SET_PDEATHSIG is not among them: it keeps the process from
// outliving this program.
var prctls = []uint32{
	unix.PR_GET_PDEATHSIG, unix.PR_GET_DUMPABLE, unix.PR_SET_DUMPABLE, unix.PR_GET_KEEPCAPS, unix.PR_SET_NAME, unix.PR_GET_NAME,
	unix.PR_GET_SECCOMP, unix.PR_CAPBSET_READ, unix.PR_GET_TIMERSLACK, unix.PR_SET_TIMERSLACK, unix.PR_GET_SECUREBITS,
	unix.PR_SET_NO_NEW_PRIVS, unix.PR_GET_NO_NEW_PRIVS, unix.PR_GET_TID_ADDRESS, unix.PR_SET_THP_DISABLE, unix.PR_GET_THP_DISABLE,
	unix.PR_SET_VMA, unix.PR_GET_SPECULATION_CTRL, unix.PR_SVE_GET_VL, unix.PR_SVE_SET_VL, unix.PR_PAC_RESET_KEYS,
	unix.PR_GET_TAGGED_ADDR_CTRL, unix.PR_SET_TAGGED_ADDR_CTRL,
}

// rules are about the system calls whose arguments decide. self is the number of the process and of its group.
func rules(self int, scoped, network bool) []rule {
	const (
		tiocsti, tioclinux, tiocsctty = 0x5412, 0x541c, 0x540e
		fiosetown, siocspgrp          = 0x8901, 0x8902
		kind                          = 0xf // of a socket: the rest are flags
	)
	out := []rule{
		{nr: unix.SYS_CLONE, deny: true, alts: anyBit(0, namespaces)},
		{nr: unix.SYS_IOCTL, deny: true, alts: is(1, tiocsti, tioclinux, tiocsctty, fiosetown, siocspgrp)},
		{nr: unix.SYS_FCNTL, deny: true, alts: is(1, unix.F_SETOWN, unix.F_SETOWN_EX, unix.F_NOTIFY)},
		// Shared memory without a file and mappings that grow down escape RLIMIT_DATA.
		{nr: unix.SYS_MMAP, deny: true, alts: [][]test{
			{{3, unix.MAP_SHARED | unix.MAP_ANONYMOUS, unix.MAP_SHARED | unix.MAP_ANONYMOUS}},
			{{3, unix.MAP_GROWSDOWN, unix.MAP_GROWSDOWN}},
		}},
		{nr: unix.SYS_PRCTL, alts: is(0, prctls...)},
		{nr: unix.SYS_PERSONALITY, alts: is(0, 0, 0xffffffff)},
		// The limits, priority and processors of other processes of the same user are not the tool's.
		{nr: unix.SYS_PRLIMIT64, alts: is(0, 0)},
		{nr: unix.SYS_SETPRIORITY, alts: [][]test{{{0, exact, unix.PRIO_PROCESS}, {1, exact, 0}}}},
		{nr: unix.SYS_SCHED_SETAFFINITY, alts: is(0, 0)},
		{nr: unix.SYS_SCHED_SETSCHEDULER, alts: is(0, 0)},
		{nr: unix.SYS_SCHED_SETPARAM, alts: is(0, 0)},
		{nr: unix.SYS_SCHED_SETATTR, alts: is(0, 0)},
		// A pair of connected streams reaches nobody else; datagrams could be sent to any address.
		{nr: unix.SYS_SOCKETPAIR, alts: [][]test{{{0, exact, unix.AF_UNIX}, {1, kind, unix.SOCK_STREAM}}}},
	}
	if !scoped {
		// Before Linux 6.12 Landlock does not hold signals back: only the first process and the group as a whole get them.
		group := uint32(-self)
		out = append(out,
			rule{nr: unix.SYS_KILL, alts: is(0, 0, uint32(self), group)},
			rule{nr: unix.SYS_TGKILL, alts: is(0, uint32(self))})
	}
	if network {
		for _, family := range []uint32{unix.AF_INET, unix.AF_INET6} {
			var alts [][]test
			for _, t := range []uint32{unix.SOCK_STREAM, unix.SOCK_DGRAM} {
				for _, proto := range []uint32{0, unix.IPPROTO_TCP, unix.IPPROTO_UDP} {
					alts = append(alts, []test{{0, exact, family}, {1, kind, t}, {2, exact, proto}})
				}
			}
			out = append(out, rule{nr: unix.SYS_SOCKET, alts: alts})
		}
		// One rule for each system call: the second family's alternatives join the first's.
		last, before := out[len(out)-1], &out[len(out)-2]
		before.alts = append(before.alts, last.alts...)
		out = out[:len(out)-1]
	}
	return out
}

func anyBit(arg, bits uint32) [][]test {
	var alts [][]test
	for b := uint32(1); b != 0; b <<= 1 {
		if bits&b != 0 {
			alts = append(alts, []test{{arg, b, b}})
		}
	}
	return alts
}

// signals are the calls that Landlock alone can bound.
var signals = []uint32{unix.SYS_KILL, unix.SYS_TGKILL, unix.SYS_TKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_PIDFD_SEND_SIGNAL}

// outgoing are the calls that come with a socket.
var outgoing = []uint32{unix.SYS_CONNECT}

// ignored are calls that Landlock does not see and that change files of the user by path or through a descriptor that may only
// read. Tools that copy files make them all the time, so they succeed without doing anything.
var ignored = append([]uint32{unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_UTIMENSAT}, ignoredHere...)

// filter returns the program for this architecture.
func filter(self int, scoped, network bool) []unix.SockFilter {
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		jeq   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		jge   = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		ret   = unix.BPF_RET | unix.BPF_K
		kill  = unix.SECCOMP_RET_KILL_PROCESS
		pass  = unix.SECCOMP_RET_ALLOW
		fail  = unix.SECCOMP_RET_ERRNO
		x32   = 0x40000000
		nrAt  = 0
		arch  = 4
		noSys = fail | uint32(unix.ENOSYS)
		eperm = fail | uint32(unix.EPERM)
	)
	// Another architecture, and x32, which shares the number of amd64: numbers would mean other calls.
	p := []unix.SockFilter{
		{Code: load, K: arch}, {Code: jeq, K: auditArch, Jt: 1}, {Code: ret, K: kill},
		{Code: load, K: nrAt}, {Code: jge, K: x32, Jf: 1}, {Code: ret, K: kill},
	}
	list := slices.Clone(allowed)
	if scoped {
		list = append(list, signals...)
	}
	if network {
		list = append(list, outgoing...)
	}
	for _, r := range rules(self, scoped, network) {
		block := r.compile(pass, eperm)
		p = append(p, unix.SockFilter{Code: jeq, K: r.nr, Jf: uint8(len(block))})
		p = append(p, block...)
		list = slices.DeleteFunc(list, func(nr uint32) bool { return nr == r.nr })
	}
	for _, nr := range ignored {
		p = append(p, unix.SockFilter{Code: jeq, K: nr, Jf: 1}, unix.SockFilter{Code: ret, K: fail})
	}
	p = append(p, unix.SockFilter{Code: jeq, K: unix.SYS_CLONE3, Jf: 1}, unix.SockFilter{Code: ret, K: noSys},
		unix.SockFilter{Code: jge, K: newest + 1, Jf: 1}, unix.SockFilter{Code: ret, K: noSys})
	for _, r := range ranges(list) {
		p = append(p, unix.SockFilter{Code: jge, K: r[1] + 1, Jt: 3}, unix.SockFilter{Code: jge, K: r[0], Jf: 1},
			unix.SockFilter{Code: ret, K: pass}, unix.SockFilter{Code: ret, K: eperm})
	}
	return append(p, unix.SockFilter{Code: ret, K: eperm})
}

// newest is the last system call that this list was made with: mseal. Later ones have higher numbers on all architectures.
const newest = 462

// compile returns instructions all of whose paths return.
func (r rule) compile(pass, refuse uint32) []unix.SockFilter {
	hit, miss := pass, refuse
	if r.deny {
		hit, miss = refuse, pass
	}
	var p []unix.SockFilter
	for _, alt := range r.alts {
		size := 1 // the return
		for _, t := range alt {
			size += t.size()
		}
		for _, t := range alt {
			size -= t.size()
			p = append(p, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 16 + 8*t.arg}) // both are little-endian
			if t.mask != exact {
				p = append(p, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: t.mask})
			}
			p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: t.val, Jf: uint8(size)})
		}
		p = append(p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: hit})
	}
	return append(p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: miss})
}

func (t test) size() int {
	if t.mask != exact {
		return 3
	}
	return 2
}

// ranges joins neighbouring numbers, in ascending order.
func ranges(list []uint32) [][2]uint32 {
	slices.Sort(list)
	list = slices.Compact(list)
	var out [][2]uint32
	for _, nr := range list {
		if n := len(out); n > 0 && out[n-1][1]+1 == nr {
			out[n-1][1] = nr
			continue
		}
		out = append(out, [2]uint32{nr, nr})
	}
	return out
}
