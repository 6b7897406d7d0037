package studio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/usage"
)

// A Remote is a server of `serve`, whose runs the page shows besides those of the folder. Its token stays in this process.
type Remote struct {
	URL   string                 // such as https://triage.example.com
	Token func() (string, error) // a bearer token; nil: none is sent
}

// elsewhere begins the ids of runs that are not in the folder: no id of a run has a colon.
const elsewhere = "server:"

const (
	maxRemote  = 32 << 20 // bytes of an answer
	maxEvent   = 1 << 20  // bytes of an event
	remoteTime = 20 * time.Second
	askAgain   = 2 * time.Second
)

// remoteClient follows nobody: a server that sends requests on could have them sent anywhere.
var remoteClient = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// remoteRun is a run as `serve` tells it.
type remoteRun struct {
	ID        string           `json:"id"`
	Workflow  string           `json:"workflow"`
	State     runState         `json:"state"`
	Begin     time.Time        `json:"begin"`
	DurationS float64          `json:"duration_s"`
	Output    json.RawMessage  `json:"output"`
	Reason    string           `json:"reason"`
	Questions []remoteQuestion `json:"questions"`
	Error     *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Key     string `json:"key"`
	} `json:"error"`
	Usage *struct {
		Calls   int       `json:"calls"`
		Tokens  int64     `json:"tokens"`
		CostUSD usage.USD `json:"cost_usd"`
	} `json:"usage"`
}

type remoteQuestion struct {
	Run      string    `json:"run"`
	Key      string    `json:"key"`
	Question string    `json:"question"`
	Type     string    `json:"type"`
	Choices  []string  `json:"choices"`
	Until    time.Time `json:"until"`
}

func (q *remoteQuestion) shown() question {
	return question{Key: q.Key, Text: q.Question, Type: q.Type, Choices: q.Choices, Until: q.Until}
}

// remoteEnvelope is a call as `serve --expose calls` tells it.
type remoteEnvelope = engine.Envelope

// request sends a request for a path of the server, such as /v1/runs.
func (m *Remote) request(ctx context.Context, method, path string, header http.Header, body any) (*http.Response, error) {
	base, err := url.Parse(m.URL)
	if err != nil {
		return nil, err
	}
	at, err := base.Parse(strings.TrimSuffix(base.EscapedPath(), "/") + path)
	if err != nil {
		return nil, err
	}
	var text io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		text = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(ctx, method, at.String(), text)
	if err != nil {
		return nil, err
	}
	for name, v := range header {
		r.Header[name] = v
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if m.Token != nil {
		token, err := m.Token()
		if err != nil {
			return nil, problemf(http.StatusBadGateway, "the token for the server cannot be read", err.Error())
		}
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := remoteClient.Do(r)
	if err != nil {
		var e *url.Error
		if errors.As(err, &e) { // its text has the address, which the title has
			err = e.Err
		}
		return nil, problemf(http.StatusBadGateway, "the server at "+m.URL+" does not answer", err.Error())
	}
	if resp.StatusCode >= 300 {
		defer resp.Body.Close()
		return nil, m.refusal(resp)
	}
	return resp, nil
}

// refusal is what the server says against a request, in its words.
func (m *Remote) refusal(resp *http.Response) error {
	var said struct {
		Title  string `json:"title"`
		Detail string `json:"detail"`
		Code   string `json:"code"`
		Errors []struct {
			Detail string `json:"detail"`
		} `json:"errors"`
	}
	_ = json.NewDecoder(io.LimitReader(resp.Body, maxEvent)).Decode(&said)
	detail := said.Detail
	for _, e := range said.Errors {
		detail += ": " + e.Detail
	}
	p := &problem{Status: resp.StatusCode, Title: "the server at " + m.URL + " refuses", Detail: strings.TrimPrefix(said.Code+": "+detail, ": ")}
	switch {
	case resp.StatusCode == http.StatusUnauthorized: // not what 401 of studio means to the page
		p.Status, p.Detail = http.StatusForbidden, "it rejects the token: use --server-token with a file that has a valid one"
	case resp.StatusCode < 400:
		p.Status, p.Detail = http.StatusBadGateway, "it redirects to another server: use that URL with --server"
	case said.Code == "":
		p.Detail = "it answers " + resp.Status + ", which is not a response of `flowgen serve`"
	}
	return p
}

// ask sends a request and reads its answer into v.
func (m *Remote) ask(ctx context.Context, method, path string, body, v any) error {
	ctx, stop := context.WithTimeout(ctx, remoteTime)
	defer stop()
	resp, err := m.request(ctx, method, path, nil, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxRemote)).Decode(v); err != nil {
		return problemf(http.StatusBadGateway, "the answer of the server at "+m.URL+" cannot be read", err.Error())
	}
	return nil
}

// pathOf is the address of a run, and of what is below it.
func pathOf(id string, below ...string) string {
	return (&url.URL{Path: "/v1/runs/" + strings.Join(append([]string{id}, below...), "/")}).EscapedPath()
}

// remoteEvent is an event of a run: of its journal, with a line, or of none.
type remoteEvent struct {
	Kind    string    `json:"kind"`
	Line    int       `json:"line"`
	Key     string    `json:"key"`
	Tool    string    `json:"tool"`
	Attempt int       `json:"attempt"`
	Time    time.Time `json:"time"`
	Error   *struct {
		Code string `json:"code"`
	} `json:"error"`
	Cached bool     `json:"cached"`
	State  runState `json:"state"`
	Text   string   `json:"text"`
	Done   int      `json:"done"`
	Total  int      `json:"total"`
	WaitS  float64  `json:"wait_s"`

	failure error // of the stream, which begins again
}

// follow sends the events of a run until the context ends. It begins again where a stream ends, since a run that is over may go on.
func (m *Remote) follow(ctx context.Context, id string, to chan<- remoteEvent) {
	for from := 0; ctx.Err() == nil; {
		err := m.stream(ctx, id, &from, to)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			select {
			case to <- remoteEvent{failure: err}:
			case <-ctx.Done():
			}
		}
		select {
		case <-time.After(askAgain):
		case <-ctx.Done():
		}
	}
}

// stream reads one stream of events behind a line.
func (m *Remote) stream(ctx context.Context, id string, from *int, to chan<- remoteEvent) error {
	query := ""
	if *from > 0 {
		n, _ := json.Marshal(*from)
		query = "?from=" + string(n)
	}
	resp, err := m.request(ctx, http.MethodGet, pathOf(id, "events")+query, http.Header{"Accept": {"application/x-ndjson"}}, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, maxEvent)
	for lines.Scan() {
		var e remoteEvent
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue
		}
		if e.Kind == "resync" {
			*from = 0
		}
		*from = max(*from, e.Line)
		select {
		case to <- e:
		case <-ctx.Done():
			return nil
		}
	}
	return nil // the next stream says what is wrong
}
