package wal

import (
	"os"
	"time"
)

// A Stamp tells whether a file has changed, without reading it: then it is another one. The zero value is the stamp of no file.
type Stamp struct {
	size          int64
	written       int64 // nanoseconds since 1970
	changed       int64 // as written, but nobody can set it; 0 where the system does not say it
	device, inode uint64
}

// Size is the file's.
func (s Stamp) Size() int64 { return s.size }

// How long ago a file must have changed for its stamp to be of use: one that changes again within a step of the file system's clock can
// have the same stamp as before. Steps are some milliseconds, or up to two seconds where times are whole seconds.
const (
	fineClock   = 100 * time.Millisecond
	coarseClock = 2100 * time.Millisecond
)

// StampOf looks at a regular file of the operating system's disk; the stamp is zero on other disks, and of what is not a regular file. If sure,
// what is read of the file afterwards is the same as long as its stamp is; a file that has changed at this moment can change once more.
func StampOf(disk Disk, name string) (s Stamp, sure bool) {
	if disk != OS {
		return s, false
	}
	now := time.Now().UnixNano()
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return s, false
	}
	s = Stamp{size: info.Size(), written: info.ModTime().UnixNano()}
	s.system(name, info)
	latest, step := max(s.written, s.changed), fineClock
	if latest%int64(time.Second) == 0 {
		step = coarseClock
	}
	return s, now-latest > int64(step)
}
