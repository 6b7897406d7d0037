package fake

import (
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Fault is what goes wrong with a response. The zero value is nothing.
type Fault struct {
	Status int                                 // answered instead, with an error in the dialect's form
	Header map[string]string                   // added
	Edit   func(d Dialect, body []byte) []byte // changes the body, of an error too

	End End
	At  int // bytes of the body before End; negative: counted from its end
}

// End is how a response ends.
type End int

// The ends. All but the first happen after Fault.At bytes.
const (
	Whole     End = iota
	Reset         // the connection is reset
	HalfClose     // the server says that it sends no more, and goes on listening
	Close         // the connection is closed
	Stall         // nothing more comes
	Drip          // one byte every 20 ms, and in a stream a space when there are none left
	Silence       // not even headers come, though the request was taken
)

// badKey is what Gemini says of a wrong key, with status 400.
const badKey = "API key not valid. Please pass a valid API key."

// errorTypes are Anthropic's names of statuses.
var errorTypes = map[int]string{400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
	413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error"}

// errorStates are Google's.
var errorStates = map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED",
	500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}

func errorBody(d Dialect, status int, what string) []byte {
	var v any
	switch d {
	case Anthropic:
		kind := errorTypes[status]
		if kind == "" {
			kind = "api_error"
		}
		v = map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": what}, "request_id": "req_fake"}
	case Gemini:
		e := map[string]any{"code": status, "message": what, "status": errorStates[status]}
		if what == badKey {
			e["details"] = []any{map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}}
		}
		v = map[string]any{"error": e}
	default:
		v = map[string]any{"error": map[string]any{"message": what, "type": "error", "param": nil, "code": nil}}
	}
	b, _ := json.Marshal(v) // of texts and numbers
	return b
}

func writeError(w http.ResponseWriter, d Dialect, status int, what string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Request-Id", "req_fake")
	w.WriteHeader(status)
	_, _ = w.Write(errorBody(d, status, what))
}

// send writes the response.
func (p *Response) send(w http.ResponseWriter, r *http.Request, req *Request) {
	f := &p.Fault
	if f.End == Silence {
		<-r.Context().Done()
		return
	}
	status, kind := http.StatusOK, "application/json"
	var body []byte
	switch {
	case f.Status != 0:
		status, body = f.Status, errorBody(req.Dialect, f.Status, "the fake fails as it was told to")
	case req.Stream:
		kind, body = "text/event-stream", stream(req, &p.Reply, p.Pieces)
	default:
		body = whole(req, &p.Reply)
	}
	if f.Edit != nil {
		body = f.Edit(req.Dialect, body)
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("X-Request-Id", "req_fake")
	for name, value := range f.Header {
		h.Set(name, value)
	}
	if !req.Stream || status != http.StatusOK {
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(status)
	if f.End == Whole {
		_, _ = w.Write(body)
		return
	}
	at := f.At
	if at < 0 {
		at += len(body)
	}
	at = min(max(at, 0), len(body))
	_, _ = w.Write(body[:at])
	c := http.NewResponseController(w)
	_ = c.Flush()
	f.finish(w, r, c, body[at:])
}

// finish ends a response before its time.
func (f *Fault) finish(w http.ResponseWriter, r *http.Request, c *http.ResponseController, rest []byte) {
	switch f.End {
	case Stall:
		<-r.Context().Done()
		return
	case Drip:
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			next := []byte(" ")
			if len(rest) > 0 {
				next, rest = rest[:1], rest[1:]
			}
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
			}
			if _, err := w.Write(next); err != nil { // all that was announced is there, or nobody listens
				return
			}
			_ = c.Flush()
		}
	}
	conn, _, err := c.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	tcp, ok := conn.(*net.TCPConn)
	switch {
	case ok && f.End == Reset:
		_ = tcp.SetLinger(0)
	case ok && f.End == HalfClose:
		_ = tcp.CloseWrite()
		_ = tcp.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = tcp.Read(make([]byte, 1)) // until the other side has understood
	}
	_ = conn.Close()
}
