// Package disktest holds stores of journals to what package wal needs of them.
package disktest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/internal/eventually"
	"github.com/flowgen-dev/flowgen/runtime/journal/database"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// Open opens the store of the test once more, as another process would. It is closed by who asked.
type Open func(t *testing.T, lease time.Duration) *database.Store

// Run runs all tests of a store in a database. expire makes all leases end, as if their owners had been paused for longer.
func Run(t *testing.T, open Open, expire func(t *testing.T)) {
	t.Run("files", func(t *testing.T) { files(t, open) })
	t.Run("log", func(t *testing.T) { log(t, open) })
	t.Run("locks", func(t *testing.T) { locks(t, open) })
	t.Run("fencing", func(t *testing.T) { fencing(t, open, expire) })
	t.Run("races", func(t *testing.T) { races(t, open, expire) })
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// files: what is appended comes back, in a folder that is listed and can be removed.
func files(t *testing.T, open Open) {
	s, other := open(t, 0), open(t, 0)
	defer func() { must(t, errors.Join(s.Close(), other.Close())) }()
	name := filepath.Join("files", "räume 1", "journal")
	if _, err := s.ReadFile(name); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a file that is not there: %v", err)
	}
	if _, err := s.Append(name); err == nil {
		t.Fatal("a file that nobody has locked can be written")
	}
	unlock, err := s.Lock(name)
	must(t, err)
	f, err := s.Append(name)
	must(t, err)
	if got, err := other.ReadFile(name); err != nil || len(got) != 0 {
		t.Fatalf("an empty file: %q, %v", got, err)
	}
	var want []byte
	for i := range 300 {
		part := bytes.Repeat([]byte{byte(i), 0, '\n'}, i*i%5000)
		want = append(want, part...)
		_, err := f.Write(part)
		must(t, err)
		if i%50 == 49 {
			must(t, f.Sync())
			if got, err := other.ReadFile(name); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("after %d writes: %d bytes of %d, %v", i+1, len(got), len(want), err)
			}
		}
	}
	for _, size := range []int{len(want) - 1, len(want)/2 + 7, len(want) / 2, 10} {
		must(t, f.Truncate(int64(size)))
		want = append(slices.Clone(want[:size]), "tail"...)
		_, err := f.Write([]byte("tail"))
		must(t, errors.Join(err, f.Sync()))
		if got, err := other.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("cut to %d: %d bytes of %d, %v", size, len(got), len(want), err)
		}
	}
	_, err = f.Write([]byte("!"))
	must(t, errors.Join(err, f.Close()))
	if _, err := f.Write([]byte("late")); err == nil {
		t.Error("a closed file can be written")
	}
	blob, err := s.Append(filepath.Join("files", "räume 1", "blobs", "b")) // under the lease of the log next to it
	must(t, err)
	must(t, blob.Close())
	must(t, unlock())

	if got, err := other.ReadFile(name); err != nil || string(got) != string(want)+"!" {
		t.Errorf("closed: %d bytes, %v", len(got), err)
	}
	ranges(t, other, name, string(want)+"!")
	if got, err := other.ReadDir("files"); err != nil || !cmp.Equal(got, []string{"räume 1"}) {
		t.Errorf("listed: %v, %v", got, err)
	}
	if got, err := other.ReadDir("file"); err != nil || len(got) != 0 {
		t.Errorf("a folder that is not there: %v, %v", got, err)
	}
	if err := other.RemoveAll("."); err == nil {
		t.Error("all of the store was removed")
	}
	must(t, other.RemoveAll(filepath.Join("files", "räume 1")))
	if got, err := s.ReadDir("files"); err != nil || len(got) != 0 {
		t.Errorf("after its removal: %v, %v", got, err)
	}
	if _, err := s.ReadFile(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after its removal: %v", err)
	}
}

// ranges: every part of a file is what the file has there.
func ranges(t *testing.T, s *database.Store, name, want string) {
	t.Helper()
	size := int64(len(want))
	for _, at := range []int64{0, 1, 9, 10, 11, size / 2, size - 1, size, size + 5} {
		for _, n := range []int64{0, 1, 2, 4096, size} {
			from := min(at, size)
			part := want[from:min(from+n, size)]
			if got, all, err := s.ReadRange(name, at, n); err != nil || all != size || string(got) != part {
				t.Errorf("%d bytes from %d: %d bytes of %d in %d, %v", n, at, len(got), len(part), all, err)
			}
		}
	}
	if _, _, err := s.ReadRange(name+"x", 0, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a part of a file that is not there: %v", err)
	}
}

// log: lines that are appended as durable, from several goroutines, are all there for another process at once.
func log(t *testing.T, open Open) {
	s, other := open(t, 0), open(t, 0)
	defer func() { must(t, errors.Join(s.Close(), other.Close())) }()
	for round := range 2 {
		l, found, err := wal.Open(s, "log/a/journal", wal.Durable)
		must(t, err)
		if len(found.Lines) != round*200 {
			t.Fatalf("%d lines", len(found.Lines))
		}
		if _, _, err := wal.Open(other, "log/a/journal", wal.Durable); !errors.Is(err, wal.ErrLocked) {
			t.Fatalf("two at one log: %v", err)
		}
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				line := fmt.Sprintf(`{"n":%d}`, round*200+i)
				if err := l.Append([]byte(line), true); err != nil {
					t.Error(err)
					return
				}
				if got, err := other.ReadFile("log/a/journal"); err != nil || !bytes.Contains(got, []byte(line[:len(line)-1]+`,"s`)) {
					t.Errorf("%s is not in the database: %v", line, err)
				}
			})
		}
		all.Wait()
		must(t, l.Close())
	}
}

// locks: a lease is one's own until it is given back, or expires.
func locks(t *testing.T, open Open) {
	s, other := open(t, time.Second), open(t, time.Hour)
	unlock, err := s.Lock("locks/a")
	must(t, err)
	if _, err := s.Lock("locks/a"); !errors.Is(err, wal.ErrLocked) {
		t.Errorf("locked twice by one: %v", err)
	}
	began := time.Now()
	for time.Since(began) < 3*time.Second { // it is renewed
		if _, err := other.Lock("locks/a"); !errors.Is(err, wal.ErrLocked) {
			t.Fatalf("locked by two: %v", err)
		}
	}
	must(t, unlock())
	again, err := other.Lock("locks/a")
	must(t, err)
	if _, err := s.Lock("locks/a"); !errors.Is(err, wal.ErrLocked) {
		t.Errorf("locked by two: %v", err)
	}
	must(t, unlock()) // of a lease that is another's: nothing happens
	if _, err := s.Lock("locks/a"); !errors.Is(err, wal.ErrLocked) {
		t.Errorf("freed by the wrong one: %v", err)
	}
	must(t, again())
	_, err = s.Lock("locks/b")
	must(t, err)
	must(t, s.Close()) // gives back what it has
	_, err = other.Lock("locks/b")
	must(t, err)
	must(t, other.Close())
}

// fencing: a process that was silent for longer than its lease, and whose log another one has taken over, can write nothing into it.
func fencing(t *testing.T, open Open, expire func(*testing.T)) {
	paused, other := open(t, time.Hour), open(t, 0)
	defer func() { must(t, errors.Join(paused.Close(), other.Close())) }()
	l, _, err := wal.Open(paused, "fencing/a/journal", wal.Durable)
	must(t, err)
	must(t, l.Append([]byte(`{"n":1}`), true))
	expire(t)
	taken, _, err := wal.Open(other, "fencing/a/journal", wal.Durable)
	must(t, err)
	if err := l.Append([]byte(`{"n":2}`), true); !errors.Is(err, database.ErrLost) {
		t.Errorf("written by two: %v", err)
	}
	must(t, taken.Append([]byte(`{"n":3}`), true))
	if err := l.Close(); !errors.Is(err, database.ErrLost) {
		t.Errorf("closed: %v", err)
	}
	must(t, taken.Append([]byte(`{"n":4}`), true))
	must(t, taken.Close())
	data, err := other.ReadFile("fencing/a/journal")
	must(t, err)
	found, err := wal.Recover(data)
	must(t, err)
	if got := string(bytes.Join(found.Lines, nil)); got != `{"n":1}{"n":3}{"n":4}` {
		t.Errorf("the log has %s", got)
	}
}

// races: of several that write into one log and take it over from each other all the time, what was promised to be durable stays.
func races(t *testing.T, open Open, expire func(*testing.T)) {
	const writers, takeovers = 4, 15
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	var kept []string
	var all sync.WaitGroup
	for w := range writers {
		s := open(t, time.Hour)
		all.Go(func() {
			defer func() { must(t, s.Close()) }()
			for n := 0; ctx.Err() == nil; {
				l, _, err := wal.Open(s, "races/a/journal", wal.Durable)
				if errors.Is(err, wal.ErrLocked) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				for ctx.Err() == nil { // until another one has it
					line := fmt.Sprintf(`{"by":%d,"n":%d}`, w, n)
					n++
					if err := l.Append([]byte(line), true); errors.Is(err, database.ErrLost) {
						break
					} else if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					kept = append(kept, line)
					mu.Unlock()
				}
				_ = l.Close()
			}
		})
	}
	for range takeovers {
		mu.Lock()
		before := len(kept)
		mu.Unlock()
		eventually.True(t, "lines are written", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(kept) > before+20
		})
		expire(t)
	}
	stop()
	all.Wait()
	s := open(t, 0)
	defer func() { must(t, s.Close()) }()
	data, err := s.ReadFile("races/a/journal")
	must(t, err)
	found, err := wal.Recover(data)
	must(t, err)
	var have []string
	for _, l := range found.Lines {
		have = append(have, string(l))
	}
	slices.Sort(kept)
	slices.Sort(have)
	missing := slices.DeleteFunc(slices.Clone(kept), func(l string) bool { _, ok := slices.BinarySearch(have, l); return ok })
	if len(missing) > 0 || len(have) != len(slices.Compact(slices.Clone(have))) {
		t.Errorf("%d of %d lines are missing: %v", len(missing), len(kept), missing[:min(3, len(missing))])
	}
	t.Logf("%d lines", len(have))
}
