//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// cgroups reports whether runsc can make control groups for memory: root can, where they are mounted to be written.
var cgroups = sync.OnceValue(func() bool {
	if os.Geteuid() != 0 {
		return false
	}
	for _, dir := range []string{"/sys/fs/cgroup/memory", "/sys/fs/cgroup"} {
		var st unix.Statfs_t
		if unix.Statfs(dir, &st) != nil || !controls(st.Type) {
			continue
		}
		sweepGroups()
		probe, err := os.MkdirTemp(dir, "flowgen-probe-")
		if err != nil {
			return false
		}
		return os.Remove(probe) == nil
	}
	return false
})

// controls reports whether a file system is one of control groups, of version 1 or 2.
func controls(kind int64) bool {
	return kind == unix.CGROUP_SUPER_MAGIC || kind == unix.CGROUP2_SUPER_MAGIC
}

// sweepGroups removes the control groups of programs that were killed. Those that are in use cannot be removed; the age keeps away from
// those that are about to be.
func sweepGroups() {
	for _, group := range groups(folderPrefix + "*") {
		if info, err := os.Lstat(group); err == nil && time.Since(info.ModTime()) > time.Minute {
			_ = unix.Rmdir(group)
		}
	}
}

// groups are the control groups of a name: one in version 2, one for each controller in version 1.
func groups(name string) []string {
	two, _ := filepath.Glob("/sys/fs/cgroup/" + name)
	one, _ := filepath.Glob("/sys/fs/cgroup/*/" + name)
	return append(two, one...)
}

// exceeded also looks at memory, processor and processes.
func (b *kernelBox) exceeded(pid int) error {
	if err := b.box.exceeded(pid); err != nil {
		return err
	}
	used := consumption{}
	used.add(pid, 0)
	switch {
	case used.memory > b.limits.Memory+kernelMemory:
		return failed("the tool took more than %d bytes of memory", b.limits.Memory)
	case used.processes > b.limits.Processes+kernelProcesses:
		return failed("the tool has more than %d processes", b.limits.Processes)
	case !b.warm && used.cpu > b.limits.CPU:
		return failed("the tool took more than %v of processor time", b.limits.CPU)
	}
	return nil
}

// kernelProcesses are those of gVisor itself.
const kernelProcesses = 8

// consumption is what a process and those that it started have taken.
type consumption struct {
	memory    int64
	cpu       time.Duration
	processes int
}

const deepestProcess = 32

func (c *consumption) add(pid, depth int) {
	dir := "/proc/" + strconv.Itoa(pid)
	status, err := os.ReadFile(dir + "/status")
	if err != nil || depth > deepestProcess {
		return
	}
	c.processes++
	for _, key := range []string{"\nRssAnon:", "\nRssShmem:"} {
		if _, rest, ok := bytes.Cut(status, []byte(key)); ok {
			var kib int64
			_, _ = fmt.Sscan(string(rest[:min(len(rest), 40)]), &kib)
			c.memory += kib << 10
		}
	}
	c.cpu += cpuOf(dir)
	tasks, err := os.ReadDir(dir + "/task")
	if err != nil {
		return
	}
	for _, t := range tasks {
		children, _ := os.ReadFile(dir + "/task/" + t.Name() + "/children")
		for _, child := range strings.Fields(string(children)) {
			if n, err := strconv.Atoi(child); err == nil {
				c.add(n, depth+1)
			}
		}
	}
}

// cpuOf is the processor time of a process and of those of its children that have ended.
func cpuOf(dir string) time.Duration {
	text, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const user, last = 11, 14 // after the name: utime, stime, cutime, cstime, in hundredths of a second
	if len(fields) <= last {
		return 0
	}
	ticks := int64(0)
	for _, f := range fields[user : last+1] {
		n, _ := strconv.ParseInt(string(f), 10, 64)
		ticks += n
	}
	return time.Duration(ticks) * (time.Second / 100)
}
