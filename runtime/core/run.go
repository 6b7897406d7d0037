package core

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Runtime holds what all runs of one workflow share. It is safe for concurrent use.
type Runtime struct {
	info      *Info
	engine    Engine
	engines   func(*Info) (Engine, error) // one for each run
	observers []Observer
	tracers   []Tracer // of observers
	sinks     []UsageSink
	lookup    SecretLookup
	policies  []*Policy // the workflow's first
	tenant    string
	carried   bool // runs need an engine even when nobody gave one
	cache     Cache
	cacheOnce sync.Once
	blobs     Blobs
	states    func(state []byte, err error)   // nil: nobody wants to know
	asker     Asker                           // nil: nobody answers
	standIn   StandIn                         // nil: tools run
	fakes     *fakes                          // nil: there are none
	past      Past                            // nil: there were no earlier runs
	values    [][2]any                        // of the contexts of runs, key and value
	provided  map[string]any                  // providers of models, by name
	slots     any                             // nil: the workflow has none
	slotless  bool                            // it has some, and was given none
	redactor  atomic.Pointer[redact.Redactor] // nil while no secret is known
	learning  sync.Mutex                      // guards known
	known     []string                        // secrets, the latest last
}

// Option configures New.
type Option func(*Runtime)

// WithEngine attaches an engine. Without one a workflow runs as plain Go and records nothing.
// Most engines serve one run; their documentation says which.
func WithEngine(e Engine) Option { return func(rt *Runtime) { rt.engine = e } }

// WithEngines makes an engine for each run: a journal, for a service that runs one workflow many times. An error makes
// every call of the run fail. f must be safe for concurrent use.
func WithEngines(f func(*Info) (Engine, error)) Option { return func(rt *Runtime) { rt.engines = f } }

// WithValue gives the contexts of all runs, and so of their tools, a value under a key: for options of packages of tools.
func WithValue(key, v any) Option {
	return func(rt *Runtime) { rt.values = append(rt.values, [2]any{key, v}) }
}

// EnvironmentProxy is the key of WithValue for true: tools and models make their requests through the proxy that HTTP_PROXY,
// HTTPS_PROXY and NO_PROXY name.
type EnvironmentProxy struct{}

// WithObserver adds an observer of progress events.
func WithObserver(o Observer) Option {
	return func(rt *Runtime) {
		if o != nil {
			rt.observers = append(rt.observers, o)
			if t, ok := o.(Tracer); ok {
				rt.tracers = append(rt.tracers, t)
			}
		}
	}
}

// WithTenant says for whom the runs are: whose secrets, cached results and blobs they use. TenantContext says it for one.
func WithTenant(id string) Option { return func(rt *Runtime) { rt.tenant = id } }

type tenantKey struct{}

// TenantContext returns a context whose runs are for the tenant.
func TenantContext(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, tenantKey{}, id)
}

// New makes a Runtime for a compiled workflow. It reports an inconsistent description, and secrets that info names and
// that cannot be found; a replay needs none.
func New(info *Info, opts ...Option) (*Runtime, error) {
	if info == nil {
		return nil, errors.New("runtime: no workflow description")
	}
	for i, n := range info.Nodes {
		if n == nil || n.Index != i {
			return nil, fmt.Errorf("workflow %s: entry %d of the node table is wrong, generate the code again", info.Name, i)
		}
	}
	if err := info.Facts.check(info.Source); err != nil {
		return nil, fmt.Errorf("workflow %s: %w", info.Name, err)
	}
	rt := &Runtime{info: info, lookup: environment}
	if info.Policy != nil {
		rt.policies = []*Policy{info.Policy}
	}
	if info.Proxied {
		WithValue(EnvironmentProxy{}, true)(rt)
	}
	for _, o := range opts {
		o(rt)
	}
	if rt.slotless {
		return nil, fmt.Errorf("workflow %s: New received nil instead of Slots", info.Name)
	}
	if err := rt.checkPolicies(); err != nil {
		return nil, err
	}
	rt.carried = rt.carried || len(rt.observers) > 0 || len(rt.sinks) > 0 || rt.tenant != "" || rt.blobs != nil || rt.standIn != nil || rt.fakes != nil // events carry keys, so scopes are needed
	if err := rt.findSecrets(); err != nil {
		return nil, err
	}
	if err := rt.findNeeds(); err != nil {
		return nil, err
	}
	if err := rt.findProviders(); err != nil {
		return nil, err
	}
	if err := rt.findTiers(); err != nil {
		return nil, err
	}
	return rt, nil
}

// checkPolicies looks at all policies before one is needed.
func (rt *Runtime) checkPolicies() error {
	all := slices.Clone(rt.policies)
	for _, n := range rt.info.Nodes {
		if n.Policy != nil {
			all = append(all, n.Policy)
		}
	}
	for _, p := range all {
		if err := p.check(); err != nil {
			return fmt.Errorf("workflow %s: %w", rt.info.Name, err)
		}
	}
	rt.carried = len(all) > 0
	return nil
}

// Info returns the workflow's description.
func (rt *Runtime) Info() *Info { return rt.info }

// state is what all branches of one run share.
type state struct {
	root    *Run
	rt      *Runtime
	ctx     context.Context // the run's own context: cancelled only from outside
	blobs   Blobs           // nil: large outputs are kept nowhere
	seed    uint64
	begin   time.Time
	clock   sync.Once                 // sets begin where no engine has
	naming  sync.Once                 // sets id where nothing else has
	fatal   atomic.Pointer[NodeError] // first run error that must not get lost behind a catch
	broken  error                     // the engine could not start
	id      string                    // of the run; "": nobody has asked for it
	waits   *waits                    // nil: the run cannot stop for people
	tenant  string
	logged  atomic.Int64 // bytes that are kept of what programs have printed
	input   any          // points to the workflow's, when an engine may ask for it
	output  any          // likewise, when the run has succeeded
	rates   sync.Map     // tool -> *rate, for engines with a time of their own
	warned  sync.Map     // tools that the run has been warned about
	watches watches      // of functions on goroutines of their own
}

// Run is one branch of one run: where it stands and what carries out its calls. It is read-only; a branch, map item or
// iteration gets a Run of its own as soon as an engine is attached. Generated code only passes it on.
type Run struct {
	ctx   context.Context
	eng   Engine // nil: plain Go
	scope *Scope // nil without an engine
	state *state
	guard *guard // nil without a policy

	receiver *receiver // nil: nobody wants receipts
	bound    *bound    // nil: nothing bounds several calls
	undo     *undoing  // nil: nothing in the workflow can be undone
	skip     int       // which iterations Iterate begins without looking: looks-1 in plain Go, 0 with a scope
}

// Start begins a run of in under ctx. End must be called with what comes of it. Only engines look at in: without one it
// is not kept.
func Start[In any](ctx context.Context, rt *Runtime, in In) *Run {
	if rt.engine == nil && rt.engines == nil {
		return rt.start(ctx, nil)
	}
	kept := in // the copy escapes, in does not
	return rt.start(ctx, &kept)
}

// End finishes the run with what came of it: it lets the engine finish and emits the last event. Generated code defers it.
func End[Out any](r *Run, out *Out, err *error) {
	if _, ok := r.eng.(Finisher); ok && *err == nil {
		kept := *out
		r.state.output = &kept
	}
	r.End(err)
}

// Start begins a run without an input under ctx. Its End must be called.
func (rt *Runtime) Start(ctx context.Context) *Run { return rt.start(ctx, nil) }

func (rt *Runtime) start(ctx context.Context, in any) *Run {
	g := givenIn(ctx)
	if g.named || g.engine != nil {
		ctx = context.WithValue(ctx, runKey{}, given{}) // for this run alone
	}
	ctx = rt.valued(ctx)
	root := &struct { // one allocation
		run   Run
		state state
	}{state: state{rt: rt, ctx: ctx, tenant: rt.tenant, input: in}}
	r, s := &root.run, &root.state
	if t, ok := ctx.Value(tenantKey{}).(string); ok {
		s.tenant = t
	}
	*r = Run{ctx: ctx, eng: rt.engine, state: s}
	s.root = r
	engines := rt.engines
	if g.engine != nil {
		engines = g.engine
	}
	if engines != nil {
		if r.eng, s.broken = engines(rt.info); s.broken != nil {
			r.eng = Goroutines{}
		}
	}
	if err := r.identify(g); err != nil && s.broken == nil {
		s.broken = err
		r.eng = Goroutines{}
	}
	if r.eng == nil && (rt.carried || s.tenant != "") {
		r.eng = Goroutines{}
	}
	if r.eng == nil {
		r.skip = looks - 1
		return r
	}
	if s.blobs = rt.blobs; s.blobs == nil {
		s.blobs, _ = r.eng.(Blobs)
	}
	r.scope = &Scope{item: -1, dense: make([]atomic.Int32, len(rt.info.Nodes))}
	if p, ok := r.eng.(Seeder); ok {
		s.seed = p.Seed()
	} else {
		s.seed = rand.Uint64()
	}
	if p, ok := r.eng.(Starter); ok {
		if s.broken = p.Start(r); s.broken != nil {
			r.eng = Goroutines{} // carries the branches; every call fails
		}
	}
	if x, ok := r.eng.(Identifier); ok {
		s.id = x.ID()
	}
	if rt.asker == nil {
		r.patient()
	}
	for _, p := range rt.policies {
		r.enter(p, r.scope.path())
	}
	s.begin = r.Now()
	r.emit(Event{Kind: RunStart, Time: s.begin})
	return r
}

// valued is ctx with the values and slots of all runs.
func (rt *Runtime) valued(ctx context.Context) context.Context {
	for _, v := range rt.values {
		ctx = context.WithValue(ctx, v[0], v[1])
	}
	if rt.slots != nil {
		ctx = context.WithValue(ctx, slotsKey{}, rt.slots)
	}
	return ctx
}

// End finishes a run that has no output.
func (r *Run) End(err *error) {
	if f := r.state.fatal.Load(); f != nil && !isFatal(*err) {
		*err = f
	}
	if p, ok := r.eng.(Finisher); ok {
		if e := p.Finish(r, *err); e != nil && *err == nil {
			*err = e
		}
	}
	if r.state.broken != nil {
		*err = r.state.broken // whatever the body has made of calls that could not be made
	}
	*err = r.waiting(r.redacted(*err))
	if *err != nil {
		r.signs(*err)
	}
	if r.observed() {
		now := r.Now()
		r.emit(Event{Kind: RunEnd, Time: now, Duration: now.Sub(r.state.begin), Err: *err})
	}
}

// signs writes the run's id into the error that it ends with.
func (r *Run) signs(err error) {
	if ne := (*NodeError)(nil); errors.As(err, &ne) {
		ne.RunID = r.ID()
	}
}

// EncodeInput returns the workflow's input as canonical JSON without secrets, null when there is none. For engines.
func (r *Run) EncodeInput() ([]byte, error) { return r.encode(r.state.input) }

// EncodeOutput returns the output of a run that has succeeded as canonical JSON without secrets, null when there is none.
func (r *Run) EncodeOutput() ([]byte, error) { return r.encode(r.state.output) }

func (r *Run) encode(v any) ([]byte, error) {
	b, err := value.AppendCanonical(nil, v)
	if red := r.state.rt.redactor.Load(); red != nil && err == nil && red.Found(string(b)) {
		return value.Canonicalize(nil, red.JSON(b))
	}
	return b, err
}

// Redact returns err without secrets. For engines.
func (r *Run) Redact(err error) error { return r.redacted(err) }

// redacted is err without secrets.
func (r *Run) redacted(err error) error {
	if err == nil {
		return nil
	}
	return cleanError(r.state.rt.redactor.Load(), err)
}

// isFatal reports whether err is a run error other than a cancellation.
func isFatal(err error) bool {
	if err == nil {
		return false
	}
	var re *RunError
	return errors.As(err, &re) && re.Kind != Cancelled
}

// Info returns the description of the workflow that was started.
func (r *Run) Info() *Info { return r.state.rt.info }

// Context returns the scope's context, for engines; bodies have no use for it.
func (r *Run) Context() context.Context { return r.ctx }

// Scope returns where the branch stands, nil without an engine.
func (r *Run) Scope() *Scope { return r.scope }

// CallContext returns the context a call with the given effects runs under: writes and external calls are cancelled only
// with the entire run, never by a sibling.
func (r *Run) CallContext(e Effects) context.Context {
	if e >= Writes {
		return r.state.ctx
	}
	return r.ctx
}

// Cancelled returns the run error of a cancelled scope, nil while it is not.
func (r *Run) Cancelled() error {
	if r.ctx.Err() == nil {
		return nil
	}
	return r.cancelled(r.ctx)
}

// Branch returns a Run for a branch under ctx, which must derive from r's context. For engines.
func (r *Run) Branch(ctx context.Context) *Run {
	c := *r
	c.ctx = ctx
	return &c
}

// At opens the scope of iteration i of loop n. It returns r itself when no engine is attached.
// Iteration 0 begins a new visit of n.
func (r *Run) At(n *Node, i int) *Run {
	if r.eng == nil {
		return r
	}
	if i == 0 {
		return r.open(n, 0, r.scope.enter(n))
	}
	return r.open(n, i, r.scope.current(n))
}

// In opens the scope of sub-workflow n. It returns r itself when no engine is attached.
func (r *Run) In(n *Node) *Run {
	if r.eng == nil {
		return r
	}
	c := r.open(n, -1, r.scope.enter(n))
	if n.Policy != nil {
		c.enter(n.Policy, c.scope.path())
	}
	return c
}

// enter puts the run under one more policy, charged with what a journal holds of the keys that begin with prefix.
func (r *Run) enter(p *Policy, prefix string) {
	r.guard = newGuard(p, r.guard)
	if a, ok := r.eng.(Answerer); ok {
		a.Spent(prefix, r.guard.charge)
	}
	if p.MaxTime > 0 {
		r.guard.work = newWorktime(r, p.MaxTime, prefix)
	}
}

// open makes a Run and its scope in one allocation.
func (r *Run) open(n *Node, item int, visit int32) *Run {
	c := &struct {
		run   Run
		scope Scope
	}{run: *r}
	c.scope.parent, c.scope.node, c.scope.item, c.scope.visit = r.scope, n, item, visit
	c.run.scope = &c.scope
	return &c.run
}

// Iterate begins iteration i of loop n: it fails with POLICY_DENIED when n.Max iterations have run and with the
// cancelled run error when the scope is cancelled (with an engine: the run, see Engine), and otherwise opens the iteration's scope.
// Without an engine it looks for a cancellation at every 8th iteration: calls look by themselves, so only a body that calls
// nothing goes on for so long.
func (r *Run) Iterate(n *Node, i int) (_ *Run, err error) {
	if i&r.skip == 0 || i >= n.Max { // in this form Go inlines it, just about
		r, err = r.iterate(n, i)
	}
	return r, err
}

func (r *Run) iterate(n *Node, i int) (*Run, error) {
	if n.Max > 0 && i >= n.Max {
		return nil, r.exhausted(n)
	}
	if err := r.stopping(); err != nil {
		return nil, r.Fail(n, err)
	}
	return r.At(n, i), nil
}

// stopping is the check for cancellation between calls: of the scope in plain Go, of the entire run with an engine.
func (r *Run) stopping() error {
	ctx := r.ctx
	if r.eng != nil {
		ctx = r.state.ctx
	}
	if ctx.Err() != nil {
		return r.cancelled(ctx)
	}
	return nil
}

func (r *Run) exhausted(n *Node) error {
	times := "times"
	if n.Max == 1 {
		times = "time"
	}
	return r.Fail(n, value.Errorf(value.PolicyDenied, "%s ran %d %s, its bound, without finishing", n.ID, n.Max, times))
}

// Sleep waits for d, or returns the cancelled run error when the scope is cancelled first.
func (r *Run) Sleep(d time.Duration) error { return r.carrier().Sleep(r, d) }

// Now returns the run's time: the clock's, or the engine's.
func (r *Run) Now() time.Time { return r.carrier().Now(r) }

// Began returns the time at which the run began, in UTC: the value of `now`. It is the same wherever and whenever it is
// asked for, in a resumed run and in a replay too.
func (r *Run) Began() time.Time {
	if b, ok := r.eng.(Beginner); ok {
		return b.Begin().UTC().Round(0)
	}
	s := r.state
	s.clock.Do(func() {
		if s.begin.IsZero() {
			s.begin = r.Now()
		}
	})
	return s.begin.UTC().Round(0)
}

// Rand returns a random number. With an engine it follows from the run's seed, n's place and how many were drawn there.
func (r *Run) Rand(n *Node) uint64 {
	if r.scope == nil {
		return rand.Uint64()
	}
	return r.hash(r.scope.path()+n.ID, r.scope.draw(n))
}

// hash derives a number from the run's seed, a key and a counter.
func (r *Run) hash(key string, i int32) uint64 {
	f := fnv.New64a()
	var b [12]byte
	binary.LittleEndian.PutUint64(b[:8], r.state.seed)
	binary.LittleEndian.PutUint32(b[8:], uint32(i))
	f.Write(b[:])
	f.Write([]byte(key))
	x := f.Sum64() // FNV mixes its last bytes badly: finish as splitmix64 does
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// carrier is the engine that carries out what the run asks for.
func (r *Run) carrier() Engine {
	if r.eng == nil {
		return Goroutines{}
	}
	return r.eng
}
