// Package wire is the HTTP that model providers have in common: one POST, its failures as codes, bounded bodies, and
// server-sent events.
package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

const (
	maxBody = 32 << 20 // of an answer
	maxLine = 8 << 20  // of one event
	maxText = 300      // runes of the other side's words
)

// A Service is one address that somebody has declared: connections go there and, beyond public addresses, nowhere else.
// It is safe for concurrent use.
type Service struct {
	Base   string   // without a slash at its end
	url    *url.URL // of Base, nil if that is none
	client *httptool.Client
}

// Open makes a Service of a base URL.
func Open(base string) *Service {
	s := &Service{Base: strings.TrimRight(base, "/")}
	var allow []httptool.Option
	if u, err := url.Parse(s.Base); err == nil && u.Hostname() != "" {
		u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/") // before a query there may be one
		s.url = u
		allow = append(allow, httptool.Allow(u.Hostname()))
	}
	s.client = httptool.NewClient(allow...)
	return s
}

// Post sends JSON, given in parts that nobody changes any more, with header, which is Post's from now on, and returns a 2xx response, whose body the caller closes.
// The path is put behind that of the base URL, whose query stays. Redirects are not followed: a service that moved is a service that
// nobody has declared.
// An error that the provider cannot have billed is marked as tool.Unspent.
func (s *Service) Post(ctx context.Context, path string, header http.Header, parts ...[]byte) (*http.Response, error) {
	if s.url == nil || s.url.Scheme != "http" && s.url.Scheme != "https" {
		return nil, tool.Unspent(value.Invalid("the model's base URL is not an http or https URL: check base_url or its environment variable"))
	}
	ctx, sent := watch(ctx)
	req := (&http.Request{Method: http.MethodPost, URL: s.at(path), Header: header, Host: s.url.Host,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}).WithContext(ctx)
	header.Set("Content-Type", "application/json")
	if u := s.url.User; u != nil && header.Get("Authorization") == "" {
		password, _ := u.Password()
		req.SetBasicAuth(u.Username(), password)
	}
	upload(req, parts)
	resp, err := s.client.RoundTrip(req)
	if err != nil {
		if err = s.client.Failed(req, err); sent.not(err) {
			err = tool.Unspent(err)
		}
		return nil, err
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	return nil, refused(resp.StatusCode, s.client.Refused(req, resp))
}

// at is the address of a path below the base, which may have a query of its own.
func (s *Service) at(path string) *url.URL {
	u := *s.url
	path, query, _ := strings.Cut(path, "?")
	if decoded, err := url.PathUnescape(path); err == nil && (decoded != path || u.RawPath != "") {
		u.RawPath, path = u.EscapedPath()+path, decoded
	}
	u.User, u.Path = nil, u.Path+path
	if u.RawQuery != "" && query != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += query
	return &u
}

// refused marks what a provider says it has not done: providers bill answers and no failures. But a gateway that gave up
// waiting (502, 504) does not know what the model behind it has done.
func refused(status int, err error) error {
	if status == http.StatusBadGateway || status == http.StatusGatewayTimeout {
		return err
	}
	return tool.Unspent(err)
}

// Failed is the error of a response whose body did not come to its end.
func (s *Service) Failed(resp *http.Response, err error) error {
	return s.client.Failed(resp.Request, err)
}

// Body reads a whole answer.
func (s *Service) Body(resp *http.Response) ([]byte, error) {
	host := resp.Request.URL.Host
	known := min(max(resp.ContentLength, 0), 64<<10) // no more than that is believed
	b := bytes.NewBuffer(make([]byte, 0, known+bytes.MinRead))
	if _, err := b.ReadFrom(io.LimitReader(resp.Body, maxBody+1)); err != nil {
		return nil, s.Failed(resp, err)
	}
	if b.Len() > maxBody {
		return nil, value.Errorf(value.PolicyDenied, "the answer of %s is larger than the %s bytes allowed", host, strconv.Itoa(maxBody))
	}
	return b.Bytes(), nil
}

// Garbled is the error of an answer that is not what the provider's documents say.
func Garbled(host, what string) *value.ToolError {
	return value.Errorf(value.ProviderError, "the answer of %s cannot be read: %s", host, plain.Line(what, maxText))
}

// IsEvents reports whether a response is a stream of server-sent events.
func IsEvents(resp *http.Response) bool {
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "text/event-stream")
}

// A sending knows whether a transport has begun to write a request.
type sending struct {
	hooks         httptrace.ClientTrace
	looked, wrote atomic.Bool
}

func watch(ctx context.Context) (context.Context, *sending) {
	s := &sending{}
	s.hooks.GetConn = func(string) { s.looked.Store(true) }
	s.hooks.WroteHeaders = func() { s.wrote.Store(true) }
	return httptrace.WithClientTrace(ctx, &s.hooks), s
}

// not reports whether a request that failed with err was surely not sent: its transport looked for a connection and wrote
// nothing to one, or its address was refused. A transport of the program's own need not report what it does.
func (s *sending) not(err error) bool {
	var te *value.ToolError
	return s.looked.Load() && !s.wrote.Load() || errors.As(err, &te) && te.Code == value.PolicyDenied
}

// inOne is the size of bodies that are put into one piece: transports write those that are in memory together with the headers,
// in one write if there is room for both.
const inOne = httptool.WriteBuffer - 1<<10

// upload makes parts the body of a request.
func upload(req *http.Request, parts [][]byte) {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	req.ContentLength = int64(n)
	req.GetBody = func() (io.ReadCloser, error) { return &joined{parts: parts}, nil }
	if n <= inOne {
		whole := slices.Concat(parts...)
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(whole)), nil }
	}
	req.Body, _ = req.GetBody() // never fails
}

// joined reads parts one after the other. Unlike io.MultiReader it needs no buffer to be written anywhere.
type joined struct {
	parts [][]byte
	part  int
	at    int // in that part
}

func (j *joined) Read(b []byte) (n int, err error) {
	for j.part < len(j.parts) {
		k := copy(b[n:], j.parts[j.part][j.at:])
		n += k
		if j.at += k; j.at < len(j.parts[j.part]) {
			return n, nil
		}
		j.part, j.at = j.part+1, 0
	}
	if n == 0 && len(b) > 0 {
		err = io.EOF
	}
	return n, err
}

// WriteTo implements io.WriterTo.
func (j *joined) WriteTo(w io.Writer) (n int64, err error) {
	for j.part < len(j.parts) {
		k, err := w.Write(j.parts[j.part][j.at:])
		n += int64(k)
		if j.at += k; err != nil {
			return n, err
		}
		j.part, j.at = j.part+1, 0
	}
	return n, nil
}

func (j *joined) Close() error { return nil }
