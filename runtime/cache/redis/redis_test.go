package redis

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/eventually"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/stores"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMain(m *testing.M) { leaks.Main(m) }

var _ runtime.Cache = (*Cache)(nil)

// server starts a Redis server of its own and returns its URL and a function that stops it.
func server(t *testing.T, password string) (url string, stop func()) {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("redis-server is missing: .ci/run installs it")
		}
		t.Skip("redis-server is not installed")
	}
	socket := t.TempDir() + "/r.sock"
	args := []string{"--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", t.TempDir(), "--maxmemory", "50mb"}
	url = "unix://" + socket
	if password != "" {
		args = append(args, "--requirepass", password)
		url = "unix://:" + password + "@" + socket
	}
	cmd := exec.Command(program, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	t.Cleanup(stop)
	eventually.True(t, "redis-server answers", func() bool {
		c, err := net.Dial("unix", socket)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return url, stop
}

func opened(t *testing.T, url string, o ...Option) *Cache {
	t.Helper()
	c, err := Open(url, o...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// lenient waits longer than a program would: the machine of a test may be busy.
func lenient(t *testing.T, url string) *Cache {
	o, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	c := New(redis.NewClient(o), OnError(func(err error) { t.Logf("redis: %v", err) }))
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// retried asks again where a busy machine was slower than Timeout.
func retried(t *testing.T, c *Cache, what string, f func() bool) {
	t.Helper()
	eventually.True(t, what, func() bool {
		c.until.Store(nil)
		return f()
	})
}

func TestRedis(t *testing.T) {
	url, stop := server(t, "s3cret-pass")
	c := lenient(t, url)
	ctx := t.Context()
	key := fmt.Sprintf("%064x", 1)
	if _, ok := c.Get(ctx, key); ok {
		t.Fatal("a value that nobody has put")
	}
	value := "\x00binary\xff" + strings.Repeat("v", 100_000)
	retried(t, c, "a value comes back", func() bool {
		c.Put(ctx, key, []byte(value), 0)
		got, ok := c.Get(ctx, key)
		return ok && string(got) == value
	})
	other := opened(t, url)
	retried(t, other, "another program sees it", func() bool {
		got, ok := other.Get(ctx, key)
		return ok && string(got) == value
	})
	if ttl, err := c.client.TTL(ctx, Prefix+key).Result(); err != nil || ttl != -1 {
		t.Errorf("time to live %v, %v", ttl, err)
	}
	c.Put(ctx, key+"t", []byte("v"), 50*time.Millisecond)
	eventually.True(t, "the value has expired", func() bool {
		n, err := c.client.Exists(ctx, Prefix+key+"t").Result()
		return n == 0 && err == nil
	})
	if _, ok := c.Get(ctx, key+"t"); ok {
		t.Error("there too long")
	}
	c.Put(ctx, key+"n", []byte("v"), time.Nanosecond) // less than Redis knows
	if err := c.client.LPush(ctx, Prefix+"list", "x").Err(); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Get(ctx, "list"); ok {
		t.Error("a list is a value")
	}
	if c.until.Load() != nil {
		t.Error("a value of another type counts as a failure of the server")
	}
	if err := c.client.Set(ctx, Prefix+"huge", strings.Repeat("x", MaxValue+5), 0).Err(); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Get(ctx, "huge"); ok {
		t.Error("a value that is too large is taken")
	}
	c.Put(ctx, "huge2", make([]byte, MaxValue+1), 0)
	if n, err := c.client.Exists(ctx, Prefix+"huge2").Result(); err != nil || n != 0 {
		t.Errorf("a value that is too large is kept: %d, %v", n, err)
	}

	wrong := opened(t, strings.Replace(url, "s3cret-pass", "wrong", 1))
	if _, ok := wrong.Get(ctx, key); ok {
		t.Error("the wrong password opens the cache")
	}
	stop()
	if _, ok := c.Get(ctx, key); ok {
		t.Error("a server that is gone answers")
	}
}

// A tool under a cache that fails runs, and soon nobody waits for the cache any more.
func TestServerIsAway(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var failures atomic.Int64
	c := opened(t, "redis://user:canary@"+l.Addr().String()+"/0", OnError(func(err error) {
		failures.Add(1)
		if strings.Contains(err.Error(), "canary") {
			t.Error(err)
		}
	}))
	var ran int
	tool := flow.Bind("t.a@1", flow.Reads, func(context.Context, int) (int, error) { ran++; return 1, nil }, flow.CacheForever())
	rt, err := flow.New(&flow.Info{Name: "w"}, runtime.WithCache(c))
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	for range 100 {
		if _, err := flow.Call(rt.Start(t.Context()), &flow.Node{ID: "n", Pos: "f.yaml:1:1"}, tool, 1); err != nil {
			t.Fatal(err)
		}
	}
	// A failure is one for every Pause: on a machine that is busy there may be more than one.
	if d := time.Since(begin); ran != 100 || failures.Load() < 1 || failures.Load() > 1+int64(d/Pause) {
		t.Errorf("%d of 100 calls ran, %d failures, %v", ran, failures.Load(), d)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.until.Store(nil)
	c.Get(ctx, "k")
	if c.until.Load() != nil {
		t.Error("a caller that has given up is held against the server")
	}
}

func TestRuntimeUsesRedis(t *testing.T) {
	url, _ := server(t, "")
	var ran atomic.Int64
	type result struct {
		N    int64       `json:"n"`
		Any  value.Value `json:"any"`
		List []string    `json:"list"`
	}
	tool := flow.Bind("t.a@1", flow.Reads, func(_ context.Context, in int) (result, error) {
		ran.Add(1)
		return result{N: int64(in), Any: value.Float(1), List: []string{"<a>"}}, nil
	}, flow.CacheFor(time.Hour))
	c := lenient(t, url)
	retried(t, c, "one of two programs runs the tool", func() bool {
		ran.Store(0)
		_ = c.client.FlushAll(t.Context()).Err()
		for range 2 { // two programs
			rt, err := flow.New(&flow.Info{Name: "w"}, runtime.WithCache(c))
			if err != nil {
				t.Fatal(err)
			}
			out, err := flow.Call(rt.Start(t.Context()), &flow.Node{ID: "n", Pos: "f.yaml:1:1"}, tool, 7)
			if err != nil || out.N != 7 || out.List[0] != "<a>" || out.Any.Kind() != value.FloatKind {
				t.Fatal(out, err)
			}
		}
		return ran.Load() == 1
	})
}

func TestBadURL(t *testing.T) {
	for _, u := range []string{"", "http://user:canary@x", "redis://:canary@h:p:q", "redis://h/canary"} {
		if _, err := Open(u); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", u, err)
		}
	}
}

// A program that links the package opens a server by its URL.
func TestRegistered(t *testing.T) {
	url, _ := server(t, "")
	for address, ok := range map[string]bool{url: true, "redis://h:port": false, "memcached://h": false} {
		c, release, err := stores.Caches.Open(address)
		if (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
		if err != nil {
			continue
		}
		c.Put(t.Context(), "k", []byte("v"), 0)
		if got, found := c.Get(t.Context(), "k"); string(got) != "v" || !found {
			t.Errorf("%q, %v", got, found)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
	}
}
