package wal

import (
	"hash/crc32"
	"sync"
	"sync/atomic"
)

// bytewise is the table of Castagnoli's polynomial for sums byte by byte. It is ready in microseconds, where crc32.MakeTable
// prepares for long texts first and takes a twentieth of the time of a short program.
var bytewise = sync.OnceValue(func() *crc32.Table {
	var t crc32.Table
	for i := range t {
		sum := uint32(i)
		for range 8 {
			sum = sum>>1 ^ -(sum&1)&crc32.Castagnoli
		}
		t[i] = sum
	}
	return &t
})

var fast = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// fewBytes are summed byte by byte before fast is worth its preparation.
const fewBytes = 8 << 10

var summed atomic.Int64 // bytes, up to fewBytes

// tableFor chooses the table for the next n bytes. All tables have the same sums.
func tableFor(n int) *crc32.Table {
	if summed.Load() < fewBytes && summed.Add(int64(n)) < fewBytes {
		return bytewise()
	}
	return fast()
}

// nowhere is the place of lines whose sum leaves it out.
const nowhere = -1

// sumOf is the sum of a line at a place of the log.
func sumOf(place int64, body []byte) uint32 {
	table := tableFor(len(body))
	if place == nowhere {
		return crc32.Checksum(body, table)
	}
	sum := ^uint32(0)
	for i := range 8 { // crc32.Update would move the eight bytes to the heap
		sum = table[byte(sum)^byte(uint64(place)>>(8*i))] ^ sum>>8
	}
	return crc32.Update(^sum, table, body)
}
