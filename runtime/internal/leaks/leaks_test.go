package leaks

import (
	"testing"
	"time"
)

// A goroutine that stays is found; one that ends later than goleak itself waits is not.
func TestFind(t *testing.T) {
	stay := make(chan struct{})
	go func() { <-stay }()
	if find(0) == nil {
		t.Error("a goroutine that waits is not found")
	}
	time.AfterFunc(time.Second, func() { close(stay) })
	if err := find(time.Minute); err != nil {
		t.Error(err)
	}
}
