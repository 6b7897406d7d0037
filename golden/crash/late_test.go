//go:build linux

package crash

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/journal"
)

const (
	charged  = "each[0]/charge"                        // the call of the tests below
	itsEnd   = `{"kind":"end","key":"` + charged + `"` // how its line begins
	deadline = "another process is using this run"     // what a resume says while the lease of the dead is not over
)

// A proxy stands in front of a server's socket, and keeps back what begins with the end of a call until it is released. What a client has
// sent arrives even when it has died, as on a network.
type proxy struct {
	net.Listener
	to      string
	caught  chan struct{}
	release chan struct{}
	once    sync.Once
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	dir, err := os.MkdirTemp("", "p") // names of sockets are short, and that of t.TempDir is not
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, filepath.Base(to)))
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Listener: l, to: to, caught: make(chan struct{}), release: make(chan struct{})}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", p.to)
	if err != nil {
		return
	}
	defer server.Close()
	go func() { // answers, also those that nobody waits for any more
		b := make([]byte, 64<<10)
		for {
			n, err := server.Read(b)
			if err != nil {
				return
			}
			_, _ = client.Write(b[:n])
		}
	}()
	b := make([]byte, 64<<10)
	for {
		n, err := client.Read(b)
		if err != nil {
			return
		}
		if bytes.Contains(b[:n], []byte(itsEnd)) {
			p.once.Do(func() {
				close(p.caught)
				<-p.release
			})
		}
		if _, err := server.Write(b[:n]); err != nil {
			return
		}
	}
}

// late is a history of one item in PostgreSQL whose program is dead, and whose last line may still come.
type late struct {
	*history
	t *testing.T
}

// dead starts a program with the runs at an address, kills it when caught says that the end of its call is under way, and looks.
func (l late) dead(address string, caught func(ended <-chan struct{}) bool) {
	l.t.Helper()
	input, err := json.Marshal(map[string]any{"port": l.world.port(), "items": l.items})
	if err != nil {
		l.t.Fatal(err)
	}
	cmd := exec.Command(l.exe, "run", "--quiet", "--runs", address, "--input-json", "-")
	cmd.Stdin = bytes.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	under := caught(ended)
	_ = cmd.Process.Kill()
	<-ended
	l.world.settle()
	if !under {
		l.t.Fatalf("the call has not ended: %v\n%s", cmd.ProcessState, stderr.Bytes())
	}
	if err := l.look(true); err != nil {
		l.t.Fatal(err)
	}
	if open := doubtful(l.last); len(open) != 1 || open[0].Key != charged || l.world.effects()[place(open[0])] != 1 {
		l.t.Fatalf("in doubt are %+v", open)
	}
}

// resume goes on, when the lease of the dead is over.
func (l late) resume(flags ...string) (stdout, stderr string, code int) {
	l.t.Helper()
	for {
		cmd := exec.Command(l.exe, append([]string{"resume", l.id, "--quiet", "--runs", l.at}, flags...)...)
		var out, complaints strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &complaints
		err := cmd.Run()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			l.t.Error(err)
		}
		if !strings.Contains(complaints.String(), deadline) {
			return out.String(), complaints.String(), cmd.ProcessState.ExitCode()
		}
	}
}

// came reports whether the end of the call is in the journal.
func (l late) came() bool {
	l.t.Helper()
	j, err := l.folder.Read(l.id)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, r := range j.Records() {
		if r.Key == charged {
			return r.Result()
		}
	}
	return false
}

// over waits until the server has noticed the death.
func (l late) over() {
	l.t.Helper()
	if _, err := l.disk.(*stored).left(); err != nil {
		l.t.Fatal(err)
	}
}

// done holds that the run has succeeded with every write made once.
func (l late) done(stdout, stderr string, code int) {
	l.t.Helper()
	if code != 0 {
		l.t.Fatalf("exit %d: %s", code, stderr)
	}
	j, err := l.folder.Read(l.id)
	if err != nil {
		l.t.Fatal(err)
	}
	l.last = j
	if err := l.end([]byte(stdout)); err != nil {
		l.t.Error(err)
	}
	if outcome := j.Finish().Outcome; outcome != journal.Succeeded {
		l.t.Errorf("it is %v", outcome)
	}
}

// TestLateCommit: the last line that a process has sent to PostgreSQL arrives after its death. Before another process has taken over the run
// it counts: nothing is in doubt any more, whatever somebody has read in between. Afterwards it does not: the call is in doubt, and the line
// is never written.
func TestLateCommit(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program and kills it")
	}
	exe, reader := program(t, ledger, "--stores", "postgres,sqlite"), reader(t)
	address := postgres(t, reader)
	start := func(t *testing.T, seed uint64) late {
		h, err := newHistory(address, exe, seed, "effect")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(h.world.close)
		h.items = []string{"0"}
		h.in(schema(address, seed), &stored{exe: reader, server: address, program: fmt.Sprint("h", seed)})
		return late{h, t}
	}
	query := func(t *testing.T, what string, args ...string) string {
		out, err := (&stored{exe: reader, url: address}).ask(append([]string{what}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	// sent has a program whose line is on its way when it dies.
	sent := func(t *testing.T, l late) *proxy {
		p, through := between(t, address)
		l.dead(schema(through, l.seed)+"&application_name="+l.disk.(*stored).program, func(ended <-chan struct{}) bool {
			select {
			case <-p.caught:
				return true
			case <-ended:
				return false
			}
		})
		return p
	}

	t.Run("arrives before the run is taken over", func(t *testing.T) {
		l := start(t, lateness)
		p := sent(t, l)
		close(p.release)
		l.over()
		if !l.came() {
			t.Fatal("the line has not come")
		}
		// A campaign that had looked too early would say this: it is true of what it has read, and no fault.
		if err := l.look(true); err == nil || !strings.Contains(err.Error(), "not reported: "+charged+" was in doubt") {
			t.Errorf("a look before the server has noticed the death: %v", err)
		}
		l.done(l.resume())
	})
	t.Run("arrives after the run is taken over", func(t *testing.T) {
		l := start(t, lateness+1)
		p := sent(t, l)
		_, stderr, code := l.resume()
		if code == 0 {
			t.Fatal("nothing was in doubt")
		}
		if err := l.doubt([]byte(stderr)); err != nil {
			t.Fatalf("%v\n%s", err, stderr)
		}
		close(p.release)
		l.over()
		if l.came() {
			t.Fatal("one that has lost its lease has written")
		}
		l.done(l.resume("--in-doubt", charged+"="+l.given[charged]))
	})
	t.Run("is being committed while the run is taken over", func(t *testing.T) {
		l := start(t, lateness+2)
		in := l.disk.(*stored).program
		query(t, "do", strings.ReplaceAll(`CREATE TABLE h3.hold AS SELECT 1 AS n;
			CREATE TABLE h3.flowgen_parts (name TEXT NOT NULL, place BIGINT NOT NULL, data BYTEA NOT NULL, PRIMARY KEY (name, place));
			CREATE FUNCTION h3.held() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				WHILE POSITION('`+itsEnd+`'::BYTEA IN NEW.data) > 0 AND EXISTS (SELECT FROM h3.hold) LOOP PERFORM PG_SLEEP(0.01); END LOOP;
				RETURN NULL; END $$;
			CREATE CONSTRAINT TRIGGER held AFTER INSERT ON h3.flowgen_parts DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION h3.held();`, "h3.", in+"."))
		waits := func(event string) bool {
			return until(func() bool {
				return query(t, "ask", `SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = '`+in+`' AND `+event) == "1"
			})
		}
		l.dead(l.at, func(<-chan struct{}) bool { return waits("wait_event = 'PgSleep'") })
		type result struct {
			stdout, stderr string
			code           int
		}
		over := make(chan result, 1)
		go func() {
			stdout, stderr, code := l.resume()
			over <- result{stdout, stderr, code}
		}()
		if !waits("wait_event_type = 'Lock'") { // the next cannot have the lease before it is known whether the line is there
			t.Fatal("nobody waits for the commit")
		}
		query(t, "do", "DELETE FROM "+in+".hold")
		r := <-over
		l.done(r.stdout, r.stderr, r.code)
		if !l.came() {
			t.Error("the line is not there")
		}
	})
}
