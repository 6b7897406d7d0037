// Package stores has the stores of flowgen by the schemes of their URLs. A store with a foreign library is a leaf, which registers
// itself: only programs that link the leaf have it.
package stores

import (
	"errors"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// ErrNotLinked is the error of a URL whose store is in no leaf that the program links.
var ErrNotLinked = errors.New("the program was built without it")

// A Kind has the stores of one kind. It is filled by init functions and read-only after that.
type Kind[Store any] struct {
	openers map[string]func(url string) (Store, func() error, error)
}

// The kinds. Stores of runs are where package runs keeps journals.
var (
	Caches Kind[runtime.Cache]
	Blobs  Kind[runtime.Blobs]
	Runs   Kind[wal.Disk]
)

// Register adds the stores of a scheme. open returns the store and what releases it; its errors do not show the URL, which may hold
// a password.
func (k *Kind[Store]) Register(scheme string, open func(url string) (Store, func() error, error)) {
	if k.openers == nil {
		k.openers = map[string]func(string) (Store, func() error, error){}
	}
	k.openers[scheme] = open
}

// Open opens the store of a URL.
func (k *Kind[Store]) Open(url string) (Store, func() error, error) {
	open, ok := k.openers[Scheme(url)]
	if !ok {
		var none Store
		return none, nil, ErrNotLinked
	}
	return open(url)
}

// Scheme is the scheme of a URL; empty for a path.
func Scheme(url string) string {
	scheme, _, ok := strings.Cut(url, "://")
	if !ok {
		return ""
	}
	return strings.ToLower(scheme)
}
