package httptool

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

const (
	messageRunes = 300     // of the other side's own words in a message
	headerRunes  = 200     // of a header in the details
	bodyBytes    = 4 << 10 // of a body in the details
	longestWait  = 24 * 60 * 60
)

// stopped is the error of a call whose context has ended, as a failure cause may show before the context does: TIMEOUT
// for a deadline.
func (x *exchange) stopped(cause error) error {
	if err := x.outer.Err(); errors.Is(err, context.Canceled) {
		return err
	}
	deadline, _ := x.ctx.Deadline()
	if x.ctx.Err() == nil && !(errors.Is(cause, context.DeadlineExceeded) && time.Until(deadline) <= 0) {
		return nil
	}
	return &value.ToolError{Code: value.Timeout, Message: x.host() + " did not answer in time", Details: x.where()}
}

// failed translates the error of a request that got no whole response.
func (x *exchange) failed(err error) error {
	if err := x.stopped(err); err != nil {
		return err
	}
	var no *blocked
	if errors.As(err, &no) {
		host, address := plain.Line(no.host, 100), plain.Line(no.address, 64)
		e := value.Errorf(value.PolicyDenied, "%s was not contacted: its address %s is %s; policy.net.allow must name it", host, address, no.what)
		if host == address {
			e.Message = host + " was not contacted: it is " + no.what + "; policy.net.allow must name it"
		}
		e.Details = details("host", host, "address", address, "reason", no.what)
		return e
	}
	if text := err.Error(); strings.Contains(text, "response headers exceeded") || strings.Contains(text, "header list larger") {
		return x.denied("the response of %s has more than %d bytes of headers", x.host(), MaxHeader)
	}
	var (
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		message string
	)
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		message = "host not found"
	case errors.As(err, &dns):
		message = "its name could not be resolved"
	case errors.As(err, &record):
		message = "it does not speak TLS"
	case errors.As(err, &cert), errors.As(err, &alert):
		message = "TLS: " + reason(err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), strings.Contains(err.Error(), "server closed idle connection"):
		message = "the connection ended before the response did"
	default:
		message = reason(err)
	}
	return &value.ToolError{Code: value.NetworkError, Details: x.where(),
		Message: "no response from " + x.host() + ": " + plain.Line(x.redact(message), messageRunes)}
}

// reason returns the innermost error's text: the outer ones repeat URL and address. A *value.ToolError gives its message.
func reason(err error) string {
	var te *value.ToolError
	if errors.As(err, &te) {
		return te.Message
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// denied is the error of a cap or a redirect that is refused.
func (x *exchange) denied(format string, args ...any) error {
	e := value.Errorf(value.PolicyDenied, format, args...)
	e.Details = x.where()
	return e
}

// where says which request it was.
func (x *exchange) where() value.Value {
	if x.url == nil {
		return value.Null()
	}
	return details("method", x.method, "url", x.address())
}

// address is the URL without its query, which may hold what is nobody's business.
func (x *exchange) address() string {
	u := url.URL{Scheme: x.url.Scheme, Host: x.url.Host, Path: x.url.Path, RawPath: x.url.RawPath}
	return plain.Line(x.redact(u.String()), 500)
}

func details(pairs ...string) value.Value {
	entries := make([]value.Entry, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		entries = append(entries, value.Entry{Key: pairs[i], Value: value.String(pairs[i+1])})
	}
	return value.Map(entries...)
}

// codes are those of the statuses that do not mean that the other side failed.
var codes = map[int]value.Code{
	400: value.ValidationError, 422: value.ValidationError,
	401: value.AuthRequired, 403: value.AuthRequired,
	408: value.Timeout, 429: value.RateLimit,
}

// StatusCode returns the code of a response with a status other than 2xx.
func StatusCode(status int) value.Code {
	if code, ok := codes[status]; ok {
		return code
	}
	return value.ProviderError
}

// shown are the headers that details keep.
var shown = []string{"Content-Type", "Date", "Request-Id", "Retry-After", "Www-Authenticate",
	"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "X-Request-Id"}

// refused is the error of a status that is not 2xx.
func (x *exchange) refused() error {
	status := x.resp.StatusCode
	e := &value.ToolError{Code: StatusCode(status), Message: x.host() + " answered " + strconv.Itoa(status), RetryAfterS: retryAfter(x.resp.Header, time.Now())}
	if text := http.StatusText(status); text != "" {
		e.Message += " " + text
	}
	var headers []value.Entry
	for _, name := range shown {
		if v := x.resp.Header.Get(name); v != "" {
			headers = append(headers, value.Entry{Key: strings.ToLower(name), Value: value.String(plain.Line(x.redact(v), headerRunes))})
		}
	}
	body := x.preview()
	if own := saying(body); own != "" {
		e.Message += ": " + x.redact(plain.Line(x.redact(own), messageRunes))
	}
	e.Details = value.Map(
		value.Entry{Key: "status", Value: value.Int(int64(status))},
		value.Entry{Key: "method", Value: value.String(x.method)},
		value.Entry{Key: "url", Value: value.String(x.address())},
		value.Entry{Key: "headers", Value: value.Map(headers...)},
		value.Entry{Key: "body", Value: value.String(body)},
	)
	return e
}

// preview is the beginning of the body as printable text without secrets, empty when it is not text.
func (x *exchange) preview() string {
	defer x.hurry()()
	data, cut, err := x.body(2 * bodyBytes) // so that what is kept ends with a secret as a whole
	if err != nil && len(data) == 0 {
		return ""
	}
	kind, charset := x.contentType()
	text := string(data)
	if charset == "iso-8859-1" {
		text = string(latin1(data))
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.Count(text, "\uFFFD")+strings.Count(text, "\x00") > len(text)/8 {
		return ""
	}
	if cut || err != nil {
		text = x.redactor().Cut(text)
	}
	text = x.redact(text)
	if isHTML(kind) {
		_, text = htmlText(text)
	}
	return x.redact(printable(clip(text, bodyBytes))) // what was in pieces may have come together
}

// printable keeps line breaks and tabs and shows other control characters.
func printable(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		cells := strings.Split(strings.TrimSuffix(line, "\r"), "\t")
		for j := range cells {
			cells[j] = plain.Line(cells[j], 0)
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n")
}

// clip cuts text before the limit, between characters.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// saying is what a body says is wrong: the message of a JSON object, or a short text.
func saying(body string) string {
	var doc map[string]json.RawMessage
	if json.Unmarshal([]byte(body), &doc) != nil {
		if first, _, _ := strings.Cut(strings.TrimSpace(body), "\n"); len(first) <= messageRunes {
			return first
		}
		return ""
	}
	for _, key := range []string{"message", "detail", "error", "error_description", "title"} {
		var s string
		var inner struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(doc[key], &s) == nil && s != "" {
			return s
		}
		if json.Unmarshal(doc[key], &inner) == nil && inner.Message != "" {
			return inner.Message
		}
	}
	return ""
}

// retryAfter reads Retry-After, seconds or a date (RFC 9110, 10.2.3). A date counts from the server's own clock, when it
// tells the time. What is negative or nonsense does not count, and nobody is asked to wait longer than a day.
func retryAfter(h http.Header, now time.Time) *float64 {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return nil
	}
	if strings.Trim(text, "0123456789") == "" {
		n, err := strconv.ParseFloat(text, 64) // digits only: out of range at worst
		if err != nil {
			n = longestWait
		}
		return new(min(n, longestWait))
	}
	when, err := http.ParseTime(text)
	if err != nil {
		return nil
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return new(max(0, min(when.Sub(now).Seconds(), longestWait)))
}

// redact takes the secrets of the call out of text, in whatever form a server gives them back.
func (x *exchange) redact(text string) string { return x.redactor().Text(text) }

func (x *exchange) redactor() *redact.Redactor {
	if x.secrets == nil {
		x.secrets = tool.RedactorOf(x.ctx)
	}
	return x.secrets
}
