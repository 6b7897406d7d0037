package workload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowgen-dev/flowgen/bench/fetch"
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

const response = `{"id":42,"title":"Fix the frobnicator","author":"ann","labels":["a","b"],` +
	`"diff":"+ line of diff text + line of diff text + line of diff text + line of diff text"}`

// Concurrent is how many calls FetchMany makes at a time.
const Concurrent = 64

// Fetch is W5: HTTP calls over loopback, one after the other.
func Fetch() (Comparison, error) { return fetches("HTTP call over loopback", repeat) }

// FetchMany is W5 with 64 calls at a time.
func FetchMany() (Comparison, error) {
	c, err := fetches("HTTP call over loopback, 64 at a time", atOnce)
	c.Peers = "" // they are asked for one after the other
	return c, err
}

// atOnce is repeat on 64 goroutines.
func atOnce(f func() error) func(int) error {
	return func(n int) error {
		var left atomic.Int64
		left.Store(int64(n))
		errs := make([]error, Concurrent)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() {
				for errs[i] == nil && left.Add(-1) >= 0 {
					errs[i] = f()
				}
			})
		}
		wg.Wait()
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		return nil
	}
}

func fetches(title string, each func(func() error) func(int) error) (Comparison, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return Comparison{}, err
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, response)
	})}
	go func() { _ = server.Serve(listener) }() // ends with Close
	transport := &http.Transport{MaxIdleConnsPerHost: 128, MaxIdleConns: 128}
	port := int64(listener.Addr().(*net.TCPAddr).Port)
	hand := &byHand{client: &http.Client{Transport: transport}, base: "http://" + listener.Addr().String() + "/pulls/"}
	secrets := runtime.WithSecrets(func(string) (string, bool) { return token, true })
	plain, err := fetch.New(secrets)
	if err != nil {
		return Comparison{}, errors.Join(err, server.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	call := func(w *fetch.Workflow) error {
		out, err := w.Run(ctx, fetch.Input{Port: port, N: 42})
		if err == nil && out.Pull.ID != 42 {
			err = wrong(out)
		}
		return err
	}
	return Comparison{
		ID: "W5", Title: title, Unit: "call", Goals: map[string]float64{"flowgen": 1.05},
		Peers: "http://" + listener.Addr().String(),
		Close: func() {
			cancel()
			transport.CloseIdleConnections()
			httptool.CloseIdleConnections()
			_ = server.Close()
		},
		Cases: []Case{
			{"by hand: timeout, headers, cap, status, typed JSON", 1, each(func() error {
				p, err := hand.call(ctx, 42)
				if err == nil && p.ID != 42 {
					err = wrong(p)
				}
				return err
			})},
			{"flowgen", 1, each(func() error { return call(plain) })},
			{"flowgen, recorded", 1, func(n int) error {
				run, err := begin(ctx, fetch.Info, secrets, runtime.WithEngine(journal.NewRecorder()))
				if err != nil {
					return err
				}
				err = each(func() error {
					_, err := plain.Body(run, fetch.Input{Port: port, N: 42})
					return err
				})(n)
				run.End(&err)
				return err
			}},
			{"by hand, bare: nothing checked, nothing decoded", 1, each(func() error { return hand.bare(ctx) })},
		},
	}, nil
}

const token = "a secret"

type pulled struct {
	ID     int64    `json:"id"`
	Title  string   `json:"title"`
	Author string   `json:"author"`
	Labels []string `json:"labels"`
	Diff   string   `json:"diff"`
}

type byHand struct {
	client *http.Client
	base   string
}

// call is the tool as a careful person writes it.
func (h *byHand) call(ctx context.Context, n int) (p pulled, err error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.base+strconv.Itoa(n), nil)
	if err != nil {
		return p, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "application/json")
	resp, err := h.client.Do(req)
	if err != nil {
		return p, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 2<<20))
	if err != nil {
		return p, err
	}
	if resp.StatusCode/100 != 2 {
		return p, fmt.Errorf("HTTP %s from %s: %.200s", resp.Status, h.base, data)
	}
	err = json.Unmarshal(data, &p)
	return p, err
}

func (h *byHand) bare(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.base+"42", nil)
	if err != nil {
		return err
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return err
}
