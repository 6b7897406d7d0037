package bind

import (
	"strconv"
	"sync"

	"golang.org/x/tools/go/packages"
)

// A Cache keeps what the go command said about packages, and that it failed, for callers that compile many workflows over the same Go files:
// one that has loaded a package from the same folder does not run the go command for it again. It never notices that a
// Go file, the overlay or the environment has changed; make a new one then. The zero Cache is empty and ready for use.
// It may be shared by goroutines.
type Cache struct {
	mu     sync.Mutex
	loaded map[string]loaded    // by folder and pattern
	codes  map[[3]string]string // hashes of code by folder of the module, package and function
}

// loaded is what became of a pattern: a package, nil where there is none, or how the go command failed.
type loaded struct {
	pkg *packages.Package
	err error
}

func cacheKey(opts Options, pattern string) string {
	return opts.Dir + "\x00" + strconv.FormatBool(opts.Tests) + "\x00" + pattern
}

func (c *Cache) get(opts Options, pattern string) (loaded, bool) {
	if c == nil {
		return loaded{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	l, ok := c.loaded[cacheKey(opts, pattern)]
	return l, ok
}

func (c *Cache) put(opts Options, pattern string, l loaded) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded == nil {
		c.loaded = map[string]loaded{}
	}
	c.loaded[cacheKey(opts, pattern)] = l
}

// code is the hash of a function's code.
func (c *Cache) code(dir, pkg, function string) (string, bool) {
	if c == nil {
		return "", false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	sum, ok := c.codes[[3]string{dir, pkg, function}]
	return sum, ok
}

func (c *Cache) keepCode(dir, pkg, function, sum string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.codes == nil {
		c.codes = map[[3]string]string{}
	}
	c.codes[[3]string{dir, pkg, function}] = sum
}
