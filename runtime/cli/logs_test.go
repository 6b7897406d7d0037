package cli

import (
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
)

// On a terminal lines of programs stand above what is running, harmless and one below the other; without --logs there are none.
func TestLiveLogs(t *testing.T) {
	for _, on := range []bool{true, false} {
		l := newLiveTest(t, 60, 24, noColour)
		l.live.mu.Lock()
		l.live.logs.on = on
		l.live.mu.Unlock()
		logged := runtime.Event{Kind: runtime.Logged, Key: "fetch", Node: fetchNode, Attempt: 2, Text: "one\x1b[2J\ttwo\r\nthree\n"}
		l.live.Observe(start("fetch", fetchNode))
		l.live.Observe(logged)
		logged.Replayed, logged.Text = true, "old\n"
		l.live.Observe(logged)
		l.clock.advance(1500 * time.Millisecond)
		want := "⠋ fetch 1.5s\n"
		if on {
			want = "fetch attempt 2 | one  two\nfetch attempt 2 | three\n" + want
		}
		l.want(l.frame(), want)
		l.end()
	}
}
