package serve

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Docs is the page that problems point to.
const Docs = "https://github.com/flowgen-dev/flowgen/blob/main/docs/guides/serve.md#errors"

// problem is an answer that says what is wrong, as in RFC 9457.
type problem struct {
	Type     string    `json:"type"`
	Title    string    `json:"title"`
	Status   int       `json:"status"`
	Detail   string    `json:"detail,omitempty"`
	Instance string    `json:"instance,omitempty"` // the run
	Code     string    `json:"code"`
	Errors   []mistake `json:"errors,omitempty"`
	RetryS   float64   `json:"retry_after_s,omitempty"`

	challenge string
	location  string
}

// mistake is one thing that is wrong with an input.
type mistake struct {
	Pointer string `json:"pointer"` // RFC 6901
	Code    string `json:"code"`
	Detail  string `json:"detail"`
}

func (p *problem) Error() string { return p.Code + ": " + p.Detail }

func fault(status int, code, detail string) *problem {
	return &problem{Type: Docs, Title: http.StatusText(status), Status: status, Detail: detail, Code: code}
}

// later is a problem that is over some time after.
func (p *problem) later(d time.Duration) *problem {
	p.RetryS = d.Seconds()
	return p
}

// of says which run it is about.
func (p *problem) of(run string) *problem {
	p.Instance = "/v1/runs/" + run
	return p
}

func noRun() *problem { return fault(http.StatusNotFound, "NOT_FOUND", "no such run") }

// refuse answers with a problem. Of an error that is none the asker learns nothing.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var p *problem
	if !errors.As(err, &p) {
		s.o.Log.ErrorContext(r.Context(), "request failed", "route", r.Pattern, "error", err)
		p = fault(http.StatusInternalServerError, "UNKNOWN", "the request failed; the log of the server says why")
	}
	if p.RetryS > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(p.RetryS))))
	}
	if p.challenge != "" {
		w.Header().Set("WWW-Authenticate", p.challenge)
	}
	if p.location != "" {
		w.Header().Set("Location", p.location)
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	writeJSON(w, p)
}

// misfit is the problem of an input that does not fit its type.
func misfit(err error) *problem {
	p := fault(http.StatusUnprocessableEntity, string(value.ValidationError), "the input does not fit the workflow")
	te := value.ToolErrorOf(err)
	if te == nil {
		p.Errors = []mistake{{"", p.Code, err.Error()}}
		return p
	}
	list, _ := te.Details.Get("violations")
	for i := range list.Len() {
		text, _ := list.Index(i).Get("message")
		p.Errors = append(p.Errors, mistake{placeOf(list.Index(i)), p.Code, text.String()})
	}
	if p.Errors == nil {
		p.Errors = []mistake{{placeOf(te.Details), p.Code, te.Message}}
	}
	return p
}

// placeOf is the pointer of the path that details have.
func placeOf(details value.Value) string {
	at, ok := details.Get("path")
	if !ok {
		return ""
	}
	return pointer(at.String())
}

// pointer makes a JSON pointer of a path such as items[2].name or a["b.c"].
func pointer(path string) string {
	var b strings.Builder
	part := func(s string) {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(s))
	}
	for path != "" {
		if path[0] != '[' {
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			part(path[:end])
			path = strings.TrimPrefix(path[end:], ".")
			continue
		}
		if quoted, err := strconv.QuotedPrefix(path[1:]); err == nil {
			text, _ := strconv.Unquote(quoted)
			part(text)
			path = strings.TrimPrefix(path[1+len(quoted):], "]")
		} else {
			text, rest, _ := strings.Cut(path[1:], "]")
			part(text)
			path = rest
		}
		path = strings.TrimPrefix(path, ".")
	}
	return b.String()
}

func reply(w http.ResponseWriter, status int, v any) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	writeJSON(w, v)
	return nil
}

func writeJSON(w http.ResponseWriter, v any) {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // the client has gone
}
