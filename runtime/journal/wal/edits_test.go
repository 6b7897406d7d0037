package wal_test

import (
	"bytes"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// edits are all ways to remove, double, move and exchange a line of a log; cut is how many lines are left when those at the end
// were removed alone, which a crash can do as well.
func edits(lines [][]byte, yield func(what string, edited [][]byte)) {
	n := len(lines)
	for i := range n {
		if i < n-1 {
			yield("without line "+strconv.Itoa(i+1), slices.Delete(slices.Clone(lines), i, i+1))
		}
		yield("line "+strconv.Itoa(i+1)+" twice", slices.Insert(slices.Clone(lines), i, lines[i]))
		for k := range n {
			if k != i && k != i+1 {
				moved := slices.Insert(slices.Clone(lines), k, lines[i])
				at := i
				if k < i {
					at++
				}
				yield("line "+strconv.Itoa(i+1)+" before "+strconv.Itoa(k+1), slices.Delete(moved, at, at+1))
			}
			if k > i {
				swapped := slices.Clone(lines)
				swapped[i], swapped[k] = lines[k], lines[i]
				yield("lines "+strconv.Itoa(i+1)+" and "+strconv.Itoa(k+1)+" exchanged", swapped)
			}
		}
	}
}

// TestEditsAreNoticed: no line can be removed, doubled or moved without damage that says where, but for those at the end, whose loss
// is that of a crash.
func TestEditsAreNoticed(t *testing.T) {
	data, want := sample(t)
	lines := bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	lines[len(lines)-1] = append(lines[len(lines)-1], '\n')
	count := 0
	edits(lines, func(what string, edited [][]byte) {
		text := bytes.Join(edited, nil)
		if bytes.Equal(text, data) {
			return // lines that are the same
		}
		count++
		r, err := wal.Recover(bytes.Clone(text))
		if damaged := (*wal.DamagedError)(nil); !errors.As(err, &damaged) || damaged.Line != len(r.Lines)+1 {
			t.Errorf("%s: %v", what, err)
		}
		if got := texts(r); !cmp.Equal(want[:len(got)], got) {
			t.Errorf("%s: a line that was not appended", what)
		}
	})
	t.Logf("%d edits", count)
}

// TestOldSums: a log whose sums leave places out is read and goes on as it is.
func TestOldSums(t *testing.T) {
	name := filepath.Join(t.TempDir(), "j")
	var old []byte
	var want []string
	for i := range 3 {
		body := line(i)[:len(line(i))-1]
		old = append(old, body...)
		old = append(old, `,"sum":"`...)
		sum := strconv.FormatUint(uint64(crc32.Checksum([]byte(body), crc32.MakeTable(crc32.Castagnoli))), 16)
		old = append(append(old, bytes.Repeat([]byte("0"), 8-len(sum))...), sum+"\"}\n"...)
		want = append(want, line(i))
	}
	if err := os.WriteFile(name, old, 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		l, found, err := wal.Open(wal.OS, name, wal.Durable)
		if err != nil || !cmp.Equal(want, texts(found)) {
			t.Fatalf("%v: %v", err, texts(found))
		}
		if err := errors.Join(l.Append([]byte(line(3+i)), true), l.Close()); err != nil {
			t.Fatal(err)
		}
		want = append(want, line(3+i))
	}
}
