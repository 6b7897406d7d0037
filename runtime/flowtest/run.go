package flowtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/secret"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// workflow is a compiled workflow without its types.
type workflow struct {
	info *flow.Info
	run  func(ctx context.Context, input []byte, o ...runtime.Option) (output []byte, err error)
}

func bind[W interface {
	Run(context.Context, In) (Out, error)
}, In, Out any](info *flow.Info, start func(...runtime.Option) (W, error)) *workflow {
	return &workflow{info: info, run: func(ctx context.Context, input []byte, o ...runtime.Option) ([]byte, error) {
		var in In
		if err := value.Decode(input, &in); err != nil {
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
func (w *workflow) execute(ctx context.Context, dir string, c *Case, m mode) (res Result) {
	res = Result{Case: c.Name, Pos: c.Pos, Failures: []Failure{}}
	began := time.Now()
	defer func() { res.Seconds = time.Since(began).Seconds() }()
	fail := func(path []string, format string, args ...any) Result {
		res.Failures = append(res.Failures, Failure{Pos: c.Pos, Path: path, Message: fmt.Sprintf(format, args...)})
		return res
	}
	defer func() {
		if p := recover(); p != nil { // of the workflow's own Go
			fail([]string{"error"}, "panic: %v\n%s", p, debug.Stack())
		}
	}()
	file := cassetteFile{dir, c.Cassette}
	if m.record {
		wrote, err := w.recordCase(ctx, file, c)
		if err != nil {
			return fail([]string{"cassette"}, "cannot record: %v", err)
		}
		if wrote {
			res.Wrote = c.Cassette
		}
	}
	cassette, err := file.load()
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
		return fail([]string{"cassette"}, "cassette %s does not exist; `flowgen test --record --run %s` runs the workflow and writes it", c.Cassette, c.Name)
	}
	for _, why := range o.log.failed {
		fail([]string{"cassette"}, "%s", why)
	}
	if len(o.log.failed) > 0 {
		return res
	}
	res.Failures = append(res.Failures, c.compare(o)...)
	if f := w.order(ctx, cassette, c, o.log); f != nil {
		res.Failures = append(res.Failures, *f)
	}
	if len(o.unused) == 0 || o.err != nil && c.Error == nil { // a run that broke off has not asked for the rest
		return res
	}
	if !m.prune {
		return fail([]string{"cassette"}, "the cassette holds calls that the workflow does not make: %s; record the case again, or let `flowgen test --update` take them out", strings.Join(o.unused, ", "))
	}
	if err := file.save(without(cassette, o.unused)); err != nil {
		return fail([]string{"cassette"}, "cassette %s: %v", c.Cassette, err)
	}
	res.Wrote = c.Cassette
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
func withDefaults(fields []flow.Field, given json.RawMessage) ([]byte, error) {
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
func (w *workflow) recordCase(ctx context.Context, file cassetteFile, c *Case) (wrote bool, err error) {
	l := newLog(c)
	rec := recorded{journal.NewRecorder(), l}
	o := w.observe(ctx, c, l, runtime.WithEngine(rec), runtime.WithSecretLookup(secret.Default().Lookup))
	runtime.Exit()
	var te *value.ToolError
	var ns *notStarted
	switch {
	case len(l.failed) > 0:
		return false, errors.New(strings.Join(l.failed, "; "))
	case o.err != nil && (errors.As(o.err, &ns) || !errors.As(o.err, &te)):
		return false, o.err
	}
	exact := rec.Journal()
	if len(exact.Records()) == 0 {
		return false, file.remove()
	}
	plain := compact(exact, false)
	if again := w.replay(ctx, plain, c); len(again.log.failed) > 0 || len(again.unused) > 0 || string(again.output) != string(o.output) {
		plain = compact(exact, true) // what was called depends on the times
	}
	return true, file.save(plain)
}
