package wal_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// BenchmarkNew opens a new log, writes two lines and closes it, without anything forced to the disk.
func BenchmarkNew(b *testing.B) {
	dir := b.TempDir()
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		run := filepath.Join(dir, strconv.Itoa(n))
		if err := os.Mkdir(run, 0o700); err != nil {
			b.Fatal(err)
		}
		l, _, err := wal.Open(wal.OS, filepath.Join(run, "journal.jsonl"), wal.Buffered)
		if err != nil {
			b.Fatal(err)
		}
		for range 2 {
			if err := l.Append([]byte(`{"kind":"run"}`), false); err != nil {
				b.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
