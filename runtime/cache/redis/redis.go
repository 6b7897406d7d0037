// Package redis keeps results of tools in Redis, for programs on many machines:
//
//	store, err := redis.Open("redis://cache.internal:6379/0")
//	w, err := inbox.New(runtime.WithCache(store))
//
// A server that is slow or away costs at most Timeout, and then nothing for
// Pause: calls run as if there were no cache. Entries of `cache: forever` have
// no time to live; how much room they may take is for the server's maxmemory
// to say.
package redis

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/stores"
)

// A program that links this package takes URLs of Redis in --cache and FLOWGEN_CACHE.
func init() {
	for _, scheme := range []string{"redis", "rediss", "unix"} {
		stores.Caches.Register(scheme, func(url string) (runtime.Cache, func() error, error) {
			c, err := Open(url)
			if err != nil {
				return nil, nil, err
			}
			return c, c.Close, nil
		})
	}
}

const (
	// Prefix begins the keys in Redis.
	Prefix = "flowgen:result:"

	// Timeout bounds one question to the server.
	Timeout = 250 * time.Millisecond

	// Pause is how long a server that has failed is left alone.
	Pause = 5 * time.Second

	// MaxValue is the largest value that is kept or taken, in bytes.
	MaxValue = 16 << 20
)

// Cache is a runtime.Cache in Redis. It is safe for concurrent use.
type Cache struct {
	client redis.UniversalClient
	failed func(error)
	until  atomic.Pointer[time.Time] // the server is left alone; a time of this process, so that a clock that is set changes nothing
}

// Option configures Open and New.
type Option func(*Cache)

// OnError is told what went wrong; the cache goes on as if it were empty. f must be safe for concurrent use.
func OnError(f func(error)) Option { return func(c *Cache) { c.failed = f } }

// Open makes a cache of the server that a URL names: redis://, rediss:// or
// unix://, with user, password and number of the database as go-redis reads
// them. It does not connect yet. The error does not show the URL.
func Open(url string, opts ...Option) (*Cache, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, errors.New("the URL of the Redis server cannot be read: write redis://host:port/0")
	}
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.MaxRetries = Timeout, Timeout, Timeout, -1
	o.ContextTimeoutEnabled = true
	return New(redis.NewClient(o), opts...), nil
}

// New makes a cache of a client, which Close closes.
func New(client redis.UniversalClient, opts ...Option) *Cache {
	c := &Cache{client: client, failed: func(error) {}}
	for _, o := range opts {
		o(c)
	}
	return c
}

// Close closes the connections.
func (c *Cache) Close() error { return c.client.Close() }

// Get implements runtime.Cache.
func (c *Cache) Get(ctx context.Context, key string) ([]byte, bool) {
	var value string
	err := c.ask(ctx, func(ctx context.Context) (err error) {
		value, err = c.client.GetRange(ctx, Prefix+key, 0, MaxValue).Result() // never more than that
		return err
	})
	if err != nil || value == "" || len(value) > MaxValue {
		return nil, false
	}
	return []byte(value), true
}

// Put implements runtime.Cache.
func (c *Cache) Put(ctx context.Context, key string, value []byte, ttl time.Duration) {
	if len(value) == 0 || len(value) > MaxValue {
		return
	}
	if ttl > 0 {
		ttl = max(ttl, time.Millisecond) // the least that Redis knows
	}
	_ = c.ask(ctx, func(ctx context.Context) error { return c.client.Set(ctx, Prefix+key, value, max(ttl, 0)).Err() })
}

var errPaused = errors.New("the server has failed a moment ago")

func (c *Cache) ask(ctx context.Context, f func(context.Context) error) error {
	if until := c.until.Load(); until != nil && time.Now().Before(*until) {
		return errPaused
	}
	inner, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	err := f(inner)
	if err == nil || ctx.Err() != nil { // the caller has given up: nothing is wrong with the server
		return err
	}
	if !strings.HasPrefix(err.Error(), "WRONGTYPE") { // an answer, if not to our question
		until := time.Now().Add(Pause)
		c.until.Store(&until)
	}
	c.failed(err)
	return err
}
