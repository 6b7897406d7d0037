package wal_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// scanned holds a log that is read piece by piece to what Recover says of all of it, and each line to what is read again of it.
func scanned(t *testing.T, data []byte) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "j")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	want, werr := wal.Recover(bytes.Clone(data))
	lines, ok := wal.LinesOf(wal.OS, name)
	if !ok {
		t.Fatal("no lines of a file")
	}
	for _, size := range []int64{1, 7, 64, 1 << 20} {
		back := wal.SetPieceSize(size)
		var got []string
		found, err := wal.Scan(wal.OS, name, func(at int64, n int, line []byte) error {
			got = append(got, string(line))
			again, err := lines.Line(at, n)
			if err != nil || !bytes.Equal(again, line) {
				t.Errorf("line %d is %q, again %q, %v", len(got), line, again, err)
			}
			return nil
		})
		back()
		if fmt.Sprint(err) != fmt.Sprint(werr) || !cmp.Equal(got, texts(want)) && len(got)+len(want.Lines) > 0 {
			t.Fatalf("in pieces of %d: %d lines, %v; all at once: %d, %v", size, len(got), err, len(want.Lines), werr)
		}
		if found.Count != len(got) || found.Good != want.Good || found.Torn != want.Torn {
			t.Fatalf("in pieces of %d: %d lines, %d good, %d torn; all at once: %d, %d, %d", size, found.Count, found.Good, found.Torn, len(got), want.Good, want.Torn)
		}
	}
}

// TestScan: damage, holes, missing ends and long lines are the same in pieces.
func TestScan(t *testing.T) {
	rounds := 150
	if testing.Short() {
		rounds = 20
	}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 9))
		name := filepath.Join(t.TempDir(), "j")
		l, _, err := wal.Open(wal.OS, name, wal.Durable)
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + r.IntN(20) {
			long := strings.Repeat("x", r.IntN(100))
			if r.IntN(8) == 0 {
				long = strings.Repeat("y", r.IntN(200<<10))
			}
			if err := l.Append([]byte(`{"a":"`+long+`"}`), r.IntN(3) == 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		switch at := r.IntN(len(data)); r.IntN(5) {
		case 0:
		case 1:
			data = data[:at]
		case 2: // a hole, to the end or not
			clear(data[at:min(len(data), at+1+r.IntN(len(data)))])
		case 3:
			data[at] ^= byte(1 + r.IntN(255))
		case 4:
			data = append(data[:at:at], data[min(at+r.IntN(50), len(data)):]...)
		}
		scanned(t, data)
	}
}

// TestLinesLost: a line that is another one now, or is not there any more, is an error and nothing else.
func TestLinesLost(t *testing.T) {
	data, _ := sample(t)
	name := filepath.Join(t.TempDir(), "j")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	var at int64
	var n int
	if _, err := wal.Scan(wal.OS, name, func(a int64, l int, _ []byte) error { at, n = a, l; return nil }); err != nil {
		t.Fatal(err)
	}
	changed := bytes.Clone(data)
	changed[at+3] ^= 1
	for what, now := range map[string][]byte{"changed": changed, "shorter": data[:at+2], "empty": nil} {
		if err := os.WriteFile(name, now, 0o600); err != nil {
			t.Fatal(err)
		}
		lines, _ := wal.LinesOf(wal.OS, name)
		if line, err := lines.Line(at, n); err == nil {
			t.Errorf("%s: %q", what, line)
		}
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	lines, _ := wal.LinesOf(wal.OS, name)
	if _, err := lines.Line(at, n); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
}

func FuzzScan(f *testing.F) {
	data, _ := sample(f)
	f.Add(data)
	f.Add(data[:len(data)-3])
	f.Add(append(bytes.Clone(data[:200]), make([]byte, 100)...))
	f.Fuzz(func(t *testing.T, data []byte) { scanned(t, data) })
}
