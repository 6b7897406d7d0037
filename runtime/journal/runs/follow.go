package runs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
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
const readAtOnce = 1 << 20 // bytes

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
	more      bool // its lines have something that is not here, besides input and output
	cancelled string
	intent    span // of its lines; zero: it has none
	end       span
}

// Ended reports whether the attempt has a result, or was cancelled.
func (c *Call) Ended() bool { return c.done }

// CancelledBy is runtime.ByScope or ByRun, or empty.
func (c *Call) CancelledBy() string { return c.cancelled }

// More reports whether the journal says more about the call than Call has, besides its input and output.
func (c *Call) More() bool { return c.more }

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
	answers map[string]span // their lines, by the keys of the questions
	special []span          // the lines about the run, the first one included
	edited  bool

	size    int64 // of the file when Next has read it
	changed []int // calls that are not as Next has returned them
	read    slim  // the line that is being read
	texts   texts
	index   index
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
	return &Reader{folder: f, id: id, answers: map[string]span{}}, nil
}

// Indexed returns a Reader that has read a journal to its end. It is false where that does not say all that Read says: of a run that
// went on with a changed program, of a journal that is damaged, torn or written at this moment, and of runs that are in no folder.
func (f *Folder) Indexed(id string) (r *Reader, ok bool) {
	if _, ok := f.opts.Disk.(wal.Ranger); !ok {
		return nil, false
	}
	r, err := f.Follow(id)
	if err != nil || r.All() != nil || r.edited {
		return nil, false
	}
	size, err := f.Size(id)
	return r, err == nil && size == r.cursor.Offset && size > 0
}

// Next reads a few megabytes of what the journal has and the Reader has not. It returns the indexes of the calls that are new
// or different, in their order, and whether there was anything to read. Damage is a *wal.DamagedError: what was before it stays. ErrNoRun says
// that nothing is recorded, or that the run was removed.
func (r *Reader) Next() (changed []int, more bool, err error) {
	if r.cursor.Offset == 0 && !r.index.tried {
		if r.index.tried = true; r.load() {
			changed = make([]int, len(r.calls))
			for i := range changed {
				changed[i] = i
			}
			return changed, true, nil
		}
	}
	data, size, err := wal.ReadRange(r.folder.opts.Disk, r.folder.log(r.id), r.cursor.Offset, readAtOnce)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, noRecord(r.id)
	case err != nil:
		return nil, false, err
	case size < r.cursor.Offset:
		return nil, false, fmt.Errorf("run %s: the journal is shorter than before: it was replaced", r.id)
	}
	before := r.cursor.Offset
	r.size = size
	if err = r.take(data); err == nil && r.cursor.Offset == before && int64(len(data)) < size-before {
		// one line is longer than a step
		if data, _, err = wal.ReadRange(r.folder.opts.Disk, r.folder.log(r.id), before, size-before); err == nil {
			err = r.take(data)
		}
	}
	if n := int64(len(r.calls)); before == 0 && n > 0 && size > 2*r.cursor.Offset { // so many are to come, if they are as these
		r.calls = slices.Grow(r.calls, int(n*(size/r.cursor.Offset)))
	}
	slices.Sort(r.changed)
	changed, r.changed = slices.Compact(r.changed), nil
	return changed, r.cursor.Offset > before, err
}

// All reads to the end of the journal as it is now.
func (r *Reader) All() error {
	for {
		if _, more, err := r.Next(); err != nil || !more || r.cursor.Offset == r.size {
			if err == nil {
				r.save()
			}
			return err
		}
	}
}

func (r *Reader) take(data []byte) error {
	before := r.cursor.Offset
	defer func() { r.index.sum = crc32.Update(r.index.sum, castagnoli(), data[:r.cursor.Offset-before]) }()
	return r.cursor.Scan(data, func(at int64, n int, line []byte) error {
		if err := r.line(span{at, int64(n)}, line); err != nil {
			return fmt.Errorf("run %s: line %d of the journal: %w", r.id, r.cursor.Lines+1, err)
		}
		return nil
	})
}

func (r *Reader) line(at span, line []byte) error {
	if isCall(line) {
		return r.callLine(at, line)
	}
	var l struct {
		Kind  string   `json:"kind"`
		Key   string   `json:"key"`
		Graph string   `json:"graph"`
		Again []string `json:"again"`
	}
	if json.Unmarshal(line, &l) == nil && (l.Kind == journal.KindIntent || l.Kind == journal.KindEnd) { // its kind is not its first field
		return r.callLine(at, line)
	}
	known := r.header
	if err := r.about(at, line); err != nil {
		return err
	}
	switch l.Kind {
	case journal.KindAnswer:
		r.special = r.special[:len(r.special)-1]
		r.answers[l.Key] = at
		r.touch(l.Key)
		return nil
	case journal.KindResume:
		r.edited = r.edited || l.Graph != "" && l.Graph != known.Graph
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

func (r *Reader) callLine(at span, line []byte) error {
	if len(r.special) == 0 {
		return new(journal.Journal).Add(line) // which says that it is not the first one
	}
	if err := r.read.line(line, &r.texts); err != nil {
		return err
	}
	return r.call(at, &r.read)
}

// about takes in what a line that is not about a call says about the run.
func (r *Reader) about(at span, line []byte) error {
	j := new(journal.Journal)
	if len(r.special) > 0 {
		j = journal.New(r.header)
		j.SetFinish(r.finish)
	}
	if err := j.Add(line); err != nil {
		return err
	}
	r.header, r.finish, r.special = j.Header(), j.Finish(), append(r.special, at)
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
	if l.key == "" || l.attempt < 1 {
		return errors.New("a record needs a key and an attempt")
	}
	r.find()
	k := attempt{l.key, l.attempt}
	i, known := r.last[k]
	again := false // another attempt, in the place of that one
	switch {
	case !known:
	case r.calls[i].done && r.calls[i].cancelled != runtime.ByRun:
		if l.kind == journal.KindEnd || !r.edited {
			return fmt.Errorf("a second record of %s, attempt %d", l.key, l.attempt)
		}
		for n := l.attempt; ; n++ {
			old, ok := r.last[attempt{l.key, n}]
			if !ok {
				break
			}
			r.replace(old)
		}
		again = true
	case l.kind == journal.KindIntent:
		r.replace(i)
		again = true
	}
	if !known || again {
		if l.tool == "" {
			return fmt.Errorf("the record of %s, attempt %d, does not say its tool", l.key, l.attempt)
		}
		i = len(r.calls)
		r.calls = append(r.calls, Call{Key: l.key, Attempt: l.attempt})
		r.last[k] = i
	}
	c := &r.calls[i]
	if l.tool != "" {
		c.Tool, c.Effects, c.CallID, c.Start, c.Limit = l.tool, l.effects, l.callID, max(l.start, 0), l.limit
	}
	c.End = c.Start
	if l.kind == journal.KindIntent {
		c.intent = at
	} else {
		c.end, c.done, c.cancelled = at, true, l.cancelled
		c.End, c.Tokens, c.CostUSD = max(l.end, c.Start), l.tokens, l.cost
		c.Cached, c.Denied, c.Code = l.cached, l.denied, cmp.Or(l.code, c.Code)
	}
	c.Metered, c.more = c.Metered || l.model, c.more || l.more
	r.changed = append(r.changed, i)
	return nil
}

// find makes the table of the newest attempts, which an index does not have.
func (r *Reader) find() {
	if r.last != nil {
		return
	}
	r.last = make(map[attempt]int, len(r.calls))
	for i := range r.calls {
		if c := &r.calls[i]; !c.Again {
			r.last[attempt{c.Key, c.Attempt}] = i
		}
	}
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
		return journal.Record{}, fmt.Errorf("run %s has %d calls, so call %d does not exist", r.id, len(r.calls), i)
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

// Inline puts large values into a record that Record has read, in the place of what stands for them.
func (r *Reader) Inline(rec *journal.Record) error {
	held := 0
	for _, v := range []*json.RawMessage{&rec.Input, &rec.Output} {
		var ref blobRef
		if !bytes.HasPrefix(*v, blobMark) || json.Unmarshal(*v, &ref) != nil || !isRef(*v, ref) {
			continue
		}
		value, err := r.folder.blob(r.id, ref)
		if err != nil {
			return err
		}
		if held += len(value); held > maxInline {
			return tooMuch()
		}
		*v = value
	}
	return nil
}

// Answer returns what a user has said to the question of a call.
func (r *Reader) Answer(key string) (answer string, ok bool) {
	at, ok := r.answers[key]
	if !ok {
		return "", false
	}
	data, _, err := wal.ReadRange(r.folder.opts.Disk, r.folder.log(r.id), at.at, at.n+1)
	if err != nil {
		return "", false
	}
	var a journal.Answer
	err = r.cursor.At(at.at).Scan(data, func(_ int64, _ int, line []byte) error { return json.Unmarshal(line, &a) })
	return a.Answer, err == nil && a.Key == key
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
