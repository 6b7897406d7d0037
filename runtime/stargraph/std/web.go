package std

import (
	"context"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// The bounds of a request.
const (
	maxBody = 4 << 20
	maxText = 262_144 // characters of an answer that are told
	maxPage = 100_000 // characters of a page
	patient = 5 * time.Minute
)

// client asks public addresses, and those that the environment variable STARGRAPH_HTTP_ALLOW lists, separated by commas:
// "loopback", "private", an address, a range or a name. What a model asks for must not reach what only this machine does.
var client = sync.OnceValues(newClient)

func newClient() (*http.Client, *httptool.Client) {
	var allowed []string
	for _, s := range strings.Split(os.Getenv("STARGRAPH_HTTP_ALLOW"), ",") {
		if s = strings.TrimSpace(s); s != "" {
			allowed = append(allowed, s)
		}
	}
	c := httptool.NewClient(httptool.Allow(allowed...))
	return &http.Client{Transport: c, Timeout: patient}, c
}

// methods are those of a request.
var methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}

// HTTPRequest sends a request and gives {status_code, headers, text, url, truncated}, whatever the status is. A body is text or,
// as jsonBody, what becomes JSON; null stands for none. std.http_request@1.
func HTTPRequest(ctx context.Context, url, method string, headers, params map[string]string, body, jsonBody value.Value, timeoutS float64) (value.Value, error) {
	method = strings.ToUpper(method)
	if !slices.Contains(methods, method) {
		return value.Value{}, value.Errorf(value.ValidationError, "%q is not an HTTP method", method)
	}
	content := ""
	switch headers = maps.Clone(headers); {
	case !body.IsNull() && !jsonBody.IsNull():
		return value.Value{}, value.Errorf(value.ValidationError, "body and json_body exclude each other")
	case body.Kind() == value.StringKind:
		content = body.String()
	case !body.IsNull():
		return value.Value{}, value.Errorf(value.ValidationError, "body is not text")
	case !jsonBody.IsNull():
		data, err := jsonBody.MarshalJSON()
		if err != nil {
			return value.Value{}, value.Errorf(value.ValidationError, "json_body: %v", err)
		}
		content = string(data)
		if headers == nil {
			headers = map[string]string{}
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(headers)), func(k string) bool { return strings.EqualFold(k, "Content-Type") }) {
			headers["Content-Type"] = "application/json"
		}
	}
	a, err := send(ctx, url, method, headers, params, content, timeoutS)
	if err != nil {
		return value.Value{}, err
	}
	var list []value.Entry
	for _, k := range slices.Sorted(maps.Keys(a.head)) {
		list = append(list, text(strings.ToLower(k), strings.Join(a.head[k], ", ")))
	}
	short, truncated := cut(a.content, maxText)
	return value.Map(entry("status_code", value.Int(int64(a.status))), entry("headers", value.Map(list...)), text("text", short), text("url", a.url), entry("truncated", value.Bool(truncated))), nil
}

// FetchPage gets a page: {url, status_code, title, text, truncated}. Of a page of HTML the text is what can be read, without
// tags. std.fetch_page@1.
func FetchPage(ctx context.Context, url string, maxChars int64, timeoutS float64) (value.Value, error) {
	a, err := send(ctx, url, http.MethodGet, nil, nil, "", timeoutS)
	if err != nil {
		return value.Value{}, err
	}
	title, content := "", a.content
	if strings.Contains(a.head.Get("Content-Type"), "html") {
		title, content = readable(content)
	}
	short, truncated := cut(content, int(max(1, min(maxChars, maxPage))))
	return value.Map(text("url", a.url), entry("status_code", value.Int(int64(a.status))), text("title", title), text("text", short), entry("truncated", value.Bool(truncated))), nil
}

func entry(key string, v value.Value) value.Entry { return value.Entry{Key: key, Value: v} }

// cut is text up to a number of characters, and whether there is more.
func cut(s string, n int) (string, bool) {
	if len(s) <= n {
		return s, false
	}
	for i := range s {
		if n--; n < 0 {
			return s[:i], true
		}
	}
	return s, false
}

// An answer is what a server has said.
type answer struct {
	status  int
	head    http.Header
	content string
	url     string // after redirects
}

func send(ctx context.Context, address, method string, headers, params map[string]string, body string, timeoutS float64) (a answer, err error) {
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(max(0.001, min(timeoutS, patient.Seconds()))*float64(time.Second)))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, reader)
	if err != nil || req.URL.Scheme != "http" && req.URL.Scheme != "https" || req.URL.Host == "" {
		return a, value.Errorf(value.ValidationError, "%q is not a URL", address)
	}
	if len(params) > 0 {
		q := req.URL.Query()
		for k, v := range params {
			q.Set(k, v)
		}
		req.URL.RawQuery = q.Encode()
	}
	req.Header.Set("User-Agent", "flowgen-stargraph/1")
	for k, v := range headers {
		req.Header.Set(k, v)
	}
	c, guard := client()
	resp, err := c.Do(req)
	if err != nil {
		return a, guard.Failed(req, err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return a, guard.Failed(req, err)
	case len(data) > maxBody:
		return a, value.Errorf(value.PolicyDenied, "the response has more than %d MiB", maxBody>>20)
	}
	return answer{resp.StatusCode, resp.Header, strings.ToValidUTF8(string(data), "\uFFFD"), resp.Request.URL.String()}, nil
}
