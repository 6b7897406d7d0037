package proc

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"time"
)

// inherited are the variables of this process that tools see. The list is part of the language: everything else,
// secrets above all, must be named.
var inherited = [...]string{"PATH", "HOME", "LANG", "TZ", "TMPDIR"}

// Environment returns PATH, HOME, LANG, TZ and TMPDIR of this process, as far as they are set, and extra. Of two entries
// with one key the later counts. It is never nil, which would stand for everything.
func Environment(extra ...string) []string {
	env := make([]string, 0, len(inherited)+len(extra))
	for _, key := range inherited {
		if v, ok := os.LookupEnv(key); ok {
			env = append(env, key+"="+v)
		}
	}
	return append(env, extra...)
}

// Reason says in a few words why a program could not be started: those of the system when nothing else is known. They may have
// several lines.
func Reason(err error) string {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "no such program in PATH"
	case errors.Is(err, exec.ErrDot):
		return "found only in the current directory, which PATH must not name"
	case errors.Is(err, fs.ErrNotExist):
		return "no such program"
	case errors.Is(err, fs.ErrPermission):
		return "not executable"
	}
	return Innermost(err).Error()
}

// Innermost returns the error that err wraps and that wraps none: the outer ones repeat the path.
func Innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// Within waits until done is closed, and reports whether that was before d had passed.
func Within(d time.Duration, done <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}

// CloseAll closes the files that are not nil. To close one a second time does nothing.
func CloseAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
