//go:build unix

package mcptool

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A server that has ended is noticed by who writes to it, too, and the client then closes the connection: what the server wrote
// before that, and nobody has read, still says why it ended.
func TestWordsBeforeTheEnd(t *testing.T) {
	for _, tt := range []struct {
		wrote string
		part  string
	}{
		{"hello\n", "server test was stopped: it wrote output that is not a message: hello"},
		{`{"jsonrpc":"2.0"}` + "\nhello\n", "server test was stopped: it wrote output that is not a message: hello"},
		{`{"jsonrpc":"2.0"}` + "\n", "server test ended with status 7"},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.WriteString(tt.wrote); err != nil {
			t.Fatal(err)
		}
		_ = w.Close()
		child, err := proc.Start(exec.Command("sh", "-c", "exit 7"))
		if err != nil {
			t.Fatal(err)
		}
		end, _ := child.Reap()
		x := &session{server: Local("test", nil), frame: 1 << 20}
		p := &process{session: x, child: child, end: end, said: make(chan struct{}), exited: make(chan struct{})}
		close(p.said)
		close(p.exited)
		p.out = &frames{File: r, process: p, ended: make(chan struct{})}
		_ = p.out.Close() // before anybody has read
		_ = p.out.Close() // once is enough
		select {
		case <-p.out.ended:
		case <-time.After(time.Minute):
			t.Error("nobody reads the rest")
		}
		wantError(t, p.lost(os.ErrClosed), value.SandboxError, tt.part)
		_ = r.Close()
	}
}
