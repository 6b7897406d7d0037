//go:build js || wasip1 || plan9

package nowait

// Flag is for os.OpenFile; 0 on systems that have none.
const Flag = 0
