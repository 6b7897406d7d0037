//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A folder is a directory that is removed with a process. As long as this program runs it is locked, so that others can tell those
// of programs that were killed.
type folder struct {
	path string
	lock *os.File
}

// folderPrefix begins the names of folders.
const folderPrefix = "flowgen-sandbox-"

var sweepOnce sync.Once

// newFolder makes a folder in the directory for temporary files. The first in a program removes those that dead programs have left.
func newFolder() (*folder, error) {
	sweepOnce.Do(func() { sweep(os.TempDir()) })
	for {
		dir, err := os.MkdirTemp("", folderPrefix)
		if err != nil {
			return nil, err
		}
		if path, err := filepath.EvalSymlinks(dir); err == nil {
			dir = path
		}
		lock, err := os.Open(dir)
		if err == nil {
			err = unix.Flock(int(lock.Fd()), unix.LOCK_EX)
		}
		if err != nil {
			_ = os.Remove(dir)
			return nil, err
		}
		// Another program may have taken it for one of the dead before it was locked.
		have, err1 := lock.Stat()
		is, err2 := os.Lstat(dir)
		if err1 == nil && err2 == nil && os.SameFile(have, is) {
			return &folder{dir, lock}, nil
		}
		_ = lock.Close()
	}
}

// remove removes the folder. Nobody writes to it any more, but the last of those that were killed may be about to end.
func (f *folder) remove() {
	if f == nil {
		return
	}
	const tries = 1000
	for range tries {
		if removeAll(f.path) == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	_ = f.lock.Close()
}

// removeAll is os.RemoveAll also where a tool has made directories that cannot be read. It follows no links.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(path, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}

// sweep removes the folders in a directory that nobody has locked: their program is dead. Only this user's are looked at, and those
// of the users that root's tools run as.
func sweep(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		if strings.HasPrefix(name, folderPrefix) {
			sweepFolder(int(d.Fd()), name, filepath.Join(dir, name))
		}
	}
}

func sweepFolder(dir int, name, path string) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	var opened, there unix.Stat_t
	if unix.Fstat(fd, &opened) != nil || !ours(opened.Uid) || unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) != nil {
		return
	}
	if unix.Fstatat(dir, name, &there, unix.AT_SYMLINK_NOFOLLOW) == nil && there.Ino == opened.Ino && there.Dev == opened.Dev {
		_ = removeAll(path)
	}
}

// ours says whether a user is this one, or one that root's tools run as.
func ours(uid uint32) bool {
	self := os.Geteuid()
	return int(uid) == self || self == 0 && uid >= firstUser && uid < firstUser+users
}

// size adds up what is in the folder, as far as it can be read while it changes.
func (f *folder) size() (size int64, files int) {
	_ = filepath.WalkDir(f.path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if files++; files > entries {
			return filepath.SkipAll
		}
		if info, err := e.Info(); err == nil && !info.IsDir() {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				size += st.Blocks * 512
			}
		}
		return nil
	})
	return size, files
}
