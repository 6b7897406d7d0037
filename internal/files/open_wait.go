//go:build js || wasip1 || plan9

package files

// noWait is nothing where opening a pipe cannot wait, or nothing says that it may not.
const noWait = 0
