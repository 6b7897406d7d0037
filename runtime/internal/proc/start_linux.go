package proc

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// kept is the keeper of this program, and its children.
var kept struct {
	sync.Mutex
	k *keeper
}

// A keeper is this program's end of the connection to it.
type keeper struct {
	pid  int
	conn *os.File
	gone chan struct{} // closed when nothing more comes from it

	sending sync.Mutex

	mu       sync.Mutex
	dead     bool
	last     uint32
	starting map[uint32]chan answer
	children map[uint32]*Child
}

// answer says what became of a request to start.
type answer struct {
	child *Child
	err   error
}

var errKeeper = errors.New("the keeper of processes ended")

// hire returns the keeper, nil where none can be started.
func hire() *keeper {
	kept.Lock()
	defer kept.Unlock()
	if k := kept.k; k != nil && !k.ended() {
		return k
	}
	k, err := newKeeper()
	if err != nil {
		return nil
	}
	kept.k = k
	return k
}

func (k *keeper) ended() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.dead
}

// Parent returns the number of the process whose children Start makes, now.
func Parent() int {
	if k := hire(); k != nil {
		return k.pid
	}
	return os.Getpid()
}

// Close ends the keeper when no Child is left, and with it what the children of this program have left behind. Programs call it at
// their end to wait for that; it happens without it as well.
func Close() {
	kept.Lock()
	k := kept.k
	if k == nil || k.busy() {
		kept.Unlock()
		return
	}
	kept.k = nil
	kept.Unlock()
	if raw, err := k.conn.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_WR) })
	}
	<-k.gone
}

// busy says whether children are left. A keeper that is not takes no new ones.
func (k *keeper) busy() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.children) > 0 || len(k.starting) > 0 {
		return true
	}
	k.dead = true
	return false
}

func newKeeper() (*keeper, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	theirs := os.NewFile(uintptr(fds[1]), "keeper")
	defer theirs.Close()
	if err := unix.SetNonblock(fds[0], true); err != nil {
		_ = unix.Close(fds[0])
		return nil, err
	}
	k := &keeper{conn: os.NewFile(uintptr(fds[0]), "keeper"), gone: make(chan struct{}), starting: map[uint32]chan answer{}, children: map[uint32]*Child{}}
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{marker}
	cmd.Env = []string{"GOMAXPROCS=2", "GOTRACEBACK=none"} // none of this program's: it may hold secrets
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // what is sent to this program's group is not for it
	if err := cmd.Start(); err != nil {
		_ = k.conn.Close()
		return nil, err
	}
	k.pid = cmd.Process.Pid
	go k.listen(cmd)
	return k, nil
}

// start starts cmd as a child of the keeper.
func start(cmd *exec.Cmd) (*Child, error) {
	for range 2 {
		k := hire()
		if k == nil {
			break
		}
		c, err := k.start(cmd)
		if !errors.Is(err, errKeeper) {
			return c, err
		}
	}
	return direct(cmd)
}

func (k *keeper) start(cmd *exec.Cmd) (*Child, error) {
	env := cmd.Environ()
	dir, err := filepath.Abs(cmd.Dir) // the keeper is elsewhere
	if err != nil {
		return nil, err
	}
	text := append(append([]string{cmd.Path, dir}, cmd.Args...), env...)
	body := []byte(strings.Join(text, "\x00"))
	if strings.Count(string(body), "\x00") != len(text)-1 {
		return nil, &fs.PathError{Op: "fork/exec", Path: cmd.Path, Err: syscall.EINVAL}
	}
	files, closeNull, err := filesOf(cmd)
	if err != nil {
		return nil, err
	}
	defer closeNull()
	done := make(chan answer, 1)
	k.mu.Lock()
	if k.dead {
		k.mu.Unlock()
		return nil, errKeeper
	}
	k.last++
	id := k.last
	k.starting[id] = done
	k.mu.Unlock()
	if err := k.send(request{kind: kindStart, id: id, args: len(cmd.Args), size: len(body)}, files, body); err != nil {
		_ = unix.Kill(k.pid, unix.SIGKILL) // it is of no use any more
		<-done
		return nil, errKeeper
	}
	a := <-done
	if errno, ok := a.err.(syscall.Errno); ok {
		return nil, &fs.PathError{Op: "fork/exec", Path: cmd.Path, Err: errno}
	}
	return a.child, a.err
}

// filesOf are the descriptors of the child in their order.
func filesOf(cmd *exec.Cmd) (fds []int, closeNull func(), err error) {
	closeNull = func() {}
	var null *os.File
	for _, stream := range []any{cmd.Stdin, cmd.Stdout, cmd.Stderr} {
		f, ok := stream.(*os.File)
		if stream != nil && !ok {
			closeNull()
			return nil, nil, errors.New("a standard stream is not a file")
		}
		if f == nil {
			if null == nil {
				if null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil {
					return nil, nil, err
				}
				closeNull = func() { _ = null.Close() }
			}
			f = null
		}
		fds = append(fds, int(f.Fd()))
	}
	for _, f := range cmd.ExtraFiles {
		fds = append(fds, int(f.Fd()))
	}
	return fds, closeNull, nil
}

// send sends a request whole.
func (k *keeper) send(r request, fds []int, body []byte) error {
	raw, err := k.conn.SyscallConn()
	if err != nil {
		return err
	}
	k.sending.Lock()
	defer k.sending.Unlock()
	var failed error
	err = raw.Write(func(fd uintptr) bool {
		_, failed = unix.SendmsgN(int(fd), r.bytes(), unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL) // so few bytes go at once
		return failed != unix.EAGAIN && failed != unix.EINTR
	})
	if err = errors.Join(err, failed); err == nil && len(body) > 0 {
		_, err = k.conn.Write(body)
	}
	return err
}

// listen takes what the keeper says until it ends.
func (k *keeper) listen(cmd *exec.Cmd) {
	defer close(k.gone)
	var b [messageSize]byte
	for {
		if _, err := io.ReadFull(k.conn, b[:]); err != nil {
			break
		}
		k.take(parseReport(b[:]))
	}
	_ = cmd.Process.Kill() // it may have closed the connection only
	_ = cmd.Wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dead = true
	for _, done := range k.starting {
		done <- answer{err: errKeeper}
	}
	for _, c := range k.children { // they were killed with it
		c.end(State{Lost: true})
	}
	clear(k.starting)
	clear(k.children)
	_ = k.conn.Close()
}

func (k *keeper) take(r report) {
	k.mu.Lock()
	defer k.mu.Unlock()
	done := k.starting[r.id]
	switch {
	case r.kind == kindStarted && done != nil:
		c := &Child{Pid: int(r.value), exited: make(chan struct{})}
		c.collect = func() { k.reap(r.id) }
		k.children[r.id] = c
		done <- answer{child: c}
	case r.kind == kindFailed && done != nil:
		done <- answer{err: syscall.Errno(r.value)}
	case r.kind == kindExited:
		if c := k.children[r.id]; c != nil {
			s := State{Code: int(r.value)}
			if r.signal != 0 {
				s = State{Code: -1, Signal: nameOf(syscall.Signal(r.signal))}
			}
			c.end(s)
		}
		return
	}
	delete(k.starting, r.id)
}

// end says how a child ended, once.
func (c *Child) end(s State) {
	select {
	case <-c.exited:
	default:
		c.state = s
		close(c.exited)
	}
}

// reap has the keeper collect a child that has ended. Nobody waits for it.
func (k *keeper) reap(id uint32) {
	k.mu.Lock()
	delete(k.children, id)
	k.mu.Unlock()
	_ = k.send(request{kind: kindReap, id: id}, nil, nil)
}

// await blocks until a child of this program has ended, and leaves it a zombie.
func await(pid int) bool {
	for {
		if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != unix.EINTR {
			return err == nil
		}
	}
}

// Adopted lists the processes of the session of a child that the child's own children have left to the keeper.
func Adopted(pid int) []int {
	kept.Lock()
	k := kept.k
	kept.Unlock()
	if k == nil {
		return nil
	}
	self := strconv.Itoa(k.pid)
	text, _ := os.ReadFile("/proc/" + self + "/task/" + self + "/children")
	var all []int
	for _, child := range numbers(strings.Fields(string(text))) {
		if sid, err := unix.Getsid(child); err == nil && sid == pid && child != pid {
			all = append(all, child)
		}
	}
	return all
}
