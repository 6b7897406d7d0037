package studio

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/cli"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/studio/picture"
)

type handler = func(http.ResponseWriter, *http.Request) (any, error)

// either answers with the folder's run, or with one of the server's. Nil is for what can be said and done in a folder only.
func (s *Server) either(here, there handler) handler {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		if !strings.HasPrefix(r.PathValue("id"), elsewhere) {
			return here(w, r)
		}
		if s.opts.Server == nil {
			return nil, problemf(http.StatusNotFound, "the run is on a server", "start studio with --server URL")
		}
		if there == nil {
			return nil, problemf(http.StatusNotFound, "the server does not provide this", "it is available where the runs are recorded")
		}
		return there(w, r)
	}
}

func remoteID(r *http.Request) string { return strings.TrimPrefix(r.PathValue("id"), elsewhere) }

// serverList answers with runs of the server. It knows no other filters, and counts nothing.
func (s *Server) serverList(r *http.Request) (any, error) {
	m := s.opts.Server
	if m == nil {
		return nil, problemf(http.StatusNotFound, "no server is configured", "start studio with --server URL")
	}
	query := url.Values{"limit": {strconv.Itoa(pageLength)}}
	for _, name := range []string{"workflow", "state", "before"} {
		if v := r.URL.Query().Get(name); v != "" {
			query.Set(name, v)
		}
	}
	var got struct {
		Runs []remoteRun `json:"runs"`
		Next string      `json:"next"`
	}
	if err := m.ask(r.Context(), http.MethodGet, "/v1/runs?"+query.Encode(), nil, &got); err != nil {
		return nil, err
	}
	var flows struct {
		Workflows []struct {
			Name string `json:"name"`
		} `json:"workflows"`
	}
	if err := m.ask(r.Context(), http.MethodGet, "/v1/workflows", nil, &flows); err != nil {
		return nil, err
	}
	out := &runList{Runs: []aRun{}, Counts: map[runState]int{}, Total: len(got.Runs), Next: got.Next, Names: []string{}, Folder: m.URL, Server: true}
	for _, one := range flows.Workflows {
		out.Names = append(out.Names, one.Name)
	}
	for i := range got.Runs {
		out.Runs = append(out.Runs, got.Runs[i].shown())
	}
	return out, nil
}

// shown is a line of the list.
func (v *remoteRun) shown() aRun {
	a := aRun{ID: elsewhere + v.ID, Workflow: v.Workflow, Begin: v.Begin, State: v.State, Failure: v.Reason}
	a.Took = time.Duration(v.DurationS * float64(time.Second))
	if v.Error != nil {
		a.Failure, a.Code, a.At = v.Error.Message, v.Error.Code, v.Error.Key
	}
	if len(v.Questions) > 0 {
		a.At = v.Questions[0].Key
	}
	if v.Usage != nil {
		a.Calls, a.Tokens, a.CostUSD = v.Usage.Calls, v.Usage.Tokens, v.Usage.CostUSD
	}
	return a
}

// lacking is what a server does not say about a run.
const lacking = "the input of the run, tokens and cost of single calls, effects, prompts of answered questions, logs and stack traces"

// serverHead is what is said above the calls of a run of the server.
func (s *Server) serverHead(ctx context.Context, id string, calls *remoteCalls) (*runHead, error) {
	var v remoteRun
	if err := s.opts.Server.ask(ctx, http.MethodGet, pathOf(id), nil, &v); err != nil {
		return nil, err
	}
	head := &runHead{aRun: v.shown(), Output: v.Output, Waits: []question{}, Nodes: map[string]map[string]int{}, Commands: map[string]string{}, Server: s.opts.Server.URL, Lacks: lacking}
	for i := range v.Questions {
		head.Waits = append(head.Waits, v.Questions[i].shown())
	}
	var flow struct {
		Hash string `json:"hash"`
		Plan struct {
			AtMost json.RawMessage `json:"at_most"`
			Parts  []planPart      `json:"parts"`
		} `json:"plan"`
	}
	if s.opts.Server.ask(ctx, http.MethodGet, "/v1/workflows/"+url.PathEscape(v.Workflow), nil, &flow) == nil {
		head.Graph, head.AtMost, head.Agents = flow.Hash, flow.Plan.AtMost, agentsIn(flow.Plan.Parts, "")
	}
	if calls != nil {
		calls.sum(head)
	}
	return head, nil
}

func (s *Server) serverRun(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.serverHead(r.Context(), remoteID(r), nil)
}

// serverGraph is the graph of the file of this folder that the server was built from: it has none itself.
func (s *Server) serverGraph(_ http.ResponseWriter, r *http.Request) (any, error) {
	head, err := s.serverHead(r.Context(), remoteID(r), nil)
	if err != nil {
		return nil, err
	}
	if p := s.graphLike(head.Workflow, head.Graph, folded(r.URL.Query())); p != nil {
		return p, nil
	}
	return nil, problemf(http.StatusNotFound, "no graph", "the server does not give one, and no file of this folder is the version of "+head.Workflow+" that it runs")
}

// graphLike is the graph of a file of this folder if it is a certain version of a workflow; nil: it is not.
func (s *Server) graphLike(workflow, hash string, folded []string) *picture.Picture {
	file, _, _ := s.fileOf(workflow)
	if file == "" {
		return nil
	}
	if w, err := s.opts.Project.Workflow(file); err == nil && w.Info != nil && w.Hash == hash {
		return picture.Folded(cli.ShapeOf(w.Info), folded)
	}
	return nil
}

// serverCall is a call by its key; nth says which of the attempts that are over, from 0.
func (s *Server) serverCall(_ http.ResponseWriter, r *http.Request) (any, error) {
	q := r.URL.Query()
	n, err := number(r.PathValue("n"), 0)
	nth, err2 := number(q.Get("nth"), 0)
	if err = cmp.Or(err, err2); err != nil {
		return nil, err
	}
	out := &aCall{N: int(n), Key: q.Get("key"), Node: journal.NodePath(q.Get("key")), Attempt: int(nth) + 1, Attempts: []int{}}
	var got struct {
		Calls []remoteEnvelope `json:"calls"`
	}
	err = s.opts.Server.ask(r.Context(), http.MethodGet, pathOf(remoteID(r), "calls", out.Key), nil, &got)
	var p *problem
	switch {
	case errors.As(err, &p) && p.Status == http.StatusForbidden:
		out.Lacks = "The server exposes no inputs and outputs of calls: it was started without --expose calls."
		return out, nil
	case errors.As(err, &p) && p.Status == http.StatusNotFound, err == nil && nth >= int64(len(got.Calls)):
		out.Lacks = "The server provides input and output of a call when it has finished."
		return out, nil
	case err != nil:
		return nil, err
	}
	e := got.Calls[nth]
	out.CallID, out.Tool, out.Cached, out.Truncated, out.Error, out.Attachments = e.CallID, e.Name+"@"+e.Version, e.Cached, e.Truncated, e.Error, e.Attachments
	out.Input, out.Output = jsonOf(e.Input), jsonOf(e.Output)
	return out, nil
}

// maxShown bounds a value of a call of the server.
const maxShown = 1 << 20

func jsonOf(v json.RawMessage) *aValue {
	if v == nil || string(v) == "null" {
		return nil
	}
	text := []byte(v)
	var b bytes.Buffer
	if json.Indent(&b, v, "", "  ") == nil {
		text = b.Bytes()
	}
	return &aValue{Text: strings.ToValidUTF8(string(text[:min(len(text), maxShown)]), ""), Size: int64(len(v)), Cut: len(text) > maxShown}
}

func (s *Server) serverAnswer(_ http.ResponseWriter, r *http.Request) (any, error) {
	var body struct {
		Key    string `json:"key"`
		Answer string `json:"answer"`
	}
	if err := decode(r, &body); err != nil {
		return nil, err
	}
	var v remoteRun
	if err := s.opts.Server.ask(r.Context(), http.MethodPut, pathOf(remoteID(r), "questions", body.Key), map[string]string{"answer": body.Answer}, &v); err != nil {
		return nil, err
	}
	return map[string]string{"run": elsewhere + v.ID}, nil
}

func (s *Server) serverCancel(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.serverAct(r, "cancel", struct{}{}, &struct{}{})
}

func (s *Server) serverResume(_ http.ResponseWriter, r *http.Request) (any, error) {
	var body struct {
		Again bool `json:"again"`
	}
	return s.serverAct(r, "resume", &body, &body)
}

func (s *Server) serverAct(r *http.Request, verb string, send, body any) (any, error) {
	if err := decode(r, body); err != nil {
		return nil, err
	}
	var v remoteRun
	if err := s.opts.Server.ask(r.Context(), http.MethodPost, pathOf(remoteID(r), verb), send, &v); err != nil {
		return nil, err
	}
	return map[string]string{"run": elsewhere + v.ID}, nil
}

// serverQuestions are the open questions of the server's runs.
func (s *Server) serverQuestions(ctx context.Context) ([]question, error) {
	var got struct {
		Questions []remoteQuestion `json:"questions"`
	}
	if err := s.opts.Server.ask(ctx, http.MethodGet, "/v1/questions", nil, &got); err != nil {
		return nil, err
	}
	list := []question{}
	for i := range got.Questions {
		q := got.Questions[i].shown()
		q.Run, q.Workflow = elsewhere+got.Questions[i].Run, workflowOf(got.Questions[i].Run)
		list = append(list, q)
	}
	return list, nil
}

// workflowOf is the name in an id that flowgen has made.
func workflowOf(id string) string {
	if parts := strings.Split(id, "-"); len(parts) > 2 {
		return strings.Join(parts[:len(parts)-2], "-")
	}
	return id
}

// serverMark returns another number when runs of the server have begun, gone on or ended. It asks until the context ends.
func (s *Server) serverMark(ctx context.Context) func() uint64 {
	var mark atomic.Uint64
	go func() {
		for ctx.Err() == nil {
			var got struct {
				Runs []json.RawMessage `json:"runs"`
			}
			if err := s.opts.Server.ask(ctx, http.MethodGet, "/v1/runs?limit=50", nil, &got); err != nil {
				mark.Store(maphash.String(markSeed, err.Error()))
			} else {
				mark.Store(maphash.String(markSeed, fmt.Sprintf("%s", got.Runs)))
			}
			select {
			case <-ctx.Done():
			case <-time.After(askAgain):
			}
		}
	}()
	return mark.Load
}

// remoteCall is an attempt, made of the events of its beginning and end.
type remoteCall struct {
	key, tool, code string
	attempt         int
	start, end      time.Duration
	state           journal.State
	cached, again   bool
}

// remoteCalls are the attempts of a run, in the order of their beginnings.
type remoteCalls struct {
	begin time.Time
	calls []remoteCall
	last  map[string]int // the newest one of a key
}

// take takes an event in, and returns the attempts that have changed.
func (c *remoteCalls) take(e *remoteEvent) []int {
	at := max(e.Time.Sub(c.begin), 0)
	i, known := c.last[e.Key]
	switch e.Kind {
	case "run_start":
		c.begin = e.Time
	case "node_start", "question":
		changed := []int{len(c.calls)}
		if known && c.calls[i].attempt == e.Attempt { // in the place of that one
			c.calls[i].again = true
			changed = append(changed, i)
		}
		state := journal.CallOpen
		if e.Kind == "question" {
			state = journal.CallWaiting
		}
		c.last[e.Key] = len(c.calls)
		c.calls = append(c.calls, remoteCall{key: e.Key, tool: e.Tool, attempt: max(e.Attempt, 1), start: at, end: at, state: state})
		return changed
	case "node_end":
		if !known {
			i = len(c.calls)
			c.last[e.Key] = i
			c.calls = append(c.calls, remoteCall{key: e.Key, tool: e.Tool, attempt: max(e.Attempt, 1), start: at})
		}
		one := &c.calls[i]
		one.end, one.cached, one.state = max(at, one.start), e.Cached, journal.CallDone
		one.tool = cmp.Or(one.tool, e.Tool)
		if e.Error != nil {
			one.code, one.state = e.Error.Code, journal.CallFailed
		}
		return []int{i}
	}
	return nil
}

func (c *remoteCalls) columns(at []int) *columns {
	out := newColumns(len(c.calls))
	for _, i := range at {
		one := &c.calls[i]
		flags := flagsOf(one.cached, false, strings.Contains(one.tool, ":"), one.again, one.tool == engine.HumanTool)
		out.add(i, one.key, one.attempt, one.tool, one.state, one.start, one.end, one.code, flags)
		out.Tokens, out.Cost = append(out.Tokens, 0), append(out.Cost, 0)
	}
	return out
}

// sum completes what is said above the calls.
func (c *remoteCalls) sum(head *runHead) {
	for i := range c.calls {
		one := &c.calls[i]
		if one.again {
			continue
		}
		path := journal.NodePath(one.key)
		if head.Nodes[path] == nil {
			head.Nodes[path] = map[string]int{}
		}
		head.Nodes[path][seen(one.state, head.State == stateRunning)]++
		head.Took = max(head.Took, one.end)
		if one.state == journal.CallFailed {
			head.Failed++
		}
		if one.cached {
			head.Cached++
		}
		if one.attempt > 1 {
			head.Retries++
		}
		if one.state == journal.CallWaiting {
			head.Waiting++
		}
		if one.state == journal.CallOpen && head.State == stateRunning {
			head.At = one.key
		}
	}
}

// server sends the calls of a run of the server as its events come, and what is said above them.
func (st *stream) server(ctx context.Context, id string) func() {
	events := make(chan remoteEvent, 256)
	go st.s.opts.Server.follow(ctx, id, events)
	known := &remoteCalls{last: map[string]int{}}
	live, fresh := map[string]runs.Live{}, map[string]bool{}
	var trouble string
	var last *runHead // nil: none was sent
	var next time.Time
	due := true
	return func() {
		changed := map[int]bool{}
		var at []int
		for more := true; more && len(at) < maxColumns; {
			select {
			case e := <-events:
				switch {
				case e.failure != nil:
					p := problemOf(e.failure)
					if last == nil {
						st.send("gone", p)
						continue
					}
					due, trouble = true, troubleOf(p)
				case e.Kind == "resync":
					*known, at = remoteCalls{last: map[string]int{}}, nil
					st.send("again", nil)
				default:
					due, trouble = due || e.Line > 0, ""
					fresh[e.Key] = liveOf(live, &e) || fresh[e.Key]
					for _, i := range known.take(&e) {
						if !changed[i] {
							changed[i], at = true, append(at, i)
						}
					}
				}
			default:
				more = false
			}
		}
		if len(at) > 0 {
			st.send("calls", known.columns(at))
		}
		var list []runs.Live
		for key := range fresh {
			if fresh[key] {
				list = append(list, live[key])
			}
		}
		if clear(fresh); len(list) > 0 {
			st.send("live", list)
		}
		if due && time.Now().After(next) {
			head, err := st.s.serverHead(ctx, id, known)
			if next = time.Now().Add(time.Second); err != nil {
				if p := problemOf(err); last == nil {
					st.send("gone", p)
				} else if trouble = troubleOf(p); last.Damage != trouble {
					last.Damage = trouble
					st.send("run", last)
				}
				return
			}
			due, last, head.Damage = false, head, trouble
			st.send("run", head)
		}
	}
}

// maxSaid bounds the end of what a call has said.
const maxSaid = 16 << 10

// liveOf adds an event that no journal has, and reports whether it is one.
func liveOf(live map[string]runs.Live, e *remoteEvent) bool {
	switch e.Kind {
	case "output":
		text := live[e.Key].Text + e.Text
		live[e.Key] = runs.Live{Key: e.Key, Text: strings.ToValidUTF8(text[max(0, len(text)-maxSaid):], "")}
	case "progress":
		live[e.Key] = runs.Live{Key: e.Key, Done: e.Done, Total: e.Total}
	case "retry":
		live[e.Key] = runs.Live{Key: e.Key, Until: e.Time.Add(time.Duration(e.WaitS * float64(time.Second)))}
	default:
		delete(live, e.Key)
		return false
	}
	return true
}
