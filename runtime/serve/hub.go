package serve

import (
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/flowgen-dev/flowgen/runtime"
)

// hub hands what happens in runs to those who follow them. A run that nobody follows costs one look-up a line. A reader is never
// waited for: who is too slow reads the journal instead.
type hub struct {
	server  *Server
	readers atomic.Int64 // of all runs
	mu      sync.RWMutex // guards the following
	feeds   map[string]*feed
	per     map[string]int // readers of each principal
	ended   chan struct{}  // closed when the server stops
}

// maxFeed is how many pieces of news a feed keeps.
const maxFeed = 512

// news is a line of the journal, or an event that is in no journal.
type news struct {
	n    int // number of the line; 0: of none
	kind string
	data []byte
}

// feed has the latest news of a run that somebody follows.
type feed struct {
	readers int // guarded by hub.mu

	mu      sync.Mutex // guards the following
	kept    []news
	first   int           // number of kept[0]
	changed chan struct{} // closed with the next news
}

func (h *hub) init(s *Server) {
	h.server, h.feeds, h.per, h.ended = s, map[string]*feed{}, map[string]int{}, make(chan struct{})
}

// end ends all streams.
func (h *hub) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.ended:
	default:
		close(h.ended)
	}
}

// follow returns the feed of a run, and what ends following; nil when there are too many readers.
func (h *hub) follow(id, who string) (f *feed, leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.readers.Load() >= int64(h.server.o.MaxStreams) || h.per[who] >= h.server.o.MaxReader {
		return nil, nil
	}
	f = h.feeds[id]
	if f == nil {
		f = &feed{changed: make(chan struct{})}
		h.feeds[id] = f
	}
	f.readers++
	h.readers.Add(1)
	h.per[who]++
	return f, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.readers.Add(-1)
		if h.per[who]--; h.per[who] == 0 {
			delete(h.per, who)
		}
		if f.readers--; f.readers == 0 {
			delete(h.feeds, id)
		}
	}
}

func (h *hub) feed(id string) *feed {
	if h.readers.Load() == 0 {
		return nil
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.feeds[id]
}

// wrote is the watcher of the folder of runs.
func (h *hub) wrote(id string, n int, line []byte) {
	if f := h.feed(id); f != nil {
		f.add(news{n: n, data: append([]byte(nil), line...)})
	}
}

// Observe implements runtime.Observer: it takes the events that are in no journal.
func (h *hub) Observe(e runtime.Event) {
	switch e.Kind {
	case runtime.Output, runtime.Progress, runtime.Retrying, runtime.Warning:
	default:
		return
	}
	if f := h.feed(e.Run.ID()); f != nil && !e.Replayed {
		if text, err := json.Marshal(e); err == nil {
			f.add(news{kind: string(e.Kind), data: text})
		}
	}
}

func (f *feed) add(n news) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.kept) >= maxFeed {
		dropped := len(f.kept) / 2
		f.kept = append(f.kept[:0], f.kept[dropped:]...)
		f.first += dropped
	}
	f.kept = append(f.kept, n)
	close(f.changed)
	f.changed = make(chan struct{})
}

// since returns the news from number at on and the number after them, whether some are lost, and what is closed with the next.
func (f *feed) since(at int) (list []news, next int, lost bool, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	next = f.first + len(f.kept)
	if at < f.first {
		return nil, next, true, f.changed
	}
	return append([]news(nil), f.kept[at-f.first:]...), next, false, f.changed
}
