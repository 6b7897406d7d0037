package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	flowgen "github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/serve"
)

// long says whether figures are wanted: LONG=1 go test ./serve -run 'TestLoad|TestMany' -v, on a machine that does nothing else.
var long = os.Getenv("LONG") != ""

type orderInput struct {
	Item string `json:"item" flow:"min=1"`
}

type orderOutput struct {
	Place int64 `json:"place"`
}

// orders is a workflow with one call of an HTTP tool that writes.
func orders(stock string) *serve.Workflow {
	node := &flow.Node{ID: "order", Pos: "orders.flowgen.yaml:5:3"}
	info := &flow.Info{Name: "orders", Source: "orders.flowgen.yaml", Nodes: []*flow.Node{node}, Input: []flow.Field{{Name: "item", Type: "string"}}}
	tool := httptool.JSON[orderInput, orderOutput]("orders.order@1", flow.Writes, func(in orderInput) httptool.Request {
		return httptool.Request{Method: "POST", URL: httptool.URL(stock), Body: httptool.JSONBody(in)}
	}, httptool.Allow("loopback"))
	return serve.Of(info, func(o ...flowgen.Option) (*orderFlow, error) {
		rt, err := flow.New(info, o...)
		return &orderFlow{rt, node, tool}, err
	})
}

type orderFlow struct {
	rt   *flow.Runtime
	node *flow.Node
	tool *flow.Tool[orderInput, orderOutput]
}

func (w *orderFlow) Run(ctx context.Context, in orderInput) (out orderOutput, err error) {
	run := flow.Start(ctx, w.rt, in)
	defer flow.End(run, &out, &err)
	return flow.Call(run, w.node, w.tool, in)
}

// byHand is the same service without flowgen: what is on the disk before it calls and before it answers is the same.
func byHand(dir, stock string) http.Handler {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	var n atomic.Int64
	sync := func(name string) error {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		return f.Sync()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in orderInput
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&in); err != nil || in.Item == "" {
			http.Error(w, "no order", http.StatusUnprocessableEntity)
			return
		}
		id := fmt.Sprintf("%d-%d", time.Now().UnixNano(), n.Add(1))
		run := filepath.Join(dir, id)
		var out orderOutput
		err := func() error {
			if err := os.Mkdir(run, 0o700); err != nil {
				return err
			}
			f, err := os.OpenFile(filepath.Join(run, "journal"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
			if err != nil {
				return err
			}
			defer f.Close()
			line := func(v any) error {
				text, err := json.Marshal(v)
				if err == nil {
					_, err = f.Write(append(text, '\n'))
				}
				if err != nil {
					return err
				}
				return f.Sync()
			}
			if err := line(map[string]any{"run": id, "begin": time.Now(), "input": in}); err != nil {
				return err
			}
			if err := sync(run); err != nil {
				return err
			}
			if err := sync(dir); err != nil {
				return err
			}
			if err := line(map[string]any{"call": "order", "input": in}); err != nil {
				return err
			}
			body, err := json.Marshal(in)
			if err != nil {
				return err
			}
			q, err := http.NewRequestWithContext(r.Context(), "POST", stock, bytes.NewReader(body))
			if err != nil {
				return err
			}
			q.Header.Set("Content-Type", "application/json")
			resp, err := client.Do(q)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&out); err != nil {
				return err
			}
			if err := line(map[string]any{"call": "order", "output": out}); err != nil {
				return err
			}
			return line(map[string]any{"end": time.Now(), "output": out})
		}()
		if err != nil {
			http.Error(w, "failed", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{"id": id, "output": out})
	})
}

// load sends requests at a rate, each at its time however slow the others are, and returns how long the answers took from then on.
func load(t *testing.T, url string, rate, n int) []time.Duration {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 512}}
	defer client.CloseIdleConnections()
	took := make([]time.Duration, n)
	var all sync.WaitGroup
	begin := time.Now()
	for i := range n {
		at := begin.Add(time.Duration(i) * time.Second / time.Duration(rate))
		<-time.After(time.Until(at)) // the rate
		all.Go(func() {
			r, err := http.NewRequest("POST", url, strings.NewReader(`{"item":"tea"}`))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Prefer", "wait=60")
			resp, err := client.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			text, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			took[i] = time.Since(at)
			if resp.StatusCode != http.StatusCreated || !strings.Contains(string(text), `"place":7`) {
				t.Errorf("%d %s", resp.StatusCode, text)
			}
		})
	}
	all.Wait()
	took = took[n/10:] // connections are made with the first
	slices.Sort(took)
	return took
}

// TestLoad compares serve with a service that is written by hand and records as durably. Figures are for docs/benchmarks.md; the
// short form sees that both answer.
func TestLoad(t *testing.T) {
	stock := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"place":7}`)
	}))
	defer stock.Close()
	// Many short rounds: the disk of a machine that others share stands still for 20 to 100 ms now and then, in the turns of both.
	rates, n, rounds := []int{500}, 20, 1
	if long {
		rates, rounds = []int{100, 250, 500}, 15
	}
	for _, rate := range rates {
		if long {
			n = max(rate*2, 300)
		}
		all := map[string][][]time.Duration{}
		for i := range rounds {
			names := []string{"serve", "by hand"}
			if i%2 == 1 {
				slices.Reverse(names)
			}
			for _, name := range names {
				took := loaded(t, name, stock.URL, rate, n)
				all[name] = append(all[name], took)
				t.Logf("%d/s %s: p50 %v p99 %v max %v", rate, name, took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
			}
		}
		for _, p := range []int{50, 99} {
			ours, hand := middle(all["serve"], p), middle(all["by hand"], p)
			t.Logf("%d/s: p%d %v and %v, ratio of rounds in turn %.2f", rate, p, ours, hand, turns(all["serve"], all["by hand"], p))
		}
	}
}

// loaded makes a new service, with a new folder, and sends requests to it: what a file system needs for a new file depends on the folder.
func loaded(t *testing.T, name, stock string, rate, n int) []time.Duration {
	if name == "by hand" {
		hand := httptest.NewServer(byHand(t.TempDir(), stock))
		defer hand.Close()
		return load(t, hand.URL, rate, n)
	}
	s, err := serve.Handler(serve.Options{Runs: runs.Open(t.TempDir(), runs.Options{}), MaxRuns: 256}, orders(stock))
	if err != nil {
		t.Fatal(err)
	}
	ours := httptest.NewServer(s)
	defer func() {
		ours.Close()
		_ = s.Shutdown(context.Background())
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	}()
	return load(t, ours.URL+"/v1/workflows/orders/runs", rate, n)
}

// middle is the median of the rounds' percentiles.
func middle(rounds [][]time.Duration, p int) time.Duration {
	var all []time.Duration
	for _, took := range rounds {
		all = append(all, took[len(took)*p/100])
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// turns is the median of the ratios of rounds that came one after the other: how fast the disk is differs from minute to minute.
func turns(ours, hand [][]time.Duration, p int) float64 {
	var all []float64
	for i, took := range ours {
		all = append(all, float64(took[len(took)*p/100])/float64(hand[i][len(hand[i])*p/100]))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func heap() uint64 {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// TestManyRuns has runs that wait, and streams that follow one of them, in memory; then it starts again.
func TestManyRuns(t *testing.T) {
	many := 50
	if long {
		many = 10_000
	}
	dir := t.TempDir()
	b := &bank{}
	s := start(t, dir, b, serve.Options{MaxStreams: 2 * many, MaxReader: 2 * many, Beat: time.Hour})
	before := heap()
	var first string
	var todo sync.WaitGroup
	var mu sync.Mutex
	next := make(chan struct{}, 32)
	for range many {
		next <- struct{}{}
		todo.Go(func() {
			defer func() { <-next }()
			w := httptest.NewRecorder()
			r := httptest.NewRequest("POST", "/v1/workflows/pay/runs", strings.NewReader(`{"to":"x","euros":1000}`))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Prefer", "wait=60")
			s.ServeHTTP(w, r)
			if w.Code != http.StatusAccepted || !strings.Contains(w.Body.String(), `"waiting"`) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			mu.Lock()
			first = w.Header().Get("Location")
			mu.Unlock()
		})
	}
	todo.Wait()
	waiting := heap()
	t.Logf("%d waiting runs: %d KiB more", many, (int64(waiting)-int64(before))>>10)
	streams := min(many, 8000)
	var open []net.Conn
	for range streams {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
		if _, err := io.WriteString(c, "GET "+first+"/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 64)
		if _, err := io.ReadFull(c, buf); err != nil || !strings.HasPrefix(string(buf), "HTTP/1.1 200") {
			t.Fatalf("%v %s", err, buf)
		}
	}
	following := heap()
	t.Logf("%d streams: %d KiB more, %.1f KiB each", streams, (int64(following)-int64(waiting))>>10, float64(following-waiting)/1024/float64(streams))
	for _, c := range open {
		_ = c.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	again := start(t, dir, b, serve.Options{})
	answers := time.Since(begin)
	for {
		w := httptest.NewRecorder()
		again.Admin().ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
		if w.Code == http.StatusOK {
			break
		}
		runtime.Gosched()
	}
	t.Logf("started again with %d waiting runs: answers after %v, ready after %v", many, answers, time.Since(begin))
}
