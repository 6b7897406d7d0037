package core

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"sync"
	"time"
)

// Cache stores results of tools that allow it (CacheFor, CacheForever) for other calls (Agent Tools 6.2). It is safe for
// concurrent use. An unreachable cache or a damaged entry is a miss, never an error. Values are opaque; they are
// validated again before use.
type Cache interface {
	// Get returns the value of a key, which is 64 hex digits, and whether there is one.
	Get(ctx context.Context, key string) ([]byte, bool)
	// Put keeps a value, for ttl at most unless it is 0. It may drop it at any time.
	Put(ctx context.Context, key string, value []byte, ttl time.Duration)
}

// WithCache replaces the cache in memory, which every Runtime has for itself.
func WithCache(c Cache) Option { return func(rt *Runtime) { rt.cache = c } }

// DefaultCacheBytes is the size of the cache that a Runtime has by itself: 64 MiB.
const DefaultCacheBytes = 64 << 20

// MemoryCache is a Cache in memory. When it is full, what was not used for the longest time goes first.
type MemoryCache struct {
	max     int64
	mu      sync.Mutex
	size    int64
	order   list.List // of *memoryEntry, the latest first
	entries map[string]*list.Element
}

type memoryEntry struct {
	key   string
	value []byte
}

// memoryOverhead is what an entry takes next to its value, about.
const memoryOverhead = 256

// NewMemoryCache returns a cache of at most so many bytes.
func NewMemoryCache(maxBytes int64) *MemoryCache {
	return &MemoryCache{max: maxBytes, entries: map[string]*list.Element{}}
}

// Get returns the value of a key.
func (c *MemoryCache) Get(_ context.Context, key string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e == nil {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*memoryEntry).value, true
}

// Put keeps a value. One that is larger than the entire cache is dropped. Values that are too old go when room is needed.
func (c *MemoryCache) Put(_ context.Context, key string, value []byte, _ time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[key]; e != nil {
		c.drop(e)
	}
	c.entries[key] = c.order.PushFront(&memoryEntry{key, value})
	c.size += int64(len(value)) + memoryOverhead
	for c.size > c.max {
		c.drop(c.order.Back())
	}
}

func (c *MemoryCache) drop(e *list.Element) {
	m := c.order.Remove(e).(*memoryEntry)
	delete(c.entries, m.key)
	c.size -= int64(len(m.value)) + memoryOverhead
}

// cachedResult is the value of a cache entry.
type cachedResult struct {
	Expires     int64           `json:"expires"` // nanoseconds since 1970 by the clock of the run; 0: never
	Output      json.RawMessage `json:"output"`
	Truncated   bool            `json:"truncated,omitempty"`
	Attachments []Attachment    `json:"attachments,omitempty"`
}

// cacheKey names the result of a call: what it depends on is tool@version, input, tenant, and with whose secrets it is
// made. Nothing of it can be read from the key.
func cacheKey(tool string, input []byte, tenant string, names, values []string) string {
	h := sha256.New()
	part := func(s string) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	part("flowgen cache 1")
	part(tool)
	part(string(input))
	part(tenant)
	for i := range names {
		part(names[i])
		part(values[i])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// cached returns the cache's answer to a key, unless it is too old. One that was kept by a clock that was more than ttl
// ahead of this one, which would live as much longer, is too old as well.
func (r *Run) cached(ctx context.Context, key string, ttl time.Duration) (c cachedResult, ok bool) {
	b, ok := r.state.rt.store().Get(ctx, key)
	if !ok || json.Unmarshal(b, &c) != nil || c.Output == nil {
		return c, false
	}
	if c.Expires == 0 {
		return c, true
	}
	left := time.Unix(0, c.Expires).Sub(r.Now())
	return c, left > 0 && (ttl <= 0 || left-ttl <= ttl)
}

// keep puts a result into the cache.
func (r *Run) keep(ctx context.Context, key string, h *Head, output []byte, ttl time.Duration) {
	c := cachedResult{Output: output}
	if b := h.Metadata; b != nil {
		c.Truncated, c.Attachments = b.Truncated, b.Attachments
	}
	if ttl > 0 {
		c.Expires = r.Now().Add(ttl).UnixNano()
	}
	if b, err := json.Marshal(c); err == nil {
		r.state.rt.store().Put(ctx, key, b, ttl)
	}
}

func (rt *Runtime) store() Cache {
	rt.cacheOnce.Do(func() {
		if rt.cache == nil {
			rt.cache = NewMemoryCache(DefaultCacheBytes)
		}
	})
	return rt.cache
}
