package serve

import "time"

// MakeIDs has ids of runs made by another function until what it returns is called.
func MakeIDs(f func(workflow string, now time.Time) string) (restore func()) {
	before := makeID
	makeID = f
	return func() { makeID = before }
}
