package studio_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/studio"
)

// held is what a process has.
type held struct {
	heap              int64 // bytes that are reachable
	goroutines, files int
}

func holding(t *testing.T) (h held) {
	t.Helper()
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	h.heap, h.goroutines = int64(m.HeapAlloc), runtime.NumGoroutine()
	if names, err := os.ReadDir("/proc/self/fd"); err == nil {
		h.files = len(names)
	}
	return h
}

// TestSoak: whatever pages ask for, and however often they come and go while runs grow, they leave no memory, no goroutine and no
// file. SOAK is how long; without it some rounds are made.
func TestSoak(t *testing.T) {
	long, err := time.ParseDuration(os.Getenv("SOAK"))
	if err != nil && os.Getenv("SOAK") != "" {
		t.Fatal(err)
	}
	dir := t.TempDir()
	const many = 20
	grow := make([]func(line string), many)
	for i := range grow {
		folder := filepath.Join(dir, fmt.Sprintf("w-20260102T1504%02d000-abcd", i))
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		log, _, err := wal.Open(wal.OS, filepath.Join(folder, "journal.jsonl"), wal.Buffered)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		grow[i] = func(line string) {
			if err := log.Append([]byte(line), false); err != nil {
				t.Fatal(err)
			}
		}
		grow[i](`{"kind":"run","format":1,"workflow":"w","seed":"1","begin":"2026-01-02T15:04:05Z","graph":"g1","nodes":{"a":"1"},"input":{}}`)
		for n := range 100 {
			grow[i](fmt.Sprintf(`{"kind":"intent","key":"a[%d]","attempt":1,"tool":"w.t@1","effects":"reads","call_id":"c","input":{},"start_ns":%d}`, n, n))
			grow[i](fmt.Sprintf(`{"kind":"end","key":"a[%d]","attempt":1,"output":1,"end_ns":%d}`, n, n+1))
		}
	}
	s := studio.New(studio.Options{Project: &fake{}, Runs: runs.Open(dir, runs.Options{})}, "4242")
	defer s.Close()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { r.Host = host; s.ServeHTTP(w, r) }))
	defer h.Close()
	round := func(n int) {
		id := fmt.Sprintf("w-20260102T1504%02d000-abcd", n%many)
		ctx, leave := context.WithCancel(t.Context())
		defer h.Client().CloseIdleConnections()
		defer leave()
		for range 5 { // pages
			r, _ := http.NewRequestWithContext(ctx, http.MethodGet, h.URL+"/api/v1/events?topics=project,runs,run:"+id, nil)
			r.Header.Set("Authorization", "Bearer "+s.Token())
			res, err := h.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			lines := bufio.NewScanner(res.Body)
			lines.Buffer(nil, 16<<20)
			for lines.Scan() && lines.Text() != "event: run" {
			}
			if lines.Err() != nil {
				t.Fatal(lines.Err())
			}
		}
		grow[n%many](fmt.Sprintf(`{"kind":"intent","key":"b%d","attempt":1,"tool":"human@1","effects":"none","call_id":"c","input":{"question":"?","type":"bool"},"start_ns":200}`, n%1000))
		grow[n%many](fmt.Sprintf(`{"kind":"end","key":"b%d","attempt":1,"cancelled":"run","end_ns":201}`, n%1000)) // so that journals grow, and calls do not
		for _, path := range []string{"runs", "runs?q=nothing", "runs/" + id, "runs/" + id + "/calls", "runs/" + id + "/calls/0", "runs/" + id + "/report", "inbox", "usage?group=tool", "project", "runs/none", "nothing"} {
			if w := ask(s, http.MethodGet, "/api/v1/"+path, "", nil); (w.Code == http.StatusOK) != !strings.Contains(path, "no") && !strings.Contains(path, "q=") {
				t.Fatalf("%s: %d %s", path, w.Code, w.Body)
			}
		}
	}
	settled := func(most held, patience time.Duration) (h held) { // streams end when they notice that their page has left
		tick := time.Tick(20 * time.Millisecond)
		for end := time.Now().Add(patience); ; <-tick {
			if h = holding(t); h.heap <= most.heap && h.goroutines <= most.goroutines && h.files <= most.files || time.Now().After(end) {
				return h
			}
		}
	}
	n := 0
	began := time.Now()
	for ; n < 2*many || time.Since(began) < min(2*time.Minute, long/2); n++ { // all has been read
		round(n)
	}
	before := settled(held{heap: 1 << 40, goroutines: 12, files: 100}, 10*time.Second)
	most := held{heap: before.heap + 4<<20, goroutines: before.goroutines + 3, files: before.files + 3}
	t.Logf("after %v and %d rounds: %+v", time.Since(began).Round(time.Second), n, before)
	said := time.Now()
	for from := n; n < from+2*many || time.Since(began) < long; n++ {
		round(n)
		if time.Since(said) > 2*time.Minute {
			said = time.Now()
			t.Logf("after %v and %d rounds: %+v", time.Since(began).Round(time.Second), n, settled(most, 10*time.Second))
		}
	}
	after := settled(most, 2*time.Minute)
	t.Logf("%d rounds: before %+v, after %+v", n, before, after)
	if after.heap > most.heap || after.goroutines > most.goroutines || after.files > most.files {
		t.Errorf("after %d rounds a server holds %+v, before %+v", n, after, before)
	}
}
