// Package file keeps results of tools in a directory, for programs that run
// again and again:
//
//	store, err := file.Open(dir, file.MaxBytes(1<<30))
//	w, err := inbox.New(runtime.WithCache(store))
//
// Entries are written whole or not at all, also when several programs share the
// directory; one that is damaged is a miss and is removed. When the cache is
// full, what was not used for the longest time goes first.
package file

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// DefaultMaxBytes is the size of a cache that names none: 256 MiB.
	DefaultMaxBytes = 256 << 20

	// magic begins every entry, so that nothing else is taken for one.
	magic = "flowgen1"

	header = len(magic) + 8 + sha256.Size // magic, expiry, checksum of expiry and value

	suffix     = ".result" // of entries
	unfinished = ".part"   // of files that are being written
)

// Cache is a runtime.Cache in a directory. It is safe for concurrent use.
type Cache struct {
	root *os.Root
	max  int64
	now  func() time.Time

	mu   sync.Mutex // guards the following
	size int64      // of all entries, about: others may write too
}

// Option configures Open.
type Option func(*Cache)

// MaxBytes bounds the files of the cache together.
func MaxBytes(n int64) Option { return func(c *Cache) { c.max = n } }

// Open makes the directory where it is missing. Only the user of the program
// can read what is in it.
func Open(dir string, opts ...Option) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	c := &Cache{root: root, max: DefaultMaxBytes, now: time.Now}
	for _, o := range opts {
		o(c)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shrink()
	return c, nil
}

// Close releases the directory. Entries stay.
func (c *Cache) Close() error { return c.root.Close() }

// Get implements runtime.Cache.
func (c *Cache) Get(_ context.Context, key string) ([]byte, bool) {
	name, ok := fileName(key)
	if !ok {
		return nil, false
	}
	data, err := c.read(name)
	if err != nil {
		return nil, false
	}
	value, expires, ok := open(data)
	if !ok || expires != 0 && c.now().UnixNano() >= expires {
		_ = c.root.Remove(name) // of no use to anybody
		return nil, false
	}
	now := c.now()
	_ = c.root.Chtimes(name, now, now) // used: others go first
	return value, true
}

func (c *Cache) read(name string) ([]byte, error) {
	info, err := c.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > c.max {
		return nil, errors.Join(err, fs.ErrNotExist)
	}
	f, err := c.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, c.max))
}

// Put implements runtime.Cache. What cannot be written is not kept.
func (c *Cache) Put(_ context.Context, key string, value []byte, ttl time.Duration) {
	name, ok := fileName(key)
	if !ok || int64(len(value)+header) > c.max {
		return
	}
	var expires int64
	if ttl > 0 {
		expires = c.now().Add(ttl).UnixNano()
	}
	if c.write(name, seal(value, expires)) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size += int64(len(value) + header); c.size > c.max {
		c.shrink()
	}
}

// write makes the entire file under another name and puts it in place.
func (c *Cache) write(name string, data []byte) error {
	part := strconv.FormatUint(rand.Uint64(), 36) + unfinished
	f, err := c.root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = c.root.Rename(part, name)
	}
	if err != nil {
		_ = c.root.Remove(part)
	}
	return err
}

// shrink counts what there is and removes the oldest until a tenth is free. Files of a write that has died are removed
// after an hour. c.mu is held.
func (c *Cache) shrink() {
	dir, err := c.root.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return
	}
	c.size = 0
	var files []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		switch {
		case strings.HasSuffix(e.Name(), suffix):
			files = append(files, info)
			c.size += info.Size()
		case strings.HasSuffix(e.Name(), unfinished) && c.now().Sub(info.ModTime()) > time.Hour:
			_ = c.root.Remove(e.Name())
		}
	}
	if c.size <= c.max {
		return
	}
	slices.SortStableFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if c.size <= c.max/10*9 {
			return
		}
		if c.root.Remove(f.Name()) == nil {
			c.size -= f.Size()
		}
	}
}

// seal makes the content of an entry.
func seal(value []byte, expires int64) []byte {
	b := make([]byte, 0, header+len(value))
	b = append(b, magic...)
	b = binary.BigEndian.AppendUint64(b, uint64(expires))
	sum := checksum(b[len(magic):], value)
	return append(append(b, sum[:]...), value...)
}

// open is the reverse of seal; it is false for anything else.
func open(b []byte) (value []byte, expires int64, ok bool) {
	if len(b) < header || string(b[:len(magic)]) != magic {
		return nil, 0, false
	}
	when, sum, value := b[len(magic):len(magic)+8], b[len(magic)+8:header], b[header:]
	if want := checksum(when, value); string(want[:]) != string(sum) {
		return nil, 0, false
	}
	return value, int64(binary.BigEndian.Uint64(when)), true
}

func checksum(expires, value []byte) (sum [sha256.Size]byte) {
	h := sha256.New()
	h.Write(expires)
	h.Write(value)
	h.Sum(sum[:0])
	return sum
}

// fileName accepts the keys of the runtime, hexadecimal, and nothing that could be another path.
func fileName(key string) (string, bool) {
	if len(key) < 16 || len(key) > 128 || strings.Trim(key, "0123456789abcdef") != "" {
		return "", false
	}
	return key + suffix, true
}
