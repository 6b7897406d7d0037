package cputime

import (
	"testing"
	"time"
)

func TestOf(t *testing.T) {
	n := 0
	if d := Of(func() {
		for begin := time.Now(); time.Since(begin) < 300*time.Millisecond; n++ {
		}
	}); d <= 0 || d > time.Minute {
		t.Errorf("%d rounds take %v", n, d)
	}
}
