package httptool

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// The workload of performance.md's W5: a typed GET from loopback, beside what one would write by hand.

type pull struct {
	ID     int64    `json:"id"`
	Title  string   `json:"title"`
	Author string   `json:"author"`
	Labels []string `json:"labels"`
	Diff   string   `json:"diff"`
}

type pullIn struct {
	N int64 `json:"n"`
}

const pullBody = `{"id":42,"title":"Fix the frobnicator","author":"ann","labels":["a","b"],"diff":"+ line of diff text + line of diff text + line of diff text + line of diff text"}`

func pulls(b *testing.B) *httptest.Server {
	return serve(b, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, pullBody)
	})
}

func pullTool(s *httptest.Server) *flow.Tool[pullIn, pull] {
	template := s.URL + "/pulls/{n}"
	return JSON[pullIn, pull]("w.pull@1", flow.Reads, func(in pullIn) Request {
		return Request{Method: "GET", URL: URL(template, strconv.FormatInt(in.N, 10))}
	}, Bearer("TOKEN"), Allow("loopback"))
}

func run(b *testing.B, o ...runtime.Option) *flow.Run {
	b.Helper()
	o = append(o, runtime.WithSecrets(func(string) (string, bool) { return "a secret", true }))
	rt, err := flow.New(&flow.Info{Name: "bench", Nodes: []*flow.Node{benchNode}}, o...)
	if err != nil {
		b.Fatal(err)
	}
	return rt.Start(b.Context())
}

var benchNode = &flow.Node{ID: "n", Pos: "f.yaml:1:1", Timeout: 15 * time.Second}

func BenchmarkW5(b *testing.B) {
	b.Run("flowgen", func(b *testing.B) {
		tool, r := pullTool(pulls(b)), run(b)
		loops(b, func() error { _, err := flow.Call(r, benchNode, tool, pullIn{42}); return err })
	})
	b.Run("flowgen-recorded", func(b *testing.B) {
		tool, r := pullTool(pulls(b)), run(b, runtime.WithEngine(journal.NewRecorder()))
		loops(b, func() error { _, err := flow.Call(r, benchNode, tool, pullIn{42}); return err })
	})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128, MaxIdleConns: 128}}
	b.Cleanup(client.CloseIdleConnections)
	b.Run("hand", func(b *testing.B) {
		url := pulls(b).URL + "/pulls/"
		loops(b, func() error { _, err := hand(b.Context(), client, url, pullIn{42}); return err })
	})
	b.Run("bare", func(b *testing.B) {
		url := pulls(b).URL + "/pulls/42"
		loops(b, func() error { return bare(b.Context(), client, url) })
	})
}

func bare(ctx context.Context, c *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		return err
	}
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return err
}

// hand is a tool as one writes it: timeout, headers, size cap, status, typed JSON.
func hand(ctx context.Context, c *http.Client, url string, in pullIn) (p pull, err error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", url+fmt.Sprint(in.N), nil)
	if err != nil {
		return p, err
	}
	req.Header.Set("Authorization", "Bearer "+"a secret")
	req.Header.Set("Accept", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		return p, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 2<<20))
	if err != nil {
		return p, err
	}
	if resp.StatusCode/100 != 2 {
		return p, fmt.Errorf("HTTP %s from %s: %.200s", resp.Status, url, data)
	}
	err = json.Unmarshal(data, &p)
	return p, err
}

// loops measures f alone and 64 at a time.
func loops(b *testing.B, f func() error) {
	b.Run("seq", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := f(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("par64", func(b *testing.B) {
		b.ReportAllocs()
		var left atomic.Int64
		left.Store(int64(b.N))
		var wg sync.WaitGroup
		b.ResetTimer()
		for range 64 {
			wg.Go(func() {
				for left.Add(-1) >= 0 {
					if err := f(); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}
