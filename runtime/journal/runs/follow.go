package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// readAtOnce is how much of a journal is read in one step.
const readAtOnce = 4 << 20 // bytes

// A Call is an attempt in a journal, without what is large: input, output, stack and logs, which Reader.Record reads.
type Call struct {
	Key                   string
	Attempt               int
	Tool, Effects, CallID string
	Start, End            time.Duration // since the run's beginning; End is Start without a result
	Tokens                int64
	CostUSD               usage.USD
	Code                  string // of its error
	Cached, Denied        bool
	Metered               bool          // a call of a model
	Again                 bool          // another attempt was made in its place: it does not count
	Limit                 time.Duration // how long the answer to a question is awaited

	done      bool
	cancelled string
	intent    span // of its lines; zero: it has none
	end       span
}

// span is where a line is in the file.
type span struct{ at, n int64 }

// A Reader follows the journal of a run: it reads what was appended since it read the last time, and keeps a Call for each
// attempt. It is not safe for concurrent use.
type Reader struct {
	folder *Folder
	id     string
	cursor wal.Cursor

	header  journal.Header
	finish  journal.Finish
	calls   []Call
	last    map[attempt]int // the newest Call of each attempt
	answers map[string]time.Time
	first   span
	edited  bool

	changed []int // calls that are not as Next has returned them
}

type attempt struct {
	key string
	n   int
}

// Follow returns a Reader of a run's journal. The error is ErrNoRun where the name is none; the journal is read by Next.
func (f *Folder) Follow(id string) (*Reader, error) {
	if !isID(id) {
		return nil, fmt.Errorf("%w: %q", ErrNoRun, id)
	}
	return &Reader{folder: f, id: id, last: map[attempt]int{}, answers: map[string]time.Time{}}, nil
}

// Next reads a few megabytes of what the journal has and the Reader has not. It returns the indexes of the calls that are new
// or different, in their order, and whether there was anything to read. Damage is a *wal.DamagedError: what was before it stays. ErrNoRun says
// that nothing is recorded, or that the run was removed.
func (r *Reader) Next() (changed []int, more bool, err error) {
	data, size, err := wal.ReadRange(r.folder.opts.Disk, r.folder.log(r.id), r.cursor.Offset, readAtOnce)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, noRecord(r.id)
	case err != nil:
		return nil, false, err
	case size < r.cursor.Offset:
		return nil, false, fmt.Errorf("run %s: the journal is shorter than it was: it was replaced", r.id)
	}
	before := r.cursor.Offset
	if err = r.take(data); err == nil && r.cursor.Offset == before && int64(len(data)) < size-before {
		// one line is longer than a step
		if data, _, err = wal.ReadRange(r.folder.opts.Disk, r.folder.log(r.id), before, size-before); err == nil {
			err = r.take(data)
		}
	}
	slices.Sort(r.changed)
	changed, r.changed = slices.Compact(r.changed), nil
	return changed, r.cursor.Offset > before, err
}

// All reads to the end of the journal as it is now.
func (r *Reader) All() error {
	for {
		if _, more, err := r.Next(); err != nil || !more {
			return err
		}
	}
}

func (r *Reader) take(data []byte) error {
	return r.cursor.Scan(data, func(at int64, n int, line []byte) error {
		if err := r.line(span{at, int64(n)}, line); err != nil {
			return fmt.Errorf("run %s: line %d of the journal: %w", r.id, r.cursor.Lines+1, err)
		}
		return nil
	})
}

// slim is a line about a call without what is large.
type slim struct {
	Kind      string        `json:"kind"`
	Key       string        `json:"key"`
	Attempt   int           `json:"attempt"`
	Tool      string        `json:"tool"`
	Effects   string        `json:"effects"`
	CallID    string        `json:"call_id"`
	Start     time.Duration `json:"start_ns"`
	End       time.Duration `json:"end_ns"`
	Limit     time.Duration `json:"limit_ns"`
	Tokens    int64         `json:"tokens"`
	CostUSD   usage.USD     `json:"cost_usd"`
	Cached    bool          `json:"cached"`
	Denied    bool          `json:"denied"`
	Metered   bool          `json:"metered"`
	Cancelled string        `json:"cancelled"`
	Error     *struct {
		Code string `json:"code"`
	} `json:"error"`
	Graph string    `json:"graph"` // of a resume
	Again []string  `json:"again"`
	At    time.Time `json:"at"` // of an answer
}

func (r *Reader) line(at span, line []byte) error {
	if r.first == (span{}) || at.at == 0 {
		j := new(journal.Journal)
		if err := j.Add(line); err != nil {
			return err
		}
		r.header, r.first = j.Header(), at
		return nil
	}
	var l slim
	if err := json.Unmarshal(line, &l); err != nil {
		return err
	}
	switch l.Kind {
	case journal.KindIntent, journal.KindEnd:
		return r.call(at, &l)
	case journal.KindAnswer:
		r.answers[l.Key] = l.At
		r.touch(l.Key)
		return nil
	}
	whole := journal.New(r.header)
	if err := whole.Add(line); err != nil {
		return err
	}
	r.finish = whole.Finish()
	if l.Kind == journal.KindResume {
		r.edited = r.edited || l.Graph != "" && l.Graph != r.header.Graph
		r.header = whole.Header()
		for i := range r.calls {
			if c := &r.calls[i]; len(l.Again) > 0 && !c.Again && (c.cancelled == runtime.ByScope || slices.Contains(l.Again, c.Key)) {
				r.replace(i)
			}
		}
	}
	for i := range r.calls { // what is open waits, or is in doubt, by how the run is
		if !r.calls[i].done {
			r.changed = append(r.changed, i)
		}
	}
	return nil
}

func (r *Reader) touch(key string) {
	for i := range r.calls {
		if r.calls[i].Key == key {
			r.changed = append(r.changed, i)
		}
	}
}

// replace says that another attempt is made in the place of a call.
func (r *Reader) replace(i int) {
	c := &r.calls[i]
	c.Again = true
	delete(r.last, attempt{c.Key, c.Attempt})
	r.changed = append(r.changed, i)
}

func (r *Reader) call(at span, l *slim) error {
	if l.Key == "" || l.Attempt < 1 {
		return errors.New("a record needs a key and an attempt")
	}
	k := attempt{l.Key, l.Attempt}
	i, known := r.last[k]
	switch {
	case !known:
	case r.calls[i].done && r.calls[i].cancelled != runtime.ByRun:
		if l.Kind == journal.KindEnd || !r.edited {
			return fmt.Errorf("a second record of %s, attempt %d", l.Key, l.Attempt)
		}
		for n := l.Attempt; ; n++ {
			old, ok := r.last[attempt{l.Key, n}]
			if !ok {
				break
			}
			r.replace(old)
		}
		known = false
	case l.Kind == journal.KindIntent:
		r.replace(i)
		known = false
	}
	if !known {
		i = len(r.calls)
		r.calls = append(r.calls, Call{Key: l.Key, Attempt: l.Attempt})
		r.last[k] = i
	}
	c := &r.calls[i]
	if l.Tool != "" || !known {
		c.Tool, c.Effects, c.CallID, c.Start, c.Limit = l.Tool, l.Effects, l.CallID, max(l.Start, 0), l.Limit
	}
	c.End = c.Start
	if l.Kind == journal.KindIntent {
		c.intent = at
	} else {
		c.end, c.done, c.cancelled = at, true, l.Cancelled
		c.End, c.Tokens, c.CostUSD = max(l.End, c.Start), l.Tokens, l.CostUSD
		c.Cached, c.Denied = l.Cached, l.Denied
		if l.Error != nil {
			c.Code = l.Error.Code
		}
	}
	c.Metered = c.Metered || l.Metered
	r.changed = append(r.changed, i)
	return nil
}

// ID returns the run's name.
func (r *Reader) ID() string { return r.id }

// Header is the journal's, as the last program that went on with the run has left it.
func (r *Reader) Header() journal.Header { return r.header }

// Finish says how the run ended; its Outcome is Open when nobody knows.
func (r *Reader) Finish() journal.Finish { return r.finish }

// Calls are the attempts in the order of their first lines. They belong to the Reader.
func (r *Reader) Calls() []Call { return r.calls }

// Lines counts the lines that were read, and their bytes.
func (r *Reader) Lines() (lines int, bytes int64) { return r.cursor.Lines, r.cursor.Offset }

// State is what became of a call, from what was read.
func (r *Reader) State(c *Call) journal.State {
	rec := journal.Record{Tool: c.Tool, Effects: c.Effects, Done: c.done, Cancelled: c.cancelled}
	if c.Code != "" {
		rec.Error = &value.ToolError{Code: value.Code(c.Code)}
	}
	_, answered := r.answers[c.Key]
	state := journal.StateOf(&rec, c.Tool == engine.HumanTool && !rec.Result() && r.finish.Outcome != journal.Failed && !answered)
	if c.Again {
		return state.Earlier()
	}
	return state
}

// Record reads all of a call but values beyond 64 KiB, for which an object with "$blob" stands, see Value.
func (r *Reader) Record(i int) (journal.Record, error) {
	if i < 0 || i >= len(r.calls) {
		return journal.Record{}, fmt.Errorf("run %s has %d calls, so that there is no call %d", r.id, len(r.calls), i)
	}
	j := journal.New(journal.Header{})
	for _, at := range []span{r.calls[i].intent, r.calls[i].end} {
		if at.n == 0 {
			continue
		}
		data, _, err := wal.ReadRange(r.folder.opts.Disk, r.folder.log(r.id), at.at, at.n+1)
		if err != nil {
			return journal.Record{}, err
		}
		err = r.cursor.At(at.at).Scan(data, func(_ int64, _ int, line []byte) error { return j.Add(line) })
		if err != nil {
			return journal.Record{}, fmt.Errorf("run %s: %w", r.id, err)
		}
	}
	list := j.Records()
	if len(list) != 1 {
		return journal.Record{}, fmt.Errorf("run %s: call %d cannot be read", r.id, i)
	}
	return list[0], nil
}

// Value returns a part of an input or output: at most n bytes from an offset on, and its size. What stands for a large one is
// read from its file.
func (r *Reader) Value(v []byte, at, n int64) (part []byte, size int64, err error) {
	var ref blobRef
	if bytes.HasPrefix(v, blobMark) && json.Unmarshal(v, &ref) == nil && isRef(v, ref) {
		return r.folder.blobPart(r.id, ref, at, n)
	}
	size = int64(len(v))
	at = min(max(at, 0), size)
	return v[at:min(at+n, size)], size, nil
}

// Busy reports whether a process of this machine is at a run. It locks nothing: a resume at the same time goes on.
func (f *Folder) Busy(id string) bool { return isID(id) && wal.Owned(f.opts.Disk, f.log(id)) }

// Size is how many bytes the journal of a run has.
func (f *Folder) Size(id string) (int64, error) {
	if !isID(id) {
		return 0, noRecord(id)
	}
	_, size, err := wal.ReadRange(f.opts.Disk, f.log(id), 0, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, noRecord(id)
	}
	return size, err
}
