// Package serve answers HTTP requests with workflows: a request begins a run, which is recorded before it is answered, and others
// look at it, follow its events, answer its questions and cancel it. Runs that a crash has cut off go on with the next start.
//
//	folder := runs.Open("/var/lib/triage", runs.Options{})
//	s, err := serve.Handler(serve.Options{Runs: folder}, serve.Of(triage.Info, triage.New))
//	mux.Handle("/v1/", s)
//
// The requests are listed in docs/guides/serve.md. The package needs nothing besides the standard library and the runtime.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/serving"
)

// Options say how workflows are served. Runs is required; a limit that is 0 is the default.
type Options struct {
	// Runs is where runs are recorded. No other Server may have the same Folder.
	Runs *runs.Folder
	// Auth says whose request it is; an error refuses it with 401. It must be safe for concurrent use. Nil lets everybody do
	// everything: then somebody else has to keep requests out.
	Auth func(*http.Request) (Principal, error)
	// Log is told when runs begin and end, and of faults; nil: nobody is.
	Log *slog.Logger
	// With is given to New of each workflow.
	With []runtime.Option
	// Leave does not go on with runs that the last process has left.
	Leave bool
	// Replica is the name of this server among Replicas, which have a folder of runs each: names of lower-case letters and digits, and
	// addresses such as http://triage-0.triage:8080. Ids of runs begin with the name, and a request for a run, or with a key, of another
	// replica is sent there with 307. Replicas of one store or shared folder need no names.
	Replica  string
	Replicas map[string]string
	// Origins are the pages of other sites whose requests browsers let through, such as https://app.example.com; none: none are.
	Origins []string
	// Examples are shown in the OpenAPI document, by the names of workflows: at most ten each, those alone that fit the types. Programs
	// that flowgen builds have those of their test cases without it.
	Examples map[string][]Example
	// ExposeCalls lets requests see inputs and outputs of calls.
	ExposeCalls bool

	MaxBody    int64         // of a request, in bytes; 1 MiB
	MaxAnswer  int64         // of a request with an answer, in bytes; 64 KiB
	MaxRuns    int           // that go on at the same time; 64
	MaxQueue   int           // that wait for their turn; 256
	MaxTenant  int           // that go on or wait for their turn, of one tenant; as all together
	MaxWait    time.Duration // for the end of a run, of one request; 60 s
	MaxStreams int           // of events; 1,000
	MaxReader  int           // of events, of one principal; as all together
	MaxRate    int           // requests of one principal in a second; 0: no bound
	Beat       time.Duration // between comments in a stream without events; 15 s
	Patience   time.Duration // with a reader of events that takes nothing; 10 s
	Full       time.Duration // of a full queue, before Admin says that the server is not ready; 10 s
}

// An Example is an input of a workflow, with a name, and what it makes of it, as JSON.
type Example = serving.Example

func (o *Options) complete() error {
	if o.Runs == nil {
		return errors.New("serve: Options.Runs is missing: runs must be recorded")
	}
	if err := o.checkReplicas(); err != nil {
		return err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.MaxBody = cmp.Or(o.MaxBody, 1<<20)
	o.MaxAnswer = cmp.Or(o.MaxAnswer, 64<<10)
	o.MaxRuns = cmp.Or(o.MaxRuns, 64)
	o.MaxQueue = cmp.Or(o.MaxQueue, 256)
	o.MaxTenant = cmp.Or(o.MaxTenant, o.MaxRuns+o.MaxQueue)
	o.MaxWait = cmp.Or(o.MaxWait, time.Minute)
	o.MaxStreams = cmp.Or(o.MaxStreams, 1000)
	o.MaxReader = cmp.Or(o.MaxReader, o.MaxStreams)
	o.Beat = cmp.Or(o.Beat, 15*time.Second)
	o.Full = cmp.Or(o.Full, 10*time.Second)
	o.Patience = cmp.Or(o.Patience, 10*time.Second)
	return nil
}

// Server is the http.Handler of workflows. Shutdown ends it.
type Server struct {
	o         Options
	mux       *http.ServeMux
	workflows map[string]*Workflow
	names     []string // of workflows
	document  []byte   // OpenAPI

	ctx   context.Context // of all runs
	stop  context.CancelCauseFunc
	slots chan struct{} // taken by runs that go on
	all   sync.WaitGroup

	mu       sync.Mutex // guards the following
	active   map[string]*active
	tenants  map[string]int         // how many active runs they have
	waiting  map[string]string      // runs that wait for answers, with their workflows
	timers   map[string]*time.Timer // at which their questions are over
	stopped  map[string]string      // runs that do not go on, and why
	own      map[string]bool        // runs of this process, until those of the last one are known
	full     time.Time              // since when the queue is; zero: it is not
	leaving  bool                   // Drain was called
	draining bool

	found   chan struct{} // closed when the runs of the last process are known
	streams hub
	rates   rates
	metrics metrics
	pulse   atomic.Int64 // when the watchdog was last awake, in nanoseconds
	queued  atomic.Int64
}

// Handler serves workflows below /v1 until Shutdown. Secrets and capabilities that a workflow needs and that are missing are
// errors. It goes on with the runs that the last process has left, while it answers requests.
func Handler(o Options, ws ...*Workflow) (*Server, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if err := o.Runs.Make(); err != nil {
		return nil, fmt.Errorf("serve: runs cannot be recorded: %w", err)
	}
	s := &Server{o: o, mux: http.NewServeMux(), workflows: map[string]*Workflow{}, slots: make(chan struct{}, o.MaxRuns),
		active: map[string]*active{}, tenants: map[string]int{}, waiting: map[string]string{}, timers: map[string]*time.Timer{},
		stopped: map[string]string{}, own: map[string]bool{}, found: make(chan struct{})}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	s.streams.init(s)
	s.rates.init(o.MaxRate)
	s.metrics.init()
	with := append([]runtime.Option{runtime.WithEngines(o.Runs.Record), runtime.WithPast(o.Runs), runtime.WithObserver(&s.streams), runtime.WithUsage(&s.metrics)}, o.With...)
	if live := o.Runs.Live(); live != nil {
		with = append(with, runtime.WithObserver(live))
	}
	for _, w := range ws {
		if s.workflows[w.Name()] != nil {
			return nil, fmt.Errorf("serve: two workflows are named %s", w.Name())
		}
		started, err := w.start(with...)
		if err != nil {
			return nil, fmt.Errorf("serve: workflow %s: %w", w.Name(), err)
		}
		s.workflows[w.Name()], s.names = started, append(s.names, w.Name())
	}
	if len(ws) == 0 {
		return nil, errors.New("serve: no workflow was given")
	}
	s.document = document(s.workflows, s.names, &o)
	s.routes()
	o.Runs.Watch(s.streams.wrote)
	s.all.Go(s.recover)
	s.watch()
	return s, nil
}

func (s *Server) routes() {
	for pattern, h := range map[string]handler{
		"GET /v1/openapi.json":                 s.openAPI,
		"GET /v1/workflows":                    s.listWorkflows,
		"GET /v1/workflows/{name}":             s.oneWorkflow,
		"POST /v1/workflows/{name}/runs":       s.begin,
		"GET /v1/runs":                         s.list,
		"GET /v1/runs/{id}":                    s.one,
		"DELETE /v1/runs/{id}":                 s.remove,
		"GET /v1/runs/{id}/output":             s.output,
		"GET /v1/runs/{id}/events":             s.events,
		"GET /v1/runs/{id}/calls":              s.calls,
		"GET /v1/runs/{id}/calls/{key...}":     s.calls,
		"POST /v1/runs/{id}/cancel":            s.cancel,
		"POST /v1/runs/{id}/resume":            s.resume,
		"POST /v1/runs/{id}/rerun":             s.rerun,
		"GET /v1/questions":                    s.allQuestions,
		"GET /v1/runs/{id}/questions/{key...}": s.question,
		"PUT /v1/runs/{id}/questions/{key...}": s.answer,
	} {
		s.mux.HandleFunc(pattern, s.asked(h))
	}
	s.mux.HandleFunc("/", s.asked(s.unknown))
}

// Names are the names of the workflows, as in the arguments of Handler.
func (s *Server) Names() []string { return s.names }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.cross(w, r) {
		s.mux.ServeHTTP(w, r)
	}
}

// A handler answers a request of somebody. Its error is what is answered, when nothing has been.
type handler func(w http.ResponseWriter, r *http.Request, p *Principal) error

// Headers of all answers. What is added to one makes a new slice, as these are full.
var (
	nosniff = []string{"nosniff"}
	noStore = []string{"no-store"}
)

// asked is what all requests have in common.
func (s *Server) asked(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		c := &counted{ResponseWriter: w}
		defer func() {
			if v := recover(); v != nil {
				if v == http.ErrAbortHandler {
					panic(v)
				}
				traced(s.o.Log, traceOf(r)).ErrorContext(r.Context(), "panic", "route", r.Pattern, "value", fmt.Sprint(v))
				if c.status == 0 {
					s.refuse(c, r, fault(http.StatusInternalServerError, "UNKNOWN", "the request failed"))
				}
			}
			s.metrics.request(r.Pattern, cmp.Or(c.status, http.StatusOK), time.Since(begun))
		}()
		header := c.Header()
		header["X-Content-Type-Options"], header["Cache-Control"] = nosniff, noStore
		p, err := s.principal(r)
		if err == nil {
			err = s.admitted(p)
		}
		if err == nil {
			err = h(c, r, p)
		}
		if err != nil && c.status == 0 {
			s.refuse(c, r, err)
		}
	}
}

// counted remembers what was answered.
type counted struct {
	http.ResponseWriter
	status int
}

func (c *counted) WriteHeader(status int) {
	c.status = cmp.Or(c.status, status)
	c.ResponseWriter.WriteHeader(status)
}

func (c *counted) Write(b []byte) (int, error) {
	c.status = cmp.Or(c.status, http.StatusOK)
	return c.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }
