package cli

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"slices"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/serving"
)

// A Verb is what another package adds to a program: it answers a verb in place of this package.
type Verb struct {
	Name, Arguments, Short string
	Run                    func(*Call) (exitCode int)
}

// MainWith is Main for a program with more verbs.
func MainWith[W interface {
	Run(context.Context, In) (Out, error)
}, In, Out any](info *flow.Info, start func(...runtime.Option) (W, error), more ...Verb) {
	os.Exit(run(hostSystem(), &workflow{info: info, run: bind(start), more: more, served: []*serving.Workflow{serving.Of(info, start)}}))
}

// A Call is one call of a Verb.
type Call struct {
	s     *system
	w     *workflow
	args  []string
	flags runFlags // that were parsed
}

// Context is cancelled by the first signal. release must be called in the end.
func (c *Call) Context() (ctx context.Context, release func()) {
	ctx, _, release = c.s.cancelOnSignal(context.Background())
	return ctx, release
}

// Flags parses the flags that define sets and returns the other arguments. Unless ok, the call ends with code.
func (c *Call) Flags(define func(*flag.FlagSet)) (rest []string, code int, ok bool) {
	set := newFlagSet()
	set.StringVar(&c.flags.blobs, "blobs", "", "")
	define(set)
	rest, err := parseFlags(set, c.args)
	code, ok = c.parsed(set, err)
	return rest, code, ok
}

// Blobs opens the store of large outputs that the flag --blobs or the environment names; it is nil when they name none. It is called
// after the flags have been parsed. release must be called in the end.
func (c *Call) Blobs() (store runtime.Blobs, release func(), code int, ok bool) {
	address := cmp.Or(c.flags.blobs, c.s.env(blobsKind.env))
	if address == "" {
		return nil, func() {}, ExitOK, true
	}
	store, closer, err := openBlobs(address)
	if err != nil {
		c.s.complain(*blobsKind.wrong(address, err))
		return nil, nil, ExitFault, false
	}
	return store, func() { _ = closer() }, ExitOK, true // nothing is written any more
}

// Tenant is whom a run is for that is started: the flag --tenant of Input, or the environment's.
func (c *Call) Tenant() string { return cmp.Or(c.flags.tenant, c.s.env("FLOWGEN_TENANT")) }

// Input is Flags for a verb that takes the workflow's inputs, as run does.
func (c *Call) Input(define func(*flag.FlagSet)) (input []byte, code int, ok bool) {
	f, set := &c.flags, newFlagSet()
	f.inputFlags(set)
	set.StringVar(&f.blobs, "blobs", "", "")
	set.StringVar(&f.tenant, "tenant", "", "")
	define(set)
	var err error
	f.texts, err = parseFlags(set, c.args)
	if code, ok = c.parsed(set, err); !ok {
		return nil, code, false
	}
	_, input, mistakes := readInput(c.s, c.w.info, f)
	if len(mistakes) > 0 {
		c.s.complain(mistakes...)
		return nil, ExitUsage, false
	}
	return input, ExitOK, true
}

// Options is Flags for a verb that makes calls: it takes the flags of run that say how. release must be called in the end.
func (c *Call) Options(define func(*flag.FlagSet)) (o []runtime.Option, release func(), code int, ok bool) {
	f, set := &c.flags, newFlagSet()
	set.StringVar(&f.blobs, "blobs", "", "")
	set.StringVar(&f.cache, "cache", "", "")
	set.StringVar(&f.usage, "usage", "", "")
	set.Func("root", "", setRoot)
	set.Func("proxy", "", f.setProxy)
	define(set)
	rest, err := parseFlags(set, c.args)
	if err == nil && len(rest) > 0 {
		err = errors.New("unexpected argument " + rest[0])
	}
	if code, ok = c.parsed(set, err); !ok {
		return nil, nil, code, false
	}
	o, release, wrong := newExecution(c.s, c.w, f).options()
	if wrong != nil {
		c.s.complain(*wrong)
		return nil, nil, ExitFault, false
	}
	return o, release, ExitOK, true
}

func (c *Call) parsed(set *flag.FlagSet, err error) (code int, ok bool) {
	switch {
	case isHelp(err):
		return c.s.print(help(c.w.info) + moreHelp(c.w.more)), false
	case err != nil:
		var names []string
		set.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
		c.s.complain(flagMistake(names, err))
		return ExitUsage, false
	}
	return ExitOK, true
}

// Print writes to standard output, and returns the exit code.
func (c *Call) Print(text string) int { return c.s.print(text) }

// Say writes to standard error.
func (c *Call) Say(text string) { _, _ = io.WriteString(c.s.stderr, safe(text)+"\n") }

// Fail reports what is wrong and how to fix it, and returns code.
func (c *Call) Fail(code int, message, help string) int {
	c.s.complain(mistake{message, help})
	return code
}

// added is the verb of another package.
func (w *workflow) added(name string) *Verb {
	if i := slices.IndexFunc(w.more, func(v Verb) bool { return v.Name == name }); i >= 0 {
		return &w.more[i]
	}
	return nil
}
