package studio_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/studio"
)

// many are 10,000 short runs that ended an hour ago, of which every tenth has failed.
func many(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	past := time.Now().Add(-time.Hour)
	for i := range 10_000 {
		outcome := `"outcome":"succeeded","output":1`
		if i%10 == 0 {
			outcome = `"outcome":"failed","failure":"node a: TIMEOUT: too slow"`
		}
		folder := filepath.Join(dir, fmt.Sprintf("w-202601%02dT%02d%02d%02d000-%04x", 5+i/8000, i/3600%24, i/60%60, i%60, i))
		if err := os.Mkdir(folder, 0o700); err != nil {
			b.Fatal(err)
		}
		file := filepath.Join(folder, "journal.jsonl")
		log, _, err := wal.Open(wal.OS, file, wal.Buffered)
		if err != nil {
			b.Fatal(err)
		}
		for _, line := range []string{`{"kind":"run","format":1,"workflow":"w","seed":"1","begin":"2026-01-02T15:04:05Z","graph":"g1","nodes":{"a":"1"},"input":{}}`,
			`{"kind":"intent","key":"a","attempt":1,"tool":"w.t@1","effects":"reads","call_id":"c","input":{},"start_ns":1}`,
			`{"kind":"end","key":"a","attempt":1,"output":1,"end_ns":2}`, `{"kind":"finish",` + outcome + `,"at_ns":3}`} {
			if err := log.Append([]byte(line), false); err != nil {
				b.Fatal(err)
			}
		}
		if err := log.Close(); err != nil {
			b.Fatal(err)
		}
		if err := os.Chtimes(file, past, past); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// BenchmarkList: the list of 10,000 runs and a filter by text, of a server that has read nothing before and of one that has.
func BenchmarkList(b *testing.B) {
	dir := many(b)
	for _, path := range []string{"runs", "runs?q=too+slow"} {
		for _, read := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/read=%v", path, read), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					b.StopTimer()
					s := studio.New(studio.Options{Project: &fake{}, Runs: runs.Open(dir, runs.Options{})}, "4242")
					for n := 0; n < 2; n++ {
						if n == 1 || !read {
							b.StartTimer()
						}
						if w := ask(s, http.MethodGet, "/api/v1/"+path, "", nil); w.Code != http.StatusOK {
							b.Fatal(w.Body)
						}
						if !read {
							break
						}
					}
					b.StopTimer()
					s.Close()
					b.StartTimer()
				}
			})
		}
	}
}
