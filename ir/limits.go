package ir

// What a map does when the file does not say: at most DefaultMaxItems items, DefaultParallel of them at a time.
// `max_items: unbounded` must be written.
const (
	DefaultMaxItems = 1000
	DefaultParallel = 8
)
