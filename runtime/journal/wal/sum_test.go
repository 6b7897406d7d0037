package wal

import (
	"hash/crc32"
	"testing"
)

// TestSums: the table for the first lines of a program has the sums of the usual one.
func TestSums(t *testing.T) {
	want := crc32.MakeTable(crc32.Castagnoli)
	if *bytewise() != *want {
		t.Error("the tables differ")
	}
	first := sumOf(7, []byte("a line")) // whichever table this process is at
	for range 2 * fewBytes / len("a line") {
		if sum := sumOf(7, []byte("a line")); sum != first {
			t.Fatalf("the sum was %x, and then %x", first, sum)
		}
	}
	if tableFor(1) != want {
		t.Error("long logs are summed byte by byte")
	}
}
