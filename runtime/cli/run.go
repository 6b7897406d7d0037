package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"syscall"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func isHelp(err error) bool { return errors.Is(err, flag.ErrHelp) }

// runCommand runs the workflow once.
func runCommand(s *system, w *workflow, args []string) int {
	f, err := parseRunFlags(args)
	switch {
	case isHelp(err):
		return s.print(help(w.info) + moreHelp(w.more))
	case err != nil:
		s.complain(flagMistake(runFlagNames, err))
		return ExitUsage
	}
	x := newExecution(s, w, f)
	if code, bad := x.check(); bad {
		return code
	}
	x.tenant = cmp.Or(f.tenant, s.env("FLOWGEN_TENANT"))
	in, input, mistakes := readInput(s, w.info, f)
	if len(mistakes) > 0 {
		s.complain(mistakes...)
		return ExitUsage
	}
	x.given = in
	folder, asked, wrong := f.keep.folder(s, w.info)
	if wrong != nil {
		s.complain(*wrong)
		return ExitUsage
	}
	if folder != nil {
		ok, wrong := ready(s, folder, asked)
		if wrong != nil {
			s.complain(*wrong)
			return ExitFault
		}
		if ok {
			x.folder, x.engine = folder, folder.New(w.info)
		}
	}
	return x.run(input)
}

// execution is one run of the workflow by a verb.
type execution struct {
	s      *system
	w      *workflow
	f      *runFlags
	clean  *redactor
	folder *runs.Folder
	engine *runs.Engine     // nil: nothing is recorded
	past   *journal.Journal // of a run that goes on
	replay engine.Engine    // in place of engine
	tenant string
	given  *inputs // nil when the input comes from a journal
}

func newExecution(s *system, w *workflow, f *runFlags) *execution {
	x := &execution{s: s, w: w, f: f, clean: redactorOf(w.info)}
	s.redact = x.clean.text
	return x
}

// check looks at the flags that all verbs share.
func (x *execution) check() (code int, bad bool) {
	s, f := x.s, x.f
	if f.quiet && f.jsonEvents {
		s.complain(mistake{"--quiet and --json-events exclude each other", "leave one of them out"})
		return ExitUsage, true
	}
	if f.answers == "-" && f.inputJSON == "-" {
		s.complain(mistake{"--input-json and --answers cannot both read standard input", "put one of them in a file"})
		return ExitUsage, true
	}
	if f.raw != "" {
		if m := rawField(x.w.info, f.raw); m != nil {
			s.complain(*m)
			return ExitUsage, true
		}
	}
	return 0, false
}

// options are what the run is given.
func (x *execution) options() (o []runtime.Option, release func(), wrong *mistake) {
	o = []runtime.Option{runtime.WithSecretLookup(secrets), x.clean.follow} // an observed run does more work, so a quiet one has no observer
	if x.f.proxy {
		o = append(o, engine.WithValue(engine.EnvironmentProxy{}, true)) // package httptool reads it, which few programs link
	}
	if x.tenant != "" {
		o = append(o, runtime.WithTenant(x.tenant))
	}
	if x.f.timeout > 0 {
		o = append(o, runtime.WithPolicy(&runtime.Policy{Grants: []string{"*"}, MaxTime: x.f.timeout}))
	}
	kept, release, wrong := x.stores()
	if wrong != nil {
		return nil, release, wrong
	}
	o = append(o, kept...)
	switch {
	case x.replay != nil:
		o = append(o, runtime.WithEngine(x.replay))
	case x.engine != nil:
		o = append(o, runtime.WithEngine(x.engine), runtime.WithPast(x.folder))
	}
	return o, release, nil
}

// run runs the workflow with the lock and the retention that the flags ask for.
func (x *execution) run(input []byte) int {
	if wrong := x.retention(); wrong != nil {
		if x.engine != nil {
			_ = x.engine.Close()
		}
		x.s.complain(*wrong)
		return ExitUsage
	}
	if x.f.keep.alone {
		release, err := x.folder.Alone(x.w.info.Name)
		if err != nil {
			_ = x.engine.Close()
			if errors.Is(err, runs.ErrOverlaps) {
				x.s.complain(mistake{err.Error(), "wait until it ends, or leave --no-overlap out"})
				return ExitOverlaps
			}
			return x.unreadable(err)
		}
		defer func() { _ = release() }() // the end of the process releases it, too
	}
	defer x.retire()
	return x.perform(input)
}

// perform runs the workflow, and prints what comes of it.
func (x *execution) perform(input []byte) int {
	s, f := x.s, x.f
	options, release, wrong := x.options()
	if wrong != nil {
		s.complain(*wrong)
		return ExitFault
	}
	defer release()
	shown := newDisplay(s, f, x.replay != nil)
	if shown != nil {
		options = append(options, runtime.WithObserver(shown))
		if x.engine != nil && x.folder != nil {
			if live := x.folder.Live(); live != nil {
				options = append(options, runtime.WithObserver(live))
			}
		}
	}
	people, wrong := newPerson(s, f, shown, x.w.info.Facts.Plan())
	if wrong != nil {
		if shown != nil {
			shown.close(nil)
		}
		s.complain(*wrong)
		return ExitUsage
	}
	defer people.close()
	if people.file != nil && shown == nil {
		options = append(options, runtime.WithObserver(runtime.ObserverFunc(func(runtime.Event) {}))) // observed calls have keys, by which answers are found
	}
	ctx, stopped, end := s.cancelOnSignal(context.Background())
	if x.engine == nil || f.unattended || people.file != nil || s.typing() { // a run with a journal can wait
		options = append(options, runtime.WithHuman(people.ask))
	}
	out, at, err := protect(func() ([]byte, stage, error) { return x.w.run(ctx, input, options...) })
	runtime.Exit()
	end()
	if shown != nil {
		shown.close(err)
	}
	if x.engine != nil && at < running {
		err = errors.Join(err, x.engine.Close()) // it has not begun
	}
	return x.finish(out, at, err, stopped())
}

// finish prints the result, or what went wrong and how to go on.
func (x *execution) finish(out []byte, at stage, err error, by os.Signal) int {
	well := err != nil || !x.w.info.Status || succeeded(out)
	if out = x.clean.json(out); err == nil && x.f.raw != "" {
		if out, err = rawText(out, x.f.raw); err == nil {
			out = []byte(x.clean.text(string(out))) // what was in pieces may have come together
		}
	}
	var j *journal.Journal
	if x.engine != nil && at == running && err != nil {
		var jerr error
		if j, jerr = x.folder.ReadLazy(x.engine.ID()); jerr != nil {
			j = nil // the error that the run ended with says what is wrong with the journal
		}
	}
	if j != nil && j.Finish().Outcome == journal.Waiting {
		x.s.after(x.engine, j, err, x.f.quiet)
		return ExitWaits
	}
	if err != nil && at == running && x.w.info.Partial && len(out) > 0 {
		_ = x.s.print(string(out)) // the error decides the exit code
	}
	if err != nil && at == reading {
		x.s.complain(x.given.unfit(err)...)
		return ExitUsage
	}
	code := x.s.finish(out, at, err, by)
	if !well && code == 0 {
		code = ExitFailed
	}
	switch {
	case j != nil:
		x.s.after(x.engine, j, err, x.f.quiet)
	case x.engine != nil && at == running && runErrorKind(err) == runtime.JournalUnavailable && wal.Remedy(err) != "": // nor can it be read
		x.s.after(x.engine, new(journal.Journal), err, x.f.quiet)
	}
	return code
}

// succeeded reports whether an output says that the run went well.
func succeeded(out []byte) bool {
	var o struct {
		Status string `json:"status"`
	}
	return json.Unmarshal(out, &o) != nil || o.Status == "success"
}

// finish prints the result or the error and chooses the exit code.
func (s *system) finish(out []byte, at stage, err error, by os.Signal) int {
	if err == nil {
		return s.print(string(out))
	}
	switch at {
	case starting:
		m := mistake{err.Error(), ""}
		if missing := interface{ MissingSecrets() []string }(nil); errors.As(err, &missing) {
			m.help = "secrets are looked for in the environment, in the file .env of this folder, and in /run/secrets"
		}
		s.complain(m)
		return ExitFault
	case writing:
		s.complain(mistake{"cannot write the result: " + err.Error(), ""})
		return ExitFault
	}
	if p := (*panicked)(nil); errors.As(err, &p) {
		s.complain(mistake{p.Error(), "this is a fault of the program or of flowgen, not of its input"})
		_, _ = io.WriteString(s.stderr, s.redact(string(p.stack)))
		return ExitFault
	}
	// The error of a node begins with its position.
	_, _ = io.WriteString(s.stderr, safe(s.redact(err.Error()))+"\n")
	if at, _ := engine.TraceOf(value.ToolErrorOf(err)); at != "" {
		_, _ = io.WriteString(s.stderr, "  at "+safe(s.redact(at))+"\n")
	}
	var re *runtime.RunError
	switch {
	case runtime.IsCancelled(err) && by != nil:
		return signalCode(by)
	case errors.As(err, &re) && re.Kind != runtime.Cancelled:
		return ExitFault
	}
	return ExitFailed
}

func signalCode(by os.Signal) int {
	if n, ok := by.(syscall.Signal); ok {
		return exitSignal + int(n)
	}
	return exitSignal + int(syscall.SIGINT)
}

// interrupted is the cause of a run cancelled by a signal.
type interrupted struct{ by os.Signal }

func (e interrupted) Error() string { return e.by.String() + " signal" }

// cancelOnSignal returns a context that the first signal cancels, a function
// that says which signal it was, and one that must be called in the end.
func (s *system) cancelOnSignal(parent context.Context) (ctx context.Context, by func() os.Signal, release func()) {
	ctx, cancel := context.WithCancelCause(parent)
	requests, restore := s.signals()
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case sig := <-requests:
			restore() // the next one ends the process
			cancel(interrupted{sig})
		case <-done:
		}
	}()
	release = func() {
		close(done)
		<-ended
		restore()
		cancel(nil)
	}
	by = func() os.Signal {
		var i interrupted
		if errors.As(context.Cause(ctx), &i) {
			return i.by
		}
		return nil
	}
	return ctx, by, release
}

// panicked is a panic of the workflow's body, made an error so that the
// terminal is put in order and the exit code says fault.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

func protect(run func() ([]byte, stage, error)) (out []byte, at stage, err error) {
	defer func() {
		if v := recover(); v != nil {
			out, at, err = nil, running, &panicked{v, debug.Stack()}
		}
	}()
	return run()
}
