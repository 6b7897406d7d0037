package proc

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// marker is the name under which this program starts itself to be a keeper.
const marker = "flowgen: keeper of processes"

const (
	connection = 3  // descriptor of the connection to the program
	mostFiles  = 64 // of one child
	mostBytes  = 64 << 20
)

// init makes a keeper of a process that was started as one. In every other process it looks at one string.
func init() {
	if len(os.Args) != 1 || os.Args[0] != marker {
		return
	}
	runtime.LockOSThread() // children are killed when the thread that started them ends, which the main one does with the process
	if err := keep(); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// keeping is a keeper at work.
type keeping struct {
	mu    sync.Mutex // while processes are started and looked at
	known map[int]*known
	ids   map[uint32]*known
}

// known is a child that was asked for.
type known struct {
	id     uint32
	pid    int
	exited bool
}

func keep() error {
	var st unix.Stat_t
	if unix.Fstat(connection, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return errors.New("started without a connection")
	}
	unix.CloseOnExec(connection)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	// It ends with the program alone. Signals are taken and dropped, for children would inherit that they are ignored.
	for _, s := range []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGPIPE, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM} {
		if !signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	k := &keeping{known: map[int]*known{}, ids: map[uint32]*known{}}
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, unix.SIGCHLD)
	go func() {
		for range ends {
			k.look()
		}
	}()
	for {
		if err := k.next(); err != nil {
			break // the program is gone
		}
	}
	k.killAll()
	return nil
}

// next does what the program asks for.
func (k *keeping) next() error {
	head := make([]byte, messageSize)
	oob := make([]byte, unix.CmsgSpace(4*mostFiles))
	n, oobn, _, _, err := unix.Recvmsg(connection, head, oob, unix.MSG_CMSG_CLOEXEC)
	for err == unix.EINTR {
		n, oobn, _, _, err = unix.Recvmsg(connection, head, oob, unix.MSG_CMSG_CLOEXEC)
	}
	if err != nil {
		return err
	}
	if n == 0 {
		return io.EOF
	}
	if err := receive(head[n:]); err != nil {
		return err
	}
	r := parseRequest(head)
	if r.size < 0 || r.size > mostBytes {
		return errors.New("too much")
	}
	body := make([]byte, r.size)
	if err := receive(body); err != nil {
		return err
	}
	switch r.kind {
	case kindStart:
		return k.start(r, string(body), received(oob[:oobn]))
	case kindReap:
		k.reap(r.id)
		return nil
	}
	return errors.New("not a request")
}

// receive fills b.
func receive(b []byte) error {
	for len(b) > 0 {
		n, err := unix.Read(connection, b)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n == 0:
			return io.EOF
		default:
			b = b[n:]
		}
	}
	return nil
}

func received(oob []byte) []uintptr {
	var files []uintptr
	messages, _ := unix.ParseSocketControlMessage(oob)
	for _, m := range messages {
		fds, _ := unix.ParseUnixRights(&m)
		for _, fd := range fds {
			files = append(files, uintptr(fd))
		}
	}
	return files
}

func (k *keeping) start(r request, body string, files []uintptr) error {
	defer func() {
		for _, fd := range files {
			_ = unix.Close(int(fd))
		}
	}()
	text := strings.Split(body, "\x00")
	if len(text) < 2+r.args {
		return errors.New("not a request")
	}
	attr := &syscall.ProcAttr{Dir: text[1], Env: text[2+r.args:], Files: files, Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}}
	k.mu.Lock()
	defer k.mu.Unlock()
	pid, err := syscall.ForkExec(text[0], text[2:2+r.args], attr)
	if err != nil {
		errno := syscall.EINVAL
		errors.As(err, &errno)
		return say(report{kind: kindFailed, id: r.id, value: int32(errno)})
	}
	c := &known{id: r.id, pid: pid}
	k.known[pid], k.ids[r.id] = c, c
	return say(report{kind: kindStarted, id: r.id, value: int32(pid)})
}

// say tells the program something. That it is gone shows where requests are read.
func say(r report) error {
	for b := r.bytes(); len(b) > 0; {
		n, err := unix.SendmsgN(connection, b, nil, nil, unix.MSG_NOSIGNAL)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// reap collects a child that has ended, when the program has done with its group.
func (k *keeping) reap(id uint32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.ids[id]
	if c == nil || !c.exited {
		return
	}
	kill(c.pid)
	delete(k.ids, id)
	delete(k.known, c.pid)
	collect(c.pid, 0)
}

func collect(pid, options int) (n int) {
	for {
		n, err := unix.Wait4(pid, nil, options, nil)
		if err != unix.EINTR {
			return n
		}
	}
}

// look tells of the children that have ended and collects adopted ones.
func (k *keeping) look() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for pid, c := range k.known {
		if c.exited {
			continue
		}
		var info unix.Siginfo
		if unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil) != nil || info.Signo == 0 {
			continue
		}
		c.exited = true
		r := report{kind: kindExited, id: c.id, value: statusOf(&info)}
		if info.Code != cldExited {
			r.value, r.signal = 0, r.value
		}
		_ = say(r)
	}
	for _, pid := range children() {
		if k.known[pid] == nil {
			collect(pid, unix.WNOHANG)
		}
	}
}

const cldExited = 1

// statusOf is si_status: after three ints, the union that is aligned as pointers are, and in it a number and a user.
func statusOf(info *unix.Siginfo) int32 {
	at := (12+unsafe.Sizeof(uintptr(0))-1)&^(unsafe.Sizeof(uintptr(0))-1) + 8
	return *(*int32)(unsafe.Add(unsafe.Pointer(info), at))
}

// children are the numbers of all children of this process.
func children() []int {
	self := strconv.Itoa(os.Getpid())
	// Those of the main thread, which starts all and is the first to adopt.
	if text, err := os.ReadFile("/proc/self/task/" + self + "/children"); err == nil {
		return numbers(strings.Fields(string(text)))
	}
	names, _ := os.ReadDir("/proc") // kernels without that file
	var out []int
	for _, e := range names {
		text, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		// The name may hold anything, and ends with the last parenthesis.
		if f := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]); len(f) > 1 && string(f[1]) == self {
			out = append(out, numbers([]string{e.Name()})...)
		}
	}
	return out
}

func numbers(words []string) []int {
	var out []int
	for _, w := range words {
		if n, err := strconv.Atoi(w); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// killAll ends all descendants: each that is killed leaves its children to this process. What it may not kill, such as a program that
// became another user, is left.
func (k *keeping) killAll() {
	k.mu.Lock() // for good
	for pid := range k.known {
		kill(pid)
	}
	for {
		killed := false
		for _, pid := range children() {
			if unix.Kill(pid, unix.SIGKILL) == nil {
				killed = true
			}
		}
		if !killed {
			return
		}
		collect(-1, 0)
		for collect(-1, unix.WNOHANG) > 0 {
		}
	}
}
