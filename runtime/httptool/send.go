package httptool

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// exchange is one call: a request, its redirects and its response.
type exchange struct {
	*config
	outer  context.Context // the call's
	ctx    context.Context // with a deadline
	method string
	url    *url.URL // of the last request
	resp   *http.Response
	wire   wire
	buf    *[]byte // the body, lent by the pool
	spills bool    // a body that is too large is kept
	via    way

	secrets *redact.Redactor // see redactor
}

// send sends the request, follows redirects, and leaves a 2xx response in x.resp.
func (x *exchange) send(in Request) error {
	if in.Err != nil {
		return in.Err
	}
	req, err := x.request(&in)
	if err != nil {
		return err
	}
	for hop := 0; ; hop++ {
		x.method, x.url = req.Method, req.URL
		x.resp, err = x.via.RoundTrip(req)
		if err != nil {
			return x.failed(err)
		}
		status := x.resp.StatusCode
		if status >= 200 && status < 300 {
			return nil
		}
		location := x.resp.Header.Get("Location")
		if location == "" || !redirects(status) {
			err := x.refused()
			x.close()
			return err
		}
		x.discard()
		x.close()
		if hop == MaxRedirects {
			return x.denied("%s redirects more than %d times", x.host(), MaxRedirects)
		}
		if req, err = x.redirect(req, status, location, &in.Body); err != nil {
			return err
		}
	}
}

func redirects(status int) bool {
	switch status {
	case 301, 302, 303, 307, 308:
		return true
	}
	return false
}

// request makes the first request.
func (x *exchange) request(in *Request) (*http.Request, error) {
	if in.Body.err != nil {
		return nil, in.Body.err
	}
	base, err := x.begin()
	if err != nil {
		return nil, err
	}
	target, err := in.URL.from(base, in.Query)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(x.ctx, in.Method, target, in.Body.reader())
	if err != nil {
		return nil, value.Invalid("the request cannot be made: %s", plain.Line(reason(err), messageRunes))
	}
	if err := checkURL(req.URL); err != nil {
		return nil, err
	}
	req.URL.Fragment, req.URL.RawFragment = "", ""
	call := tool.Context(x.ctx)
	key, parent := call.IdempotencyKey(), call.Traceparent()
	if len(in.Header) == 0 && in.Body.kind == "" && req.Method != http.MethodHead && key == "" && parent == "" {
		req.Header, err = x.sameHeader()
		return req, err
	}
	for _, f := range in.Header {
		if err := checkHeader(f); err != nil {
			return nil, err
		}
		req.Header.Add(f.Name, f.Value)
	}
	if in.Body.kind != "" {
		setDefault(req.Header, "Content-Type", []string{in.Body.kind})
	}
	if parent != "" {
		setDefault(req.Header, "Traceparent", []string{parent})
	}
	if key != "" {
		if !headerText(key) {
			return nil, value.Invalid("the idempotency key has a line break or another control character")
		}
		setDefault(req.Header, "Idempotency-Key", []string{key})
	}
	return req, x.complete(req.Header, req.Method)
}

// complete adds what every request has.
func (x *exchange) complete(h http.Header, method string) error {
	if x.accept != nil {
		setDefault(h, "Accept", x.accept)
	}
	setDefault(h, "User-Agent", userAgent)
	if method != http.MethodHead {
		h["Accept-Encoding"] = acceptGzip
	}
	return x.authenticate(h)
}

// ready is the header of requests that bring none of their own, and the secrets it was made with. Transports do not
// change headers, so all calls of a tool share it.
type ready struct {
	header  http.Header
	secrets []string
}

func (x *exchange) sameHeader() (http.Header, error) {
	if r := x.ready.Load(); r != nil {
		same := true
		for i, cred := range x.auth {
			secret, _ := tool.Secret(x.ctx, cred.secret)
			same = same && r.secrets[i] == secret
		}
		if same {
			return r.header, nil
		}
	}
	r := &ready{header: http.Header{}}
	if err := x.complete(r.header, http.MethodGet); err != nil {
		return nil, err
	}
	for _, cred := range x.auth {
		secret, _ := tool.Secret(x.ctx, cred.secret)
		r.secrets = append(r.secrets, secret)
	}
	x.ready.Store(r)
	return r.header, nil
}

// Values that every request shares; a transport does not change headers.
var (
	acceptGzip = []string{"gzip"}
	acceptJSON = []string{"application/json"}
	userAgent  = []string{"flowgen"}
)

func setDefault(h http.Header, name string, values []string) {
	if _, ok := h[name]; !ok {
		h[name] = values
	}
}

// connection are the headers that belong to the connection, not to the author of a request.
var connection = map[string]bool{
	"Accept-Encoding": true, "Connection": true, "Content-Length": true, "Expect": true, "Host": true, "Keep-Alive": true,
	"Proxy-Authorization": true, "Proxy-Connection": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
}

func checkHeader(f Field) error {
	if !isToken(f.Name) {
		return value.Invalid("%s is not a valid header name", plain.Line(f.Name, 64))
	}
	if connection[http.CanonicalHeaderKey(f.Name)] {
		return value.Invalid("header %s is set by the connection", f.Name)
	}
	if !headerText(f.Value) {
		return value.Invalid("header %s has a line break or another control character", f.Name)
	}
	return nil
}

func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return s != ""
}

func headerText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// authenticate adds the secrets, which the runtime has put into the context.
func (x *exchange) authenticate(h http.Header) error {
	for _, cred := range x.auth {
		secret, ok := tool.Secret(x.ctx, cred.secret)
		if !ok || secret == "" {
			return value.Errorf(value.AuthRequired, "secret %s is not set", plain.Line(cred.secret, 64))
		}
		if err := cred.set(h, secret); err != nil {
			return err
		}
	}
	return nil
}

// set puts the secret into its header.
func (cred credential) set(h http.Header, secret string) error {
	v, ok := secret, true
	if cred.format != nil {
		if v, ok = cred.format(secret); !ok {
			return value.Errorf(value.AuthRequired, "secret %s is not user:password", plain.Line(cred.secret, 64))
		}
	}
	if !headerText(v) || !isToken(cred.header) {
		return value.Errorf(value.AuthRequired, "secret %s cannot be used in a header", plain.Line(cred.secret, 64))
	}
	h[cred.header] = []string{v}
	return nil
}

func bearer(secret string) (string, bool) { return "Bearer " + secret, true }

func basic(secret string) (string, bool) {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(secret)), strings.Contains(secret, ":")
}

// redirect makes the request that follows a response of the given status.
func (x *exchange) redirect(old *http.Request, status int, location string, given *Body) (*http.Request, error) {
	to, err := old.URL.Parse(location)
	if err != nil {
		return nil, value.Errorf(value.ProviderError, "%s redirects to an invalid URL", x.host())
	}
	if err := checkURL(to); err != nil {
		return nil, x.denied("%s redirects to a forbidden URL: %s", x.host(), reason(err))
	}
	if old.URL.Scheme == "https" && to.Scheme != "https" {
		return nil, x.denied("%s redirects from https to http", x.host())
	}
	to.Fragment, to.RawFragment = "", ""
	method := old.Method
	if status == 303 && method != http.MethodHead || (status == 301 || status == 302) && method == http.MethodPost {
		method = http.MethodGet
	}
	foreign := !sameOrigin(old.URL, to)
	if foreign && method != http.MethodGet && method != http.MethodHead {
		return nil, x.denied("%s redirects a %s request to another origin, %s", x.host(), method, plain.Line(to.Host, 100))
	}
	var body io.Reader
	if method == old.Method && old.Body != nil && !foreign {
		body = given.reader()
	}
	req, err := http.NewRequestWithContext(x.ctx, method, to.String(), body)
	if err != nil {
		return nil, value.Errorf(value.ProviderError, "%s redirects to an invalid URL", x.host())
	}
	for name, values := range old.Header {
		if foreign && !carried[name] || body == nil && strings.HasPrefix(name, "Content-") {
			continue
		}
		req.Header[name] = values
	}
	return req, nil
}

// carried are the headers another origin may see.
var carried = map[string]bool{"Accept": true, "Accept-Encoding": true, "Accept-Language": true, "User-Agent": true}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch p := u.Port(); {
	case p != "":
		return p
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// host is what messages call the other side.
func (x *exchange) host() string {
	if x.url == nil {
		return "the server"
	}
	return plain.Line(x.url.Host, 100)
}

// close gives everything back.
func (x *exchange) close() {
	if x.resp != nil {
		_ = x.resp.Body.Close() // the response is read, or given up
		x.resp = nil
	}
	if x.buf != nil {
		putBuffer(x.buf)
		x.buf = nil
	}
}
