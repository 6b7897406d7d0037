package flowtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/secret"
)

// workflow is a compiled workflow without its types.
type workflow struct {
	info *runtime.Info
	run  func(ctx context.Context, input []byte, o ...runtime.Option) (output []byte, err error)
}

func bind[W interface {
	Run(context.Context, In) (Out, error)
}, In, Out any](info *runtime.Info, start func(...runtime.Option) (W, error)) *workflow {
	return &workflow{info: info, run: func(ctx context.Context, input []byte, o ...runtime.Option) ([]byte, error) {
		var in In
		if err := runtime.Decode(input, &in); err != nil {
			return nil, &notStarted{fmt.Errorf("input: %w", err)}
		}
		w, err := start(o...)
		if err != nil {
			return nil, &notStarted{err}
		}
		out, err := w.Run(ctx, in)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}}
}

// notStarted is the error of a run that has not begun: it says nothing about the workflow.
type notStarted struct{ err error }

func (e *notStarted) Error() string { return e.err.Error() }

// mode says what becomes of a case's cassette.
type mode struct {
	record bool // run the real thing and write it
	prune  bool // write it without the records that are not asked for
}

// outcome is what a run came to.
type outcome struct {
	log    *log
	output json.RawMessage
	state  json.RawMessage // null when there is none
	err    error
	unused []string // records that were not asked for
}

// execute runs one case and compares. The suite's folder is dir.
func (w *workflow) execute(ctx context.Context, dir string, c *Case, m mode) Result {
	res := Result{Case: c.Name, Pos: c.Pos, Failures: []Failure{}}
	began := time.Now()
	defer func() { res.Seconds = time.Since(began).Seconds() }()
	fail := func(path []string, format string, args ...any) Result {
		res.Failures = append(res.Failures, Failure{Pos: c.Pos, Path: path, Message: fmt.Sprintf(format, args...)})
		return res
	}
	file := filepath.Join(dir, filepath.FromSlash(c.Cassette))
	if m.record {
		wrote, err := w.recordCase(ctx, file, c)
		if err != nil {
			return fail([]string{"cassette"}, "cannot record: %v", err)
		}
		if wrote {
			res.Wrote = c.Cassette
		}
	}
	cassette, err := load(file)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing: // a run that calls nothing needs none
		cassette = journal.New(journal.Header{Workflow: w.info.Name, Seed: 1, Begin: when})
	case err != nil:
		return fail([]string{"cassette"}, "cassette %s: %v", c.Cassette, err)
	}
	o := w.replay(ctx, cassette, c)
	res.Output, res.State = o.output, o.state
	var ns *notStarted
	if errors.As(o.err, &ns) {
		return fail([]string{"input"}, "%v", ns)
	}
	if len(o.log.failed) > 0 && missing {
		return fail([]string{"cassette"}, "there is no cassette %s; `flowgen test --record --run %s` runs the workflow and writes it", c.Cassette, c.Name)
	}
	if len(o.log.failed) > 0 {
		for _, why := range o.log.failed {
			fail([]string{"cassette"}, "%s", why)
		}
		return res
	}
	res.Failures = append(res.Failures, c.compare(o)...)
	if f := w.order(ctx, cassette, c, o.log); f != nil {
		res.Failures = append(res.Failures, *f)
	}
	if len(o.unused) > 0 && m.prune {
		if err := prune(file, cassette, o.unused); err != nil {
			return fail([]string{"cassette"}, "cassette %s: %v", c.Cassette, err)
		}
		res.Wrote = c.Cassette
	} else if len(o.unused) > 0 {
		fail([]string{"cassette"}, "the cassette holds calls that the workflow does not make: %s; record the case again, or let `flowgen test --update` take them out", strings.Join(o.unused, ", "))
	}
	return res
}

// replay runs a case from its cassette.
func (w *workflow) replay(ctx context.Context, cassette *journal.Journal, c *Case) *outcome {
	l := newLog(c)
	e := replayed{journal.Replay(cassette), l}
	o := w.observe(ctx, c, l, runtime.WithEngine(e))
	for _, key := range e.Unused() {
		if _, _, answered := l.find(key); !answered {
			o.unused = append(o.unused, key)
		}
	}
	return o
}

// observe runs a case and keeps what comes of it.
func (w *workflow) observe(ctx context.Context, c *Case, l *log, opts ...runtime.Option) *outcome {
	o := &outcome{log: l}
	input, err := withDefaults(w.info.Input, c.Input)
	if err != nil {
		o.err = &notStarted{err}
		return o
	}
	opts = append(opts, runtime.WithHuman(ask), runtime.WithState(func(state []byte, err error) {
		if err == nil {
			o.state = state
		}
	}))
	o.output, o.err = w.run(ctx, input, opts...)
	return o
}

// withDefaults is an input in which the fields that were left out have their defaults.
func withDefaults(fields []runtime.Field, given json.RawMessage) ([]byte, error) {
	input := map[string]json.RawMessage{}
	for _, f := range fields {
		if f.Default != "" {
			input[f.Name] = json.RawMessage(f.Default)
		}
	}
	if len(given) > 0 {
		if err := json.Unmarshal(given, &input); err != nil {
			return nil, fmt.Errorf("input: %w", err)
		}
	}
	return json.Marshal(input)
}

// recordCase runs the real thing and writes the cassette. A cassette holds no wall clock: where the run does not depend on
// its times they are left out, which a replay finds out. A run that calls nothing has no cassette.
func (w *workflow) recordCase(ctx context.Context, file string, c *Case) (wrote bool, err error) {
	l := newLog(c)
	rec := recorded{journal.NewRecorder(), l}
	o := w.observe(ctx, c, l, runtime.WithEngine(rec), runtime.WithSecretLookup(secret.Default().Lookup))
	runtime.Exit()
	var te *runtime.ToolError
	var ns *notStarted
	switch {
	case len(l.failed) > 0:
		return false, errors.New(strings.Join(l.failed, "; "))
	case o.err != nil && (errors.As(o.err, &ns) || !errors.As(o.err, &te)):
		return false, o.err
	}
	exact := rec.Journal()
	if len(exact.Records()) == 0 {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		return false, nil
	}
	plain := compact(exact, false)
	if again := w.replay(ctx, plain, c); len(again.log.failed) > 0 || len(again.unused) > 0 || string(again.output) != string(o.output) {
		plain = compact(exact, true) // what was called depends on the times
	}
	return true, save(file, plain)
}

// when is the time at which all cassettes begin.
var when = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// compact is a journal with what a replay needs. Without times and random numbers of its own it looks the same whenever it was recorded.
func compact(j *journal.Journal, times bool) *journal.Journal {
	h := journal.Header{Workflow: j.Header().Workflow, Seed: 1, Begin: when}
	if times {
		h.Seed, h.Begin = j.Header().Seed, j.Header().Begin
	}
	out := journal.New(h)
	out.SetFinish(journal.Finish{Outcome: j.Finish().Outcome})
	for _, r := range j.Records() {
		r.CallID = "" // follows from the rest
		if !times {
			r.Start, r.End, r.Error = 0, 0, undated(r.Error)
		}
		out.Put(r)
	}
	return out
}

// undated is an error of a request without the date that the server said.
func undated(te *runtime.ToolError) *runtime.ToolError {
	if te == nil {
		return nil
	}
	headers, _ := te.Details.Get("headers")
	if _, dated := headers.Get("date"); !dated {
		return te
	}
	plain := *te
	plain.Details = with(te.Details, "headers", with(headers, "date", runtime.StringValue(when.Format("Mon, 02 Jan 2006 15:04:05 GMT"))))
	return &plain
}

// with is a map with another value for a key that it has.
func with(m runtime.Value, key string, v runtime.Value) runtime.Value {
	var entries []runtime.Entry
	for _, k := range m.Keys() {
		item, _ := m.Get(k)
		if k == key {
			item = v
		}
		entries = append(entries, runtime.Entry{Key: k, Value: item})
	}
	return runtime.MapValue(entries...)
}

// prune writes a cassette without some keys.
func prune(file string, j *journal.Journal, keys []string) error {
	out := journal.New(j.Header())
	out.SetFinish(j.Finish())
	for _, r := range j.Records() {
		if !slices.Contains(keys, r.Key) {
			out.Put(r)
		}
	}
	return save(file, out)
}

// maxCassette bounds what is read as a cassette, in bytes.
const maxCassette = 256 << 20

func load(file string) (*journal.Journal, error) {
	st, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > maxCassette {
		return nil, fmt.Errorf("it is no regular file of at most %d MiB", maxCassette>>20)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return journal.Parse(text)
}

func save(file string, j *journal.Journal) error {
	text, err := j.MarshalText()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	part := file + ".part"
	if err := os.WriteFile(part, text, 0o666); err != nil {
		return err
	}
	return os.Rename(part, file)
}
