package worker

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
)

// A gauge looks from outside at what a worker holds, after calls: a tool cannot lie about it. The files of /proc stay open. A look
// costs 2 µs all the same, so a pause follows one that has found no more than was there before.
type gauge struct {
	pid               int
	fds, tasks, statm int           // two directories, opened as paths, and a file
	descriptors, data uint64        // limits of the process; 0 is none
	stack             uint64        // of a thread
	most, beyond      held          // that it had so far, and what is too much
	pause, usual      time.Duration // after the last look, and after one that has found no more
	looked, counted   time.Time
	children          children
}

// held is what a process holds.
type held struct{ descriptors, threads, data uint64 }

const (
	mostDescriptors = 4096                  // that make a difference where the limit is higher
	moreThreads     = 64                    // than calls at a time
	moreChildren    = 16                    // than calls at a time, ended or not
	moreData        = 1 << 30               // where there is no limit
	perDescriptor   = time.Microsecond      // an interpreter cannot open one faster: a pause does not fill what is left
	countEvery      = 10 * time.Millisecond // for each thread, which costs 6 µs when the children are counted
)

// newGauge returns the gauge of a worker that is ready; nil, which finds nothing, where /proc does not tell.
func newGauge(pid int) *gauge {
	dir := "/proc/" + strconv.Itoa(pid)
	limits, _ := os.ReadFile(dir + "/limits")
	g := &gauge{pid: pid, descriptors: limitOf(limits, "Max open files"), data: limitOf(limits, "Max data size"),
		stack: limitOf(limits, "Max stack size"), beyond: held{threads: moreThreads}}
	var err1, err2, err3 error
	g.fds, err1 = unix.Open(dir+"/fd", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	g.tasks, err2 = unix.Open(dir+"/task", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	g.statm, err3 = unix.Open(dir+"/statm", unix.O_RDONLY|unix.O_CLOEXEC, 0)
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
	for _, fd := range []int{g.fds, g.tasks, g.statm} {
		_ = unix.Close(fd) // -1 is none
	}
}

// look says what the worker has too much of after a call, nil when it is fine. peak is how many calls it had at a time at most.
func (g *gauge) look(peak int64) *cause {
	if g == nil {
		return nil
	}
	now := time.Now()
	if now.Sub(g.looked) < g.pause {
		return nil
	}
	h, ok := g.held()
	if !ok {
		return nil // it has ended
	}
	if now.Sub(g.counted) >= countEvery*time.Duration(h.threads) {
		g.counted = now
		go g.children.count(func() []int { return childrenOf(g.pid) }) // for a later look: no call waits for it
	}
	switch {
	case h.descriptors > g.descriptors/8*7:
		return leaksFiles
	case h.threads > g.beyond.threads+uint64(min(peak, moreThreads)):
		return leaksThreads
	case g.data > 0 && h.data > g.data/8*7:
		return leaksMemory
	}
	h.data -= min(h.data, g.stack*h.threads)
	if g.looked.IsZero() {
		g.beyond = held{halfway(h.descriptors, g.descriptors), h.threads + moreThreads, h.data + moreData}
		if g.data > 0 {
			g.beyond.data = halfway(h.data, g.data)
		}
		g.usual = perDescriptor * time.Duration(g.descriptors-g.beyond.descriptors)
	}
	g.looked, g.pause = now, g.usual
	if h.descriptors > g.most.descriptors || h.data > g.most.data {
		g.most = held{descriptors: max(h.descriptors, g.most.descriptors), data: max(h.data, g.most.data)}
		g.pause = 0
	}
	switch {
	case h.descriptors > g.beyond.descriptors:
		return leaksFiles
	case h.data > g.beyond.data:
		return leaksMemory
	case g.children.kept.Load() > moreChildren+peak:
		return leaksChildren
	}
	return nil
}

// countLeft counts the processes of a worker that has no call: all of them are left behind. The next look knows.
func (g *gauge) countLeft() {
	if g == nil {
		return
	}
	g.pause = 0
	g.children.mu.Lock()
	defer g.children.mu.Unlock()
	left := childrenOf(g.pid)
	slices.Sort(left)
	g.children.before = slices.Compact(left)
	g.children.kept.Store(int64(len(g.children.before)))
}

// halfway is in the middle between what is there and its limit.
func halfway(h, limit uint64) uint64 { return h + (limit-min(h, limit))/2 }

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
	n, _ := unix.Pread(g.statm, room[:], 0)
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

// children are the processes that a worker has. A count lasts longer than a call on a busy machine, and finds those of calls that
// were never there at a time. So only those that the count before has found as well are kept: they were there in between.
type children struct {
	mu     sync.Mutex
	before []int
	kept   atomic.Int64
}

// count takes the list of now. While another count goes on it does nothing.
func (c *children) count(list func() []int) {
	if !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	now := list()
	slices.Sort(now)
	now = slices.Compact(now)
	kept := 0
	for _, pid := range now {
		if _, ok := slices.BinarySearch(c.before, pid); ok {
			kept++
		}
	}
	c.before = now
	c.kept.Store(int64(kept))
}

// childrenOf lists the processes that a worker has started and that are still there, and what they have left to the keeper.
func childrenOf(pid int) []int {
	all := proc.Adopted(pid)
	dir := "/proc/" + strconv.Itoa(pid) + "/task/"
	list, _ := os.ReadDir(dir)
	for _, task := range list {
		text, _ := os.ReadFile(dir + task.Name() + "/children")
		for word := range bytes.FieldsSeq(text) {
			if n, err := strconv.Atoi(string(word)); err == nil {
				all = append(all, n)
			}
		}
	}
	return all
}
