package wal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/journal/internal/faultdisk"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// sealed ends what begins a line with its sum, as the format says.
func sealed(body string) string {
	sum := crc32.Checksum([]byte(body), crc32.MakeTable(crc32.Castagnoli))
	if body == "{" {
		return fmt.Sprintf("{\"sum\":\"%08x\"}\n", sum)
	}
	return fmt.Sprintf("%s,\"sum\":\"%08x\"}\n", body, sum)
}

// A hole in what a later line knows to be on the disk is damage; a hole behind it is what a crash leaves. A line whose own
// sum is wrong knows nothing.
func TestHoles(t *testing.T) {
	first, hole := sealed(`{"a":1`), string(make([]byte, 20))+"\n"
	knows := func(n int) string { return sealed(fmt.Sprintf(`{"a":3,"sync":%d`, n)) }
	liar := strings.Replace(knows(len(first)+len(hole)), `"a":3`, `"a":4`, 1)
	tests := []struct {
		name, log string
		lines     int
		damage    *wal.DamagedError // nil: the rest is torn
	}{
		{"nothing is known", first + hole + sealed(`{"a":3`), 1, nil},
		{"known up to the hole", first + hole + knows(len(first)), 1, nil},
		{"the hole's first byte is known", first + hole + knows(len(first)+1), 1, &wal.DamagedError{Offset: int64(len(first)), Line: 2, Why: "it does not end with a checksum"}},
		{"known behind the hole", first + hole + knows(len(first+hole)), 1, &wal.DamagedError{Offset: int64(len(first)), Line: 2, Why: "it does not end with a checksum"}},
		{"the line that knows comes after an empty one", hole + "\n" + knows(5), 0, &wal.DamagedError{Line: 1, Why: "it does not end with a checksum"}},
		{"the largest length counts", hole + knows(5) + knows(0), 0, &wal.DamagedError{Line: 1, Why: "it does not end with a checksum"}},
		{"a line with a wrong sum", first + hole + liar, 1, nil},
		{"an empty line", first + "\n", 1, &wal.DamagedError{Offset: int64(len(first)), Line: 2, Why: "it does not end with a checksum"}},
		{"an empty line alone", "\n", 0, &wal.DamagedError{Line: 1, Why: "it does not end with a checksum"}},
		{"a comma and no field", strings.Replace(sealed("{"), "{", "{,", 1), 0, &wal.DamagedError{Line: 1, Why: "it does not end with a checksum"}},
		{"an empty object", sealed("{"), 1, nil},
		{"a known length beyond the file", first + knows(1000), 2, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := wal.Recover([]byte(tt.log))
			var damage *wal.DamagedError
			errors.As(err, &damage)
			if diff := cmp.Diff(tt.damage, damage); diff != "" {
				t.Errorf("damage (-want +got):\n%s", diff)
			}
			if len(r.Lines) != tt.lines {
				t.Errorf("%d lines, want %d", len(r.Lines), tt.lines)
			}
			if whole := int64(len(tt.log)); err == nil && r.Good+r.Torn != whole {
				t.Errorf("%d good and %d torn of %d bytes", r.Good, r.Torn, whole)
			}
		})
	}
}

func TestSealed(t *testing.T) {
	for line, want := range map[string]bool{
		"": false, "{}": false, `"}`: false, `{"a":1}`: false, `{"sum":"0000000"}`: false, `{,"sum":"00000000"}`: false,
		`{"sum":"00000000"}`: true, `{"a":1,"sum":"00000000"}`: true, `{"a":1,"sum":"00000000" }`: false,
	} {
		if got := wal.Sealed([]byte(line)); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// Every line of the file is JSON, whatever comes before it and wherever it says what is on the disk.
func TestLinesAreJSON(t *testing.T) {
	for _, mode := range []wal.Sync{wal.Off, wal.Durable} {
		d := faultdisk.New(1)
		l, _, err := wal.Open(d, "j", mode)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{"{}", "{}", `{"a":1}`, "{}", "{}"} {
			if err := l.Append([]byte(s), true); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		data, err := d.ReadFile("j")
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
			if !json.Valid(line) {
				t.Errorf("mode %d, line %d: %s", mode, i+1, line)
			}
		}
	}
}

// With Off lines wait until there are 64 KiB of them, sums and line breaks included.
func TestOffWaits(t *testing.T) {
	const most, ends = 64 << 10, len(`,"sum":"00000000"`) + len("\n")
	for more, want := range map[int]int{-1: 0, 0: most, 1: most + 1} {
		d := faultdisk.New(1)
		l, _, err := wal.Open(d, "j", wal.Off)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat("x", most+more-ends-len(`{"a":""}`))
		if err := l.Append([]byte(`{"a":"`+text+`"}`), false); err != nil {
			t.Fatal(err)
		}
		if data := d.Files()["j"]; len(data) != want {
			t.Errorf("%d bytes wait: %d are written, want %d", most+more, len(data), want)
		}
	}
}

// 64 MiB are the longest line.
func TestLongestLine(t *testing.T) {
	l, _, err := wal.Open(faultdisk.New(1), "j", wal.Buffered)
	if err != nil {
		t.Fatal(err)
	}
	text := bytes.Repeat([]byte(" "), 64<<20+1)
	text[0], text[64<<20-1], text[64<<20] = '{', '}', '}'
	if err := l.Append(text, false); !errors.Is(err, wal.ErrTooLong) {
		t.Errorf("a byte more: %v", err)
	}
	if err := l.Append(text[:64<<20], false); err != nil {
		t.Errorf("the longest: %v", err)
	}
}

// What opening and closing do to the disk, and no more.
func TestOperations(t *testing.T) {
	d := faultdisk.New(1)
	var ops []string
	d.Observe = func(op string) {
		if op == "sync" || op == "syncdir" || op == "truncate" {
			ops = append(ops, op)
		}
	}
	expect := func(when string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, ops); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
		ops = nil
	}
	open := func() *wal.Log {
		t.Helper()
		l, _, err := wal.Open(d, "runs/r/j", wal.Durable)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	add := func(l *wal.Log, durable bool) {
		t.Helper()
		if err := l.Append([]byte(`{"a":1}`), durable); err != nil {
			t.Fatal(err)
		}
	}
	closed := func(l *wal.Log) {
		t.Helper()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	l := open()
	expect("a new log")
	add(l, true)
	expect("the first durable line", "sync", "syncdir", "syncdir")
	closed(l)
	expect("closed, and all is on the disk")
	l = open()
	expect("an old log: what was read, and its names", "sync", "syncdir", "syncdir")
	add(l, true)
	expect("a durable line", "sync")
	add(l, false)
	expect("another line")
	closed(l)
	expect("closed: what stands behind a durable line is durable", "sync")
	l = open()
	expect("again", "sync", "syncdir", "syncdir")
	add(l, false)
	closed(l)
	expect("nothing was to be durable")
	d.Put("runs/r/j", append(d.Files()["runs/r/j"], "{"...))
	closed(open())
	expect("a torn log", "truncate", "sync", "syncdir", "syncdir")
}

func TestSyncDir(t *testing.T) {
	dir := t.TempDir()
	if err := wal.OS.SyncDir(dir); err != nil {
		t.Error(err)
	}
	if err := wal.OS.SyncDir(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is missing: %v", err)
	}
}
