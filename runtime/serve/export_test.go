package serve

import "time"

// MakeIDs has ids of runs made by another function until what it returns is called.
func MakeIDs(f func(workflow string, now time.Time) string) (restore func()) {
	before := makeID
	makeID = f
	return func() { makeID = before }
}

// Watch has the watchdog of new servers look more often until what it returns is called.
func Watch(every, patience time.Duration) (restore func()) {
	b, p := beats, stalled
	beats, stalled = every, patience
	return func() { beats, stalled = b, p }
}

// Jam keeps the lock that requests and runs need until what it returns is called.
func (s *Server) Jam() (release func()) {
	s.mu.Lock()
	return s.mu.Unlock
}
