package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowgen-dev/flowgen/runtime/serve"
)

// client is somebody who calls tools.
type client struct {
	m   *Server
	who serve.Principal
}

func (c *client) sees(workflow string) bool {
	return c.who.Workflows == nil || slices.Contains(c.who.Workflows, workflow)
}

// run is what package serve tells about a run.
type run struct {
	ID        string
	Workflow  string
	State     string
	Output    json.RawMessage
	Error     *failure
	Reason    string
	Questions []question
	Usage     *struct{ Calls int }
}

type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Key     string `json:"key,omitempty"`
}

type question struct {
	Key      string     `json:"key"`
	Question string     `json:"question"`
	Type     string     `json:"type"`
	Choices  []string   `json:"choices,omitempty"`
	Until    *time.Time `json:"until,omitempty"`
}

// result is what a call returns.
type result struct {
	Run       string          `json:"run"`
	State     string          `json:"state"`
	Output    json.RawMessage `json:"output,omitempty"`
	Error     *failure        `json:"error,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Questions []question      `json:"questions,omitempty"`
	Next      string          `json:"next,omitempty"`
}

// maxOutput is the size of an output, in bytes, beyond which a result has a link to it.
const maxOutput = 50 << 10

// problem is an error of package serve. It becomes the result of a call: the model can do something about it.
type problem struct {
	Code, Detail string
	Errors       []struct{ Pointer, Detail string }
	RetryS       float64 `json:"retry_after_s"`
}

func (p *problem) Error() string {
	text := p.Code + ": " + p.Detail
	for _, e := range p.Errors {
		if text += "\n"; e.Pointer != "" {
			text += e.Pointer + ": "
		}
		text += e.Detail
	}
	if p.RetryS > 0 {
		text += "\ntry again in " + strconv.FormatFloat(p.RetryS, 'f', -1, 64) + " s"
	}
	return text
}

// ask makes a request of package serve, and reads the answer.
func (c *client) ask(ctx context.Context, method, path string, header http.Header, body []byte, to any) error {
	status, text := c.m.serve.Do(ctx, c.who, method, path, header, body)
	if status >= 300 { // a run of another replica is none that this one can follow
		p := &problem{}
		if json.Unmarshal(text, p) != nil || p.Code == "" {
			p.Code, p.Detail = "UNKNOWN", "the request failed"
		}
		return p
	}
	return json.Unmarshal(text, to)
}

func refused(err error) *mcp.CallToolResult {
	r := &mcp.CallToolResult{}
	r.SetError(err)
	return r
}

// keyMeta is the field of _meta with an idempotency key: calls with the same key are one run.
const keyMeta = "flowgen.dev/idempotency-key"

// workflow adds the tool of a workflow.
func (c *client) workflow(s *mcp.Server, t *workflowTool) {
	s.AddTool(t.tool, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		back, err := c.returned(req)
		if err != nil {
			return refused(err), nil
		}
		if back != nil { // an answer to a question of a run that was begun
			return c.follow(ctx, req, back.Run, t.name)
		}
		r, err := c.begin(ctx, req, t)
		if err != nil {
			return refused(err), nil
		}
		return c.follow(ctx, req, r.ID, t.name)
	})
	if t.start != nil {
		s.AddTool(t.start, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			r, err := c.begin(ctx, req, t)
			if err != nil {
				return refused(err), nil
			}
			return c.told(r, "")
		})
	}
}

// begin begins a run with the arguments of a call.
func (c *client) begin(ctx context.Context, req *mcp.CallToolRequest, t *workflowTool) (*run, error) {
	header := http.Header{}
	if key, ok := req.Params.GetMeta()[keyMeta].(string); ok {
		header.Set("Idempotency-Key", key)
	}
	input := req.Params.Arguments
	if len(bytes.TrimSpace(input)) == 0 {
		input = []byte("{}")
	}
	r := &run{}
	return r, c.ask(ctx, http.MethodPost, "/v1/workflows/"+url.PathEscape(t.name)+"/runs", header, input, r)
}

func runPath(id string) string { return "/v1/runs/" + url.PathEscape(id) }

func questionPath(id, key string) string {
	return (&url.URL{Path: "/v1/runs/" + id + "/questions/" + key}).EscapedPath()
}

// settled waits for a run to be over or to wait for people, and returns how it is.
func (c *client) settled(ctx context.Context, id, workflow string, wait time.Duration) (*run, error) {
	header := http.Header{"Prefer": {"wait=" + strconv.Itoa(int((wait+time.Second-1)/time.Second))}}
	r := &run{}
	if err := c.ask(ctx, http.MethodGet, runPath(id), header, nil, r); err != nil {
		return nil, err
	}
	if workflow != "" && r.Workflow != workflow {
		return nil, &problem{Code: "NOT_FOUND", Detail: "no such run"}
	}
	return r, nil
}

// follow waits for a run that returned has accepted the answers for, asks people what it asks, and returns how it is.
func (c *client) follow(ctx context.Context, req *mcp.CallToolRequest, id, workflow string) (*mcp.CallToolResult, error) {
	defer c.beat(ctx, req, id)()
	p := &people{c: c, req: req}
	if len(req.Params.InputResponses) > 0 {
		if _, err := c.settled(ctx, id, workflow, 0); err != nil { // a run of this tool
			return refused(err), nil
		}
		if err := p.take(ctx, id); err != nil {
			return refused(err), nil
		}
	}
	for {
		r, err := c.settled(ctx, id, workflow, c.m.o.Wait)
		if ctx.Err() != nil {
			return nil, c.left(ctx, id)
		}
		if err != nil {
			return refused(err), nil
		}
		if r.State != "waiting" || p.declined {
			return c.told(r, p.note)
		}
		if p.later() {
			return p.requests(r)
		}
		if asked, err := p.elicit(ctx, r); err != nil {
			return refused(err), nil
		} else if ctx.Err() != nil {
			return nil, c.left(ctx, id)
		} else if !asked {
			return c.told(r, p.note)
		}
	}
}

// left is what happens when nobody waits for a run any more.
func (c *client) left(ctx context.Context, id string) error {
	if c.m.o.CancelWithRequest {
		var r run
		if err := c.ask(context.WithoutCancel(ctx), http.MethodPost, runPath(id)+"/cancel", nil, nil, &r); err != nil {
			c.m.o.Log.Warn("run not cancelled", "run", id, "error", err)
		}
	}
	return ctx.Err()
}

// told makes the result of a call.
func (c *client) told(r *run, note string) (*mcp.CallToolResult, error) {
	v := &result{Run: r.ID, State: r.State, Output: r.Output, Error: r.Error, Reason: r.Reason, Questions: r.Questions}
	res := &mcp.CallToolResult{}
	switch r.State {
	case "running":
		v.Next = fmt.Sprintf("the run is still running: call run_result with {\"run\": %q}", r.ID)
	case "waiting":
		v.Next = c.answerWith(r) + fmt.Sprintf("; then call run_result with {\"run\": %q}", r.ID)
		if note != "" {
			v.Next = note + "; " + v.Next
		}
	case "succeeded":
		if len(r.Output) > maxOutput {
			v.Output, v.Next = nil, fmt.Sprintf("the output has %d bytes: read the resource run://%s/output", len(r.Output), r.ID)
			res.Content = []mcp.Content{&mcp.ResourceLink{URI: "run://" + r.ID + "/output", Name: "output", MIMEType: "application/json"}}
		}
	default:
		res.IsError = true
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	res.StructuredContent = json.RawMessage(text)
	said := string(text)
	if r.Error != nil {
		said = r.Error.Code + ": " + r.Error.Message
	}
	res.Content = append([]mcp.Content{&mcp.TextContent{Text: said}}, res.Content...)
	return res, nil
}

// answerWith says how a person answers the question of a run.
func (c *client) answerWith(r *run) string {
	key := ""
	if len(r.Questions) > 0 {
		key = r.Questions[0].Key
	}
	text := "a user answers with PUT " + questionPath(r.ID, key) + ` and {"answer": ...}`
	if c.m.o.Respond != nil {
		text = "a user answers with: " + c.m.o.Respond(r.Workflow) + r.ID + " " + strconv.Quote(key) + " ANSWER"
	}
	if c.m.o.ModelMayAnswer {
		text += ", or you do with run_answer"
	}
	return text
}

// beat sends notifications of progress by time, if the client wants such, until stop is called.
func (c *client) beat(ctx context.Context, req *mcp.CallToolRequest, id string) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	begun := time.Now()
	go func() {
		defer close(over)
		t := time.NewTicker(c.m.o.Beat)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			said := "the run is still running"
			if r, err := c.settled(ctx, id, "", 0); err == nil && r.State == "waiting" {
				said = "the run waits for an answer"
			} else if err == nil && r.Usage != nil {
				said = strconv.Itoa(r.Usage.Calls) + " calls so far"
			}
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: time.Since(begun).Seconds(), Message: said}) // it has gone
		}
	}()
	return func() {
		cancel()
		<-over
	}
}
