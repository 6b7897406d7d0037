package runs

import "testing"

func TestCalm(t *testing.T) {
	var i idle
	before := int64(-1)
	look := func(what string, want bool) {
		t.Helper()
		now, calm := i.calm(before)
		if calm != want {
			t.Errorf("%s: calm is %t, want %t", what, calm, want)
		}
		before = now
	}
	look("at first", false)
	look("nothing has begun", true)
	i.begin()
	look("a call has begun", false)
	look("it goes on", false)
	i.end()
	look("it has ended", false)
	look("nothing since", true)
	i.begin()
	i.end()
	look("another has begun and ended", false)
	look("nothing since then", true)
}
