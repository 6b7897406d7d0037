package worker

import (
	"bytes"
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
)

// A gauge looks from outside at what a worker holds, after calls: a tool cannot lie about it. The files of /proc stay open, so
// that a look takes about a microsecond.
type gauge struct {
	pid                int
	fds, tasks         int      // directories, opened as paths
	statm              *os.File // sizes of the memory
	descriptors, data  uint64   // limits of the process; 0 is none
	stack              uint64   // of a thread
	first              held     // after the first call, which imports the module
	calls, looks       int
	beyond, beyondData uint64 // what is too much, from the second look on
}

// held is what a process holds.
type held struct{ descriptors, threads, data uint64 }

const (
	mostDescriptors = 4096    // that make a difference where the limit is higher
	moreThreads     = 64      // than calls at a time
	moreData        = 1 << 30 // where there is no limit
	mostChildren    = 16      // left behind, ended or not
	everyLooks      = 16      // are the children counted
	fewCalls        = 4       // at a time; where there were more, every fourth is looked after
)

// newGauge returns the gauge of a worker that is ready; nil, which finds nothing, where /proc does not tell.
func newGauge(pid int) *gauge {
	dir := "/proc/" + strconv.Itoa(pid)
	limits, _ := os.ReadFile(dir + "/limits")
	g := &gauge{pid: pid, descriptors: limitOf(limits, "Max open files"), data: limitOf(limits, "Max data size"), stack: limitOf(limits, "Max stack size")}
	var err1, err2, err3 error
	g.fds, err1 = unix.Open(dir+"/fd", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	g.tasks, err2 = unix.Open(dir+"/task", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	g.statm, err3 = os.Open(dir + "/statm")
	if g.descriptors == 0 || g.descriptors > mostDescriptors {
		g.descriptors = mostDescriptors
	}
	if g.stack == 0 || g.stack > 8<<20 {
		g.stack = 8 << 20
	}
	if errors.Join(err1, err2, err3) != nil {
		g.close()
		return nil
	}
	return g
}

// limitOf returns a soft limit out of /proc/N/limits; 0 is none, or unknown. prlimit would need more rights where the worker is
// another user.
func limitOf(limits []byte, name string) uint64 {
	_, rest, _ := bytes.Cut(limits, []byte("\n"+name))
	if words := bytes.Fields(rest); len(words) > 0 {
		n, _ := strconv.ParseUint(string(words[0]), 10, 64)
		return n
	}
	return 0
}

func (g *gauge) close() {
	if g == nil {
		return
	}
	_ = unix.Close(g.fds)
	_ = unix.Close(g.tasks)
	closeAll(g.statm)
}

// look says what the worker has too much of after a call, nil when it is fine. peak is how many calls it had at a time at most.
func (g *gauge) look(peak int) *cause {
	if g == nil {
		return nil
	}
	if g.calls++; peak > fewCalls && g.looks > 0 && g.calls%fewCalls != 0 {
		return nil // the other calls wait for this one
	}
	h, ok := g.held()
	if !ok {
		return nil // it has ended
	}
	g.looks++
	stacks := g.stack * h.threads
	switch {
	case h.descriptors > g.descriptors/8*7:
		return leaksFiles
	case h.threads > g.first.threads+uint64(min(peak, moreThreads))+moreThreads:
		return leaksThreads
	case g.data > 0 && h.data > g.data/8*7:
		return leaksMemory
	}
	h.data -= min(h.data, stacks)
	if g.looks == 1 {
		g.first = h
		g.beyond = h.descriptors + (g.descriptors-min(h.descriptors, g.descriptors))/2
		g.beyondData = h.data + moreData
		if g.data > 0 {
			g.beyondData = h.data + (g.data-min(h.data, g.data))/2
		}
	}
	switch {
	case h.descriptors > g.beyond:
		return leaksFiles
	case h.data > g.beyondData:
		return leaksMemory
	case g.looks%everyLooks == 1 && g.children() > mostChildren:
		return leaksChildren
	}
	return nil
}

func (g *gauge) held() (h held, ok bool) {
	var st unix.Stat_t
	if unix.Fstat(g.fds, &st) != nil {
		return h, false
	}
	if h.descriptors = uint64(st.Size); h.descriptors == 0 { // before Linux 6.2 they have to be counted
		list, _ := os.ReadDir("/proc/" + strconv.Itoa(g.pid) + "/fd")
		h.descriptors = uint64(len(list))
	}
	if unix.Fstat(g.tasks, &st) != nil {
		return h, false
	}
	h.threads = uint64(st.Nlink) - 2
	var room [128]byte
	n, _ := unix.Pread(int(g.statm.Fd()), room[:], 0)
	b := room[:max(n, 0)]
	const before = 5 // numbers
	for range before {
		_, b, ok = bytes.Cut(b, []byte(" "))
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			break
		}
		h.data = h.data*10 + uint64(c-'0')
	}
	h.data *= uint64(os.Getpagesize())
	return h, ok
}

// children counts the processes that the worker has started and that are still there, and what they have left to the keeper.
func (g *gauge) children() int {
	n := 0
	dir := "/proc/" + strconv.Itoa(g.pid) + "/task/"
	list, _ := os.ReadDir(dir)
	for _, task := range list {
		text, _ := os.ReadFile(dir + task.Name() + "/children")
		n += len(bytes.Fields(text))
	}
	return n + proc.Adopted(g.pid)
}
