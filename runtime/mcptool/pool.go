package mcptool

import (
	"context"
	"crypto/sha256"
	"strings"
	"sync"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// maxSessions bounds the sessions of one server: more than so many sets of secrets at a time are not served.
const maxSessions = 64

// A pool holds the sessions of a server, one for each set of values of its secrets.
type pool struct {
	mu       sync.Mutex
	sessions map[[sha256.Size]byte]*slot
	largest  int // the largest result that a tool may have
}

// A slot is a session, or one that is being started.
type slot struct {
	giveUp  context.CancelFunc // of the start
	ready   chan struct{}      // closed when one of the following is set
	session *session
	err     error
}

// servers are those with a session, for Close.
var servers struct {
	sync.Mutex
	all map[*Server]bool
}

// atExit makes compiled binaries end their servers, also those that do not end when their input does.
var atExit = sync.OnceFunc(func() { runtime.AtExit(Close) })

// Close ends the sessions of all servers, and with them the processes of local ones. Later calls start new ones. Compiled
// binaries call it at their end, see runtime.Exit.
func Close() {
	servers.Lock()
	all := servers.all
	servers.all = nil
	servers.Unlock()
	var wg sync.WaitGroup
	for s := range all {
		wg.Go(s.Close)
	}
	wg.Wait()
	proc.Close()
}

// Close ends the sessions of the server.
func (s *Server) Close() {
	s.mu.Lock()
	slots := s.sessions
	s.sessions = nil
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, sl := range slots {
		wg.Go(func() {
			sl.giveUp()
			<-sl.ready
			if sl.session != nil {
				sl.session.close()
			}
		})
	}
	wg.Wait()
}

// expect tells that a tool may have results of so many bytes.
func (s *Server) expect(bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.largest = max(s.largest, bytes)
}

// frame bounds one message of the server, in bytes. JSON can make text several times as long.
func (s *Server) frame() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(16<<20, 6*s.largest+1<<20)
}

// open returns the session for the secrets of ctx and starts it when there is none. The start is that of the server, not
// of the call: it goes on when ctx ends.
func (s *Server) open(ctx context.Context) (*session, error) {
	values, err := s.secretValues(ctx)
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256([]byte(strings.Join(values, "\x00")))
	s.mu.Lock()
	sl := s.sessions[key]
	if sl != nil && sl.dead() {
		if sl.session != nil {
			go sl.session.close()
		}
		sl = nil
	}
	if sl == nil {
		if len(s.sessions) >= maxSessions && s.sessions[key] == nil && !s.evict() {
			s.mu.Unlock()
			return nil, value.Errorf(value.PolicyDenied, "server %s has %d sessions with different secrets, more are not opened", s.name, maxSessions)
		}
		starting, giveUp := context.WithCancel(context.Background())
		sl = &slot{ready: make(chan struct{}), giveUp: giveUp}
		if s.sessions == nil {
			s.sessions = map[[sha256.Size]byte]*slot{}
		}
		s.sessions[key] = sl
		s.register()
		go func() {
			defer close(sl.ready)
			defer giveUp()
			sl.session, sl.err = s.start(starting, values)
		}()
	}
	s.mu.Unlock()
	select {
	case <-sl.ready:
		return sl.session, sl.err
	case <-ctx.Done():
		return nil, s.stopped(ctx)
	}
}

func (s *Server) register() {
	atExit()
	servers.Lock()
	defer servers.Unlock()
	if servers.all == nil {
		servers.all = map[*Server]bool{}
	}
	servers.all[s] = true
}

// dead tells whether the next call needs another session.
func (sl *slot) dead() bool {
	select {
	case <-sl.ready:
		return sl.session == nil || sl.session.ended()
	default:
		return false
	}
}

// evict makes room for a session: a dead one goes, or one that nobody uses.
func (s *Server) evict() bool {
	for key, sl := range s.sessions {
		switch {
		case sl.dead() && sl.session == nil:
		case sl.dead(), sl.idle():
			go sl.session.close()
		default:
			continue
		}
		delete(s.sessions, key)
		return true
	}
	return false
}

// secretValues are the values of the server's secrets, in the order of their names.
func (s *Server) secretValues(ctx context.Context) ([]string, error) {
	var values []string
	for _, name := range s.secretNames() {
		v, ok := tool.Secret(ctx, name)
		if !ok || v == "" {
			return nil, value.Errorf(value.AuthRequired, "secret %s is not set", name)
		}
		values = append(values, v)
	}
	return values, nil
}

// idle tells whether a session stands open that no call uses.
func (sl *slot) idle() bool {
	select {
	case <-sl.ready:
		return sl.session != nil && sl.session.calls.Load() == 0
	default:
		return false
	}
}
