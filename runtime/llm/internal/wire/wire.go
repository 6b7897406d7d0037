// Package wire is the HTTP that model providers have in common: one POST, its failures as codes, bounded bodies, and
// server-sent events.
package wire

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
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
	Base   string // without a slash at its end
	client *httptool.Client
	http   *http.Client
}

// Open makes a Service of a base URL.
func Open(base string) *Service {
	base = strings.TrimRight(base, "/")
	var allow []httptool.Option
	if u, err := url.Parse(base); err == nil && u.Hostname() != "" {
		allow = append(allow, httptool.Allow(u.Hostname()))
	}
	s := &Service{Base: base, client: httptool.NewClient(allow...)}
	s.http = s.Client(s.client)
	return s
}

// Client returns what the service's own library can use: it follows no redirects, because a service that moved is a
// service that nobody has declared.
func (s *Service) Client(rt http.RoundTripper) *http.Client {
	return &http.Client{Transport: rt, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Post sends JSON, given in parts that nobody changes any more, with header, which is Post's from now on, and returns a 2xx response, whose body the caller closes.
// An error that the provider cannot have billed is marked as tool.Unspent.
func (s *Service) Post(ctx context.Context, path string, header http.Header, parts ...[]byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Base+path, nil)
	if err != nil || req.URL.Scheme != "http" && req.URL.Scheme != "https" || req.URL.Host == "" {
		return nil, tool.Unspent(value.Invalid("the model's address is no http or https URL: look at its base_url, or at the environment variable that names another"))
	}
	for _, p := range parts {
		req.ContentLength += int64(len(p))
	}
	u := &upload{parts: parts}
	req.GetBody = u.open
	req.Body, _ = u.open() // never fails
	header.Set("Content-Type", "application/json")
	req.Header = header
	resp, err := s.http.Do(req)
	if err != nil {
		if err = s.client.Failed(req, err); !u.begun.Load() {
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

// upload is the body of a request. Transports begin to read it when they have written the headers.
type upload struct {
	parts [][]byte
	begun atomic.Bool
}

func (u *upload) open() (io.ReadCloser, error) { return &joined{upload: u}, nil }

// joined reads parts one after the other. Unlike io.MultiReader it needs no buffer to be written anywhere.
type joined struct {
	*upload
	part int
	at   int // in that part
}

func (j *joined) Read(b []byte) (n int, err error) {
	j.begun.Store(true)
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
	j.begun.Store(true)
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
