package worker

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
)

// The test binary is the worker of these tests: it speaks the protocol, and breaks it when a call says so.

const fakeVariable = "WORKER_TEST"

// begunWord is what the worker prints before the name of a call that lasts.
const begunWord = "begun"

func TestMain(m *testing.M) {
	switch os.Getenv(fakeVariable) {
	case "":
		leaks.Main(m)
	case "parent":
		parent()
	default:
		fake(os.Getenv(fakeVariable))
	}
}

func config(mode string) Config {
	return Config{
		Name:       "test worker",
		Command:    func() ([]string, error) { return []string{os.Args[0]}, nil },
		Env:        []string{fakeVariable + "=" + mode},
		Setup:      func() ([]byte, error) { return []byte("setup"), nil },
		Lanes:      2,
		MaxWorkers: 2,
		PerWorker:  64,
	}
}

func newPool(t testing.TB, mode string, change ...func(*Config)) *Pool {
	t.Helper()
	c := config(mode)
	for _, f := range change {
		f(&c)
	}
	p := New(c)
	t.Cleanup(func() {
		p.Shutdown()
		pools.Lock()
		delete(pools.all, p)
		pools.Unlock()
	})
	return p
}

// patient makes p wait for workers as long as a busy machine may take.
func patient(p *Pool) *Pool {
	p.grace, p.drain = time.Minute, time.Minute
	return p
}

func request(text string, e flow.Effects) *Call {
	return &Call{What: "f", Body: [][]byte{[]byte(text)}, Effects: e}
}

// fake is the worker. A call's body is a command and its arguments.
func fake(mode string) {
	out := os.NewFile(4, "out")
	switch mode {
	case "exit":
		fmt.Fprintln(os.Stderr, "ImportError: no such thing")
		os.Exit(3)
	case "silent":
		hang()
	case "noise":
		_, _ = out.WriteString(strings.Repeat("garbage", 100))
		hang()
	}
	w := &fakeWorker{out: out, cancelled: make(chan uint32, 100), late: make(chan struct{})}
	done := make(chan struct{})
	for _, fd := range []uintptr{3, 5} {
		go func() {
			w.serve(os.NewFile(fd, "lane"), fd == 3)
			close(done)
		}()
	}
	<-done
	if mode == "stays" {
		hang()
	}
	os.Exit(0)
}

type fakeWorker struct {
	out       *os.File
	cancelled chan uint32
	late      chan struct{} // closed when a call that runs has ended
}

func (w *fakeWorker) serve(in io.Reader, first bool) {
	r := bufio.NewReader(in)
	for {
		var head [headerSize]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return
		}
		h, _ := parseHeader(head[:])
		body := make([]byte, h.size)
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		switch h.kind {
		case kindSetup:
			w.write(0, kindReady, "")
		case kindCancel:
			w.cancelled <- h.id
		case kindCall:
			f := strings.SplitN(string(body), " ", 2)
			if first {
				w.call(h.id, f)
			} else {
				go w.call(h.id, f)
			}
		}
	}
}

func (w *fakeWorker) write(id uint32, kind byte, body string) {
	_, _ = w.out.Write(frame(nil, id, kind, []byte(body)))
}

func (w *fakeWorker) call(id uint32, f []string) {
	number := 0
	if len(f) > 1 {
		number, _ = strconv.Atoi(f[1])
	}
	begun := func() { fmt.Fprintln(os.Stderr, begunWord, f[0]) }
	switch f[0] {
	case "echo":
		w.write(id, kindResult, f[1])
	case "pid":
		w.write(id, kindResult, strconv.Itoa(os.Getpid()))
	case "env":
		w.write(id, kindResult, strings.Join(os.Environ(), "\n"))
	case "wait": // takes its time, see gate
		begun()
		pass(f[1])
		w.write(id, kindResult, "waited")
	case "hang": // deaf to everything
		begun()
		hang()
	case "stop": // ends when it is told to
		begun()
		<-w.cancelled
		w.write(id, kindError, `{"code":"TIMEOUT","message":"stopped"}`)
	case "runs": // says that it goes on
		begun()
		w.write(<-w.cancelled, kindRuns, "")
		if len(f) == 1 {
			hang()
		}
		pass(f[1])
		w.write(id, kindResult, "late")
		close(w.late)
	case "outlasts": // ends after a call that says that it goes on
		begun()
		<-w.late
		w.write(id, kindResult, "slept")
	case "fail":
		w.write(id, kindError, `{"code":"RATE_LIMIT","message":"slow\u001b[31m down","details":{"a":1},"retry_after_s":2.5}`)
	case "odd-error":
		w.write(id, kindError, `{"code":"NONSENSE","message":"m"}`)
	case "bad-error":
		w.write(id, kindError, `{"code":1}`)
	case "beside": // attaches f[1] and answers
		w.write(id, kindAttached, f[1])
		w.write(id, kindResult, "1")
	case "beside-twice":
		w.write(id, kindAttached, "[]")
		w.write(id, kindAttached, "[]")
		w.write(id, kindResult, "1")
	case "beside-large":
		w.write(id, kindAttached, strings.Repeat(" ", maxAttached+1))
		w.write(id, kindResult, "1")
	case "logs": // prints, also when the call has ended
		w.write(id, kindLogs, "one\n")
		w.write(id, kindLogs, "two\n")
		w.write(id, kindResult, "1")
		w.write(id, kindLogs, "late\n")
	case "logs-large":
		w.write(id, kindLogs, strings.Repeat("x", maxLogs+1))
		w.write(id, kindResult, "1")
	case "logs-stranger":
		w.write(id+1000, kindLogs, "x")
		w.write(id, kindResult, "1")
	case "large": // a whole frame of that many bytes
		w.write(id, kindResult, strings.Repeat("x", number))
	case "claim": // a frame that claims so many bytes and has none
		b := frame(nil, id, kindResult, nil)
		binary.BigEndian.PutUint32(b, uint32(number))
		_, _ = w.out.Write(b)
	case "garbage":
		_, _ = w.out.WriteString(strings.Repeat("garbage", number))
	case "stranger": // an answer to nobody
		w.write(id+1000, kindResult, "1")
	case "twice":
		w.write(id, kindResult, "1")
		w.write(id, kindResult, "2")
	case "half":
		_, _ = w.out.Write(frame(nil, id, kindResult, []byte("whole"))[:11])
		os.Exit(1)
	case "exit":
		fmt.Fprintln(os.Stderr, "last words")
		os.Exit(number)
	case "escape": // leaves a process in a session of its own that holds the connection until a file is there
		cmd := exec.Command("sh", "-c", `while [ ! -e "$0" ]; do sleep 0.01; done`, f[1])
		cmd.ExtraFiles = []*os.File{w.out}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			w.write(id, kindResult, err.Error())
			return
		}
		os.Exit(1)
	case "shut": // closes the first lane, in which it runs, and ends later
		_ = syscall.Close(3)
		begun()
		pass(f[1])
		fmt.Fprintln(os.Stderr, "last words")
		os.Exit(3)
	case "reply-and-exit":
		w.write(id, kindResult, "bye")
		os.Exit(0)
	case "close":
		_ = w.out.Close()
		hang()
	case "child": // leaves a child in the group that holds everything open
		cmd := exec.Command("sleep", "3600")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.ExtraFiles = []*os.File{w.out}
		if err := cmd.Start(); err != nil {
			w.write(id, kindResult, err.Error())
			return
		}
		w.write(id, kindResult, strconv.Itoa(cmd.Process.Pid))
	case "print":
		fmt.Fprint(os.Stdout, strings.Repeat("noise on stdout\n", number))
		fmt.Fprint(os.Stderr, strings.Repeat("noise on stderr\n", number))
		w.write(id, kindResult, "printed")
	}
}

// parent starts a worker, says who it is, and waits to be killed.
func parent() {
	p := New(config("stays"))
	for _, what := range []string{"pid", "child"} {
		b, err := p.Call(testContext{}, request(what, flow.None))
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(string(b))
	}
	hang()
}

// hang waits to be killed.
func hang() {
	r, w, err := os.Pipe()
	if err == nil {
		_, _ = r.Read(make([]byte, 1))
	}
	goruntime.KeepAlive(w)
}

// gate makes a pipe with a name that calls wait at until the test opens it. Then it lets one of them pass.
func gate(t *testing.T) (name string, open func()) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "gate")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return name, func() { _, _ = f.WriteString("x") }
}

// pass waits at a gate.
func pass(name string) {
	if f, err := os.Open(name); err == nil {
		_, _ = f.Read(make([]byte, 1))
	}
}
