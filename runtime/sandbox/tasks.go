//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// The limit on processes counts all that a user has, threads included, wherever they run. So it is on top of what is there.

var counted struct {
	sync.Mutex
	uid, n int
	at     time.Time
}

// fresh is how long a count is used again.
const fresh = time.Second

// tasks counts the threads of a user.
func tasks(uid int) (int, error) {
	counted.Lock()
	defer counted.Unlock()
	if counted.uid == uid && !counted.at.IsZero() && time.Since(counted.at) < fresh {
		return counted.n, nil
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return 0, fmt.Errorf("processes cannot be counted: %w", err)
	}
	names, err := dir.Readdirnames(-1)
	dir.Close()
	if err != nil {
		return 0, fmt.Errorf("processes cannot be counted: %w", err)
	}
	n := 0
	for _, name := range names {
		if _, err := strconv.Atoi(name); err != nil {
			continue
		}
		var st syscall.Stat_t
		if syscall.Lstat("/proc/"+name, &st) == nil && int(st.Uid) == uid {
			n += threads(name)
		}
	}
	counted.uid, counted.n, counted.at = uid, n, time.Now()
	return n, nil
}

// threads of a process; 0 when it is gone.
func threads(pid string) int {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0
	}
	// The name may hold anything, and ends with the last parenthesis.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const numThreads = 17 // after the name
	if len(fields) <= numThreads {
		return 0
	}
	n, _ := strconv.Atoi(string(fields[numThreads]))
	return n
}
