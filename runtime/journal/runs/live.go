package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// liveName is the file next to a journal with what a run shows while it goes on and does not record.
const liveName = "live.jsonl"

const (
	maxLive   = 4<<20 - 64 // bytes of the file: then it begins anew with what is still true
	maxText   = 4 << 10    // bytes that are kept of what one call says: its end
	liveEvery = 100 * time.Millisecond
	maxFailed = 20 // writes in sequence, then there are no more: Windows removes no file while somebody reads it
)

// Live is the progress of a node that is running, which journals do not have. The zero fields are not known.
type Live struct {
	Key    string    `json:"key"`
	Text   string    `json:"text,omitempty"` // the end of what the call has said
	Done   int       `json:"done,omitempty"` // items of a map
	Total  int       `json:"total,omitempty"`
	Until  time.Time `json:"until,omitzero"`   // the next attempt begins
	Reason string    `json:"reason,omitempty"` // why it is awaited: the code of the error
}

// after is what is known of a node with a newer line: texts are pieces, and a new attempt begins them anew.
func (l Live) after(next Live) Live {
	l.Key = next.Key
	if next.Reason != "" {
		l.Until, l.Reason, l.Text = next.Until, next.Reason, ""
	}
	if next.Total > 0 {
		l.Done, l.Total = next.Done, next.Total
	}
	if next.Text != "" {
		l.Text += next.Text
		if over := len(l.Text) - maxText; over > 0 {
			l.Text = strings.ToValidUTF8(l.Text[over:], "")
		}
	}
	return l
}

// Live returns an observer that keeps the progress of runs in files next to their journals, for other processes: streamed
// text, items of maps, and waits for retries. A file is at most 4 MiB, is written every 100 ms at most, and is removed when
// the run ends. Runs do not depend on it: failures change nothing. It is nil for runs in a database.
func (f *Folder) Live() runtime.Observer {
	if f.opts.Disk != wal.OS {
		return nil
	}
	return &lives{folder: f, runs: map[string]*liveFile{}}
}

type lives struct {
	folder *Folder

	mu   sync.Mutex
	runs map[string]*liveFile
}

// Observe implements runtime.Observer.
func (l *lives) Observe(e runtime.Event) {
	var next Live
	switch {
	case e.Run == nil:
		return
	case e.Kind == runtime.RunEnd:
		l.mu.Lock()
		file := l.runs[e.Run.ID()]
		delete(l.runs, e.Run.ID())
		l.mu.Unlock()
		if file != nil {
			file.remove()
		}
		return
	case e.Replayed:
		return
	case e.Kind == runtime.Output || e.Kind == runtime.Logged:
		next.Text = e.Text
	case e.Kind == runtime.Progress:
		next.Done, next.Total = e.Done, e.Total
	case e.Kind == runtime.Retrying && e.Wait > 0:
		next.Until, next.Reason = e.Time.Add(e.Wait).UTC(), "UNKNOWN"
		if te := value.ToolErrorOf(e.Err); te != nil {
			next.Reason = string(te.Code)
		}
	case e.Kind == runtime.NodeEnd:
	default:
		return
	}
	next.Key = e.Key
	if e.Kind == runtime.NodeEnd {
		l.mu.Lock()
		file := l.runs[e.Run.ID()]
		l.mu.Unlock()
		if file != nil {
			file.ended(e.Key)
		}
		return
	}
	l.of(e.Run.ID()).say(next)
}

func (l *lives) of(id string) *liveFile {
	l.mu.Lock()
	defer l.mu.Unlock()
	file := l.runs[id]
	if file == nil {
		file = &liveFile{name: filepath.Join(l.folder.dir, id, liveName), known: map[string]Live{}, fresh: map[string]Live{}}
		l.runs[id] = file
	}
	return file
}

// liveFile collects what is new, and writes it by and by.
type liveFile struct {
	name string

	mu    sync.Mutex // guards the following
	known map[string]Live
	fresh map[string]Live // since the last write
	later *time.Timer     // the next write; nil when nothing is new
	over  bool

	writing sync.Mutex // guards the following
	out     wal.File
	size    int
	begun   int // how often
	failed  int // writes, one after the other
}

func (f *liveFile) say(next Live) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return
	}
	f.known[next.Key] = f.known[next.Key].after(next)
	f.fresh[next.Key] = f.fresh[next.Key].after(next)
	if f.later == nil {
		f.later = time.AfterFunc(liveEvery, f.write)
	}
}

func (f *liveFile) ended(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.known, key)
	delete(f.fresh, key)
}

func (f *liveFile) write() {
	f.writing.Lock()
	defer f.writing.Unlock()
	f.mu.Lock()
	lines := linesOf(f.fresh)
	clear(f.fresh)
	f.later = nil
	over := f.over
	if f.size+len(lines) > maxLive {
		lines = linesOf(f.known)
		lines = lines[:min(len(lines), maxLive)]
	}
	f.mu.Unlock()
	if over || f.failed >= maxFailed || len(lines) == 0 {
		return
	}
	if err := f.put(lines); err == nil {
		f.failed = 0
	} else if f.failed++; f.failed < maxFailed { // all that is still true comes again, in another file
		f.size = maxLive
		f.mu.Lock()
		maps.Copy(f.fresh, f.known)
		if f.later == nil && !f.over {
			f.later = time.AfterFunc(liveEvery, f.write)
		}
		f.mu.Unlock()
	}
}

func linesOf(list map[string]Live) []byte {
	var b bytes.Buffer
	for _, l := range list {
		if line, err := json.Marshal(l); err == nil {
			b.Write(append(line, '\n'))
		}
	}
	return b.Bytes()
}

// put appends lines, or begins the file anew with them.
func (f *liveFile) put(lines []byte) error {
	if f.out == nil || f.size+len(lines) > maxLive {
		if f.out != nil {
			_ = f.out.Close()
			f.out = nil
		}
		if err := plainFolder(filepath.Dir(f.name)); err != nil {
			return err
		}
		if err := os.Remove(f.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		out, err := wal.OS.Append(f.name)
		if err != nil {
			return err
		}
		f.out, f.size, f.begun = out, 0, f.begun+1
		lines = append(fmt.Appendf(nil, "{\"file\":%d,\"pid\":%d}\n", f.begun, os.Getpid()), lines...) // readers see that it is another one
	}
	n, err := f.out.Write(lines)
	f.size += n
	return err
}

func (f *liveFile) remove() {
	f.mu.Lock()
	f.over = true
	if f.later != nil {
		f.later.Stop()
	}
	f.mu.Unlock()
	f.writing.Lock()
	defer f.writing.Unlock()
	if f.out != nil {
		_ = f.out.Close()
		f.out = nil
		_ = os.Remove(f.name)
	}
}

// A LiveReader follows the progress of a run that any process of this machine is at. It is not safe for concurrent use.
type LiveReader struct {
	folder *Folder
	name   string
	first  string // line of the file
	offset int64
	known  map[string]Live
}

// FollowLive returns a LiveReader. The error is ErrNoRun where the name is none.
func (f *Folder) FollowLive(id string) (*LiveReader, error) {
	if !isID(id) {
		return nil, noRecord(id)
	}
	return &LiveReader{folder: f, name: filepath.Join(f.dir, id, liveName), known: map[string]Live{}}, nil
}

// Next returns the nodes whose progress is not as it was, sorted by their keys. Runs without progress have none; lines that
// cannot be read are left out.
func (r *LiveReader) Next() []Live {
	if r.folder.opts.Disk != wal.OS {
		return nil
	}
	head, _, err := wal.ReadRange(wal.OS, r.name, 0, 64)
	first, _, whole := strings.Cut(string(head), "\n")
	if err != nil || !whole || first != r.first { // there is none, or it began anew
		r.first, r.offset = first, 0
		clear(r.known)
	}
	data, _, err := wal.ReadRange(wal.OS, r.name, r.offset, maxLive+1)
	if err != nil {
		return nil
	}
	var changed []string
	for {
		line, rest, ok := bytes.Cut(data, []byte("\n"))
		if !ok {
			break
		}
		r.offset, data = r.offset+int64(len(line))+1, rest
		var l Live
		if json.Unmarshal(line, &l) != nil || l.Key == "" {
			continue
		}
		r.known[l.Key] = r.known[l.Key].after(l)
		changed = append(changed, l.Key)
	}
	slices.Sort(changed)
	changed = slices.Compact(changed)
	list := make([]Live, len(changed))
	for i, key := range changed {
		list[i] = r.known[key]
	}
	return list
}
