package bind

import (
	"strconv"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"
)

// A Cache keeps what the go command said about packages, for callers that compile many workflows over the same Go files:
// one that has loaded the same packages from the same folder does not run the go command again. It never notices that a
// Go file, the overlay or the environment has changed; make a new one then. The zero Cache is empty and ready for use.
// It may be shared by goroutines.
type Cache struct {
	mu     sync.Mutex
	loaded map[string][]*packages.Package
}

func cacheKey(opts Options, patterns []string) string {
	return opts.Dir + "\x00" + strconv.FormatBool(opts.Tests) + "\x00" + strings.Join(patterns, "\x00")
}

func (c *Cache) get(opts Options, patterns []string) ([]*packages.Package, bool) {
	if c == nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	pkgs, ok := c.loaded[cacheKey(opts, patterns)]
	return pkgs, ok
}

func (c *Cache) put(opts Options, patterns []string, pkgs []*packages.Package) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded == nil {
		c.loaded = map[string][]*packages.Package{}
	}
	c.loaded[cacheKey(opts, patterns)] = pkgs
}
