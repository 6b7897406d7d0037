package serve

import (
	"context"
	"net/http"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/journal"
)

const (
	lookActive  = 20 * time.Millisecond // between looks for a run in this process
	lookJournal = time.Second           // between looks into the journal of a run that is not
)

// settled waits until a run is over, waits for answers or is stopped, as long as a request wants. A run that is not of this process
// may become one, as its turn comes some time after a restart, or go on in another process.
func (s *Server) settled(r *http.Request, id string, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	look := time.NewTicker(lookActive)
	defer look.Stop()
	var next time.Time // look into the journal
	for {
		s.mu.Lock()
		a, why := s.active[id], s.stopped[id]
		s.mu.Unlock()
		switch {
		case a != nil:
			select {
			case <-a.done:
				next = time.Time{} // it may be another process's
			case <-ctx.Done():
				return nil
			}
			continue
		case why != "":
			return nil
		case !time.Now().Before(next):
			j, err := s.o.Runs.Read(id)
			if err != nil || settledIn(j) {
				return err
			}
			next = time.Now().Add(lookJournal)
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return nil
		case <-s.ctx.Done():
			return nil
		}
	}
}

// settledIn reports whether a journal says that nothing more happens in a run by itself.
func settledIn(j *journal.Journal) bool {
	switch j.Finish().Outcome {
	case journal.Open:
		return false
	case journal.Waiting:
		return len(j.Questions()) > 0 // else the answer is there
	}
	return true
}
