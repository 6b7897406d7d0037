package core

import (
	"slices"
	"sync"
)

var exits struct {
	sync.Mutex
	list []func()
}

// AtExit registers a function that ends what tools keep between calls and what would outlive the program: processes,
// connections. Leaves of the runtime call it when they start the first of its kind. The function may be called more than
// once and must be safe for concurrent use.
func AtExit(f func()) {
	exits.Lock()
	defer exits.Unlock()
	exits.list = append(exits.list, f)
}

// Exit calls what was registered with AtExit, the latest first, and waits for it. The main of compiled binaries calls it
// at their end; a program of another make may, when no run is under way. Later calls of tools start anew what they need.
func Exit() {
	exits.Lock()
	list := slices.Clone(exits.list)
	exits.Unlock()
	for _, f := range slices.Backward(list) {
		f()
	}
}
