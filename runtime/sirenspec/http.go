package sirenspec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

const (
	maxBody      = 16 << 20 // bytes of a response
	maxExcerpt   = 200      // characters of a response in an error
	maxRedirects = 10
)

// A Request is what an http node sends.
type Request struct {
	Method  string
	URL     Template
	Headers []Header
	Body    Template // nil: none
	Timeout int64    // seconds
}

// A Header is one of a request's.
type Header struct {
	Name  string
	Value Template
}

// A Call is a request whose texts are made, all but the environment variables, which are not recorded.
type Call struct {
	Method  string       `json:"method"`
	URL     []Segment    `json:"url"`
	Headers []CallHeader `json:"headers,omitempty"`
	Body    []Segment    `json:"body,omitempty"`
	HasBody bool         `json:"has_body,omitempty"`
	Timeout int64        `json:"timeout_s"`
}

// A CallHeader is a header of a Call.
type CallHeader struct {
	Name  string    `json:"name"`
	Value []Segment `json:"value"`
}

// HTTP sends a request and gives the response: a value when it is JSON, else text.
func (f *Flow) HTTP(r *flow.Run, n *flow.Node, t *flow.Tool[Call, value.Value], p Policy, q Request) (dynamic.Field, error) {
	c := Call{Method: q.Method, HasBody: q.Body != nil, Timeout: q.Timeout}
	var err error
	segments := func(t Template) []Segment {
		if err != nil {
			return nil
		}
		var out []Segment
		out, err = t.segments()
		return out
	}
	c.URL = segments(q.URL)
	for _, h := range q.Headers {
		c.Headers = append(c.Headers, CallHeader{h.Name, segments(h.Value)})
	}
	c.Body = segments(q.Body)
	if err != nil {
		return dynamic.Field{}, r.Fail(n, err)
	}
	return run(r, n, t, p, c, nil)
}

// HTTP makes the tool of an http node. host is the one that the workflow's author wrote: it is reached even when its address
// is not public, as is one that an environment variable names at the beginning of the URL. A host that data names is
// reached only when its address is public.
func HTTP(name string, e flow.Effects, host string) *flow.Tool[Call, value.Value] {
	a := &adapter{host: host, clients: map[string]*http.Client{}}
	return flow.Bind(name, e, a.call, tool.Cancellable(), flow.MaxOutput(-1))
}

// adapter keeps a client for each host that may be reached whatever its address is.
type adapter struct {
	host    string
	mu      sync.Mutex
	clients map[string]*http.Client
}

const maxClients = 100

func (a *adapter) client(host string) *http.Client {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.clients[host]; c != nil {
		return c
	}
	var opts []httptool.Option
	if host != "" {
		opts = append(opts, httptool.Allow(host))
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		opts = append(opts, httptool.Allow("loopback"))
	}
	c := &http.Client{Transport: httptool.NewClient(opts...), CheckRedirect: redirect}
	if len(a.clients) < maxClients {
		a.clients[host] = c
	}
	return c
}

// redirect follows what Python's urllib follows. Another origin gets none of the author's headers.
func redirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("more than %d redirects", maxRedirects)
	case req.Response != nil && req.Response.StatusCode >= 307 && first.Method == http.MethodPost:
		return http.ErrUseLastResponse
	case first.URL.Scheme == "https" && req.URL.Scheme != "https":
		return errors.New("a redirect from https to http")
	}
	if req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host {
		req.Header = http.Header{"User-Agent": req.Header["User-Agent"]}
	}
	return nil
}

// A variableValue is an environment variable with what it holds.
type variableValue struct{ name, value string }

// expanded puts the environment variables into a text. Those that are put in are added to used.
func expanded(list []Segment, used *[]variableValue) (string, error) {
	var b strings.Builder
	for _, s := range list {
		if s.Env == "" {
			b.WriteString(s.Text)
			continue
		}
		v, found, err := lookup(s.Env, s.Maybe, s.Or)
		if err != nil {
			return "", err
		}
		if found {
			*used = append(*used, variableValue{s.Env, v})
		}
		b.WriteString(v)
	}
	return b.String(), nil
}

// call is one attempt. Variables that seem to hold a secret, by their name or the header that they are in, are taken out of
// what comes back.
func (a *adapter) call(ctx context.Context, c Call) (value.Value, error) {
	var used, begin []variableValue
	host := a.host
	target, err := expanded(c.URL[:min(len(c.URL), 1)], &begin)
	if err == nil && len(c.URL) > 1 {
		var rest string
		rest, err = expanded(c.URL[1:], &used)
		target += rest
	}
	if err != nil {
		return value.Value{}, err
	}
	if len(begin) > 0 {
		if u, err := url.Parse(begin[0].value); err == nil && strings.Contains(begin[0].value, "://") {
			host = u.Hostname()
		}
	}
	headers := http.Header{}
	for _, h := range c.Headers {
		v, err := expanded(h.Value, &used)
		if err != nil {
			return value.Value{}, err
		}
		headers[http.CanonicalHeaderKey(h.Name)] = []string{v}
	}
	var body io.Reader
	typed := slices.ContainsFunc(c.Headers, func(h CallHeader) bool { return strings.EqualFold(h.Name, "Content-Type") })
	if c.HasBody {
		text, err := expanded(c.Body, &used)
		if err != nil {
			return value.Value{}, err
		}
		body = strings.NewReader(text)
		if c.Method == http.MethodPost && !named(c.Headers, "Content-Type") {
			headers["Content-Type"] = []string{"application/json"}
		} else if !typed { // Python's own, for requests of other methods
			headers["Content-Type"] = []string{"application/x-www-form-urlencoded"}
		}
	}
	var secrets []string
	for _, v := range used {
		if secretName(v.name) {
			secrets = append(secrets, v.value)
		}
	}
	redactor := redact.New(secrets...)
	out, err := a.send(ctx, c, host, target, headers, body)
	if err != nil {
		return value.Value{}, redactor.Error(err)
	}
	return redactor.Value(out), nil
}

func named(list []CallHeader, name string) bool {
	for _, h := range list {
		if h.Name == name { // the engine looks for this spelling
			return true
		}
	}
	return false
}

func (a *adapter) send(ctx context.Context, c Call, host, target string, headers http.Header, body io.Reader) (value.Value, error) {
	seconds := c.Timeout
	inner, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	if why := unsendable(c.Method, target); why != "" {
		return value.Value{}, failure(value.ValidationError, 0, "Unexpected error during HTTP request: %s", why)
	}
	req, err := http.NewRequestWithContext(inner, c.Method, target, body)
	if err != nil || req.URL.Host == "" || req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		return value.Value{}, failure(value.ValidationError, 0, "%s is not an http or https URL", target)
	}
	req.Header = headers
	resp, err := a.client(host).Do(req)
	var text []byte
	if err == nil {
		defer resp.Body.Close()
		text, err = io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return value.Value{}, ctx.Err()
	case err != nil && inner.Err() != nil:
		return value.Value{}, failure(value.Timeout, 0, "Request to %s timed out after %ds", target, seconds)
	case err != nil:
		return value.Value{}, unreachable(req, target, err)
	case len(text) > maxBody:
		return value.Value{}, failure(value.PolicyDenied, 0, "the response from %s is larger than %d MiB", target, maxBody>>20)
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return value.Value{}, failure(httptool.StatusCode(resp.StatusCode), resp.StatusCode, "HTTP %d %s from %s: %s", resp.StatusCode, reason(resp), target, excerpt(text))
	}
	return content(resp.Header.Get("Content-Type"), text), nil
}

// content is a response as a value. Only these two types are JSON to the engine; bad JSON is text.
func content(kind string, text []byte) value.Value {
	if strings.Contains(kind, "application/json") || strings.Contains(kind, "text/json") {
		if v, err := value.Parse(text); err == nil {
			return v
		}
	}
	return value.String(strings.ToValidUTF8(string(text), "\uFFFD"))
}

func reason(resp *http.Response) string {
	if _, text, ok := strings.Cut(resp.Status, " "); ok {
		return text
	}
	return http.StatusText(resp.StatusCode)
}

func excerpt(text []byte) string {
	s := strings.ToValidUTF8(string(text[:min(len(text), 4*maxExcerpt)]), "\uFFFD")
	if runes := []rune(s); len(runes) > maxExcerpt {
		return string(runes[:maxExcerpt])
	}
	return s
}

// unreachable is the error of a request without a response.
func unreachable(req *http.Request, target string, err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if text := pythonReason(err); text != "" {
		return failure(value.NetworkError, 0, "Network error reaching %s: %s", target, text)
	}
	var te *value.ToolError
	if !errors.As(httptool.NewClient().Failed(req, err), &te) {
		return failure(value.NetworkError, 0, "Network error reaching %s: %v", target, err)
	}
	return failure(te.Code, 0, "Network error reaching %s: %s", target, te.Message)
}

// failure is an error in the engine's words, with what its ToolError has.
func failure(code value.Code, status int, format string, args ...any) error {
	e := value.Errorf(code, "[tool:http] "+format, args...)
	details := []value.Entry{{Key: "tool_name", Value: value.String("http")}}
	if status != 0 {
		details = append(details, value.Entry{Key: "status_code", Value: value.Int(int64(status))})
		code = "status"
	}
	if cause := causes[code]; cause != "" {
		details = append(details, value.Entry{Key: "cause", Value: value.String(cause)})
	}
	e.Details = value.Map(details...)
	return e
}

// causes are the exceptions of Python behind the engine's errors.
var causes = map[value.Code]string{"status": "HTTPError", value.Timeout: "TimeoutError", value.NetworkError: "URLError"}

// pythonReason is what Python says about a connection that fails for one of the usual reasons; empty for others.
func pythonReason(err error) string {
	var dns *net.DNSError
	var number syscall.Errno
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "[Errno -2] Name or service not known"
	case errors.As(err, &dns) && dns.IsTemporary:
		return "[Errno -3] Temporary failure in name resolution"
	case errors.As(err, &number) && reasons[number] != "":
		return "[Errno " + strconv.Itoa(int(number)) + "] " + reasons[number]
	}
	return ""
}

var reasons = map[syscall.Errno]string{syscall.ECONNREFUSED: "Connection refused", syscall.ECONNRESET: "Connection reset by peer",
	syscall.EHOSTUNREACH: "No route to host", syscall.ENETUNREACH: "Network is unreachable"}

// unsendable is what Python says about an address that it does not send: with spaces, control characters or others than
// ASCII in what is behind the host. It is empty for one that it sends.
func unsendable(method, target string) string {
	_, rest, ok := strings.Cut(target, "://")
	at := strings.IndexAny(rest, "/?#")
	if !ok || at < 0 {
		return ""
	}
	path, _, _ := strings.Cut(rest[at:], "#")
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if i := strings.IndexFunc(path, func(c rune) bool { return c <= ' ' || c == 0x7f }); i >= 0 {
		return "URL can't contain control characters. " + repr(value.String(path)) + " (found at least " + repr(value.String(path[i:i+1])) + ")"
	}
	runes := []rune(method + " " + path + " HTTP/1.1")
	for i, c := range runes {
		if c > 0x7f {
			end := i
			for end+1 < len(runes) && runes[end+1] > 0x7f {
				end++
			}
			if end == i {
				return fmt.Sprintf("'ascii' codec can't encode character '%s' in position %d: ordinal not in range(128)", escape(c), i)
			}
			return fmt.Sprintf("'ascii' codec can't encode characters in position %d-%d: ordinal not in range(128)", i, end)
		}
	}
	return ""
}
