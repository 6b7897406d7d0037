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

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
)

// The bounds of a request.
const (
	maxBody = 4 << 20
	patient = 30 * time.Second
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

// HTTPRequest sends a request and gives {status, headers, body}, whatever the status is. std.http_request@1.
func HTTPRequest(ctx context.Context, url, method string, headers map[string]string, body string) (runtime.Value, error) {
	status, head, content, err := send(ctx, url, strings.ToUpper(method), headers, body)
	if err != nil {
		return runtime.Value{}, err
	}
	var list []runtime.Entry
	for _, k := range slices.Sorted(maps.Keys(head)) {
		list = append(list, text(strings.ToLower(k), strings.Join(head[k], ", ")))
	}
	return runtime.MapValue(runtime.Entry{Key: "status", Value: runtime.IntValue(int64(status))}, runtime.Entry{Key: "headers", Value: runtime.MapValue(list...)}, text("body", content)), nil
}

// FetchPage gets a page: {url, status, content}. std.fetch_page@1.
func FetchPage(ctx context.Context, url string) (runtime.Value, error) {
	status, _, content, err := send(ctx, url, http.MethodGet, nil, "")
	if err != nil {
		return runtime.Value{}, err
	}
	return runtime.MapValue(text("url", url), runtime.Entry{Key: "status", Value: runtime.IntValue(int64(status))}, text("content", content)), nil
}

func send(ctx context.Context, url, method string, headers map[string]string, body string) (status int, head http.Header, content string, err error) {
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, reader)
	if err != nil || req.URL.Scheme != "http" && req.URL.Scheme != "https" || req.URL.Host == "" {
		return 0, nil, "", runtime.Errorf(runtime.ValidationError, "%q is no address of a request", url)
	}
	for k, v := range headers {
		req.Header.Set(k, v)
	}
	c, guard := client()
	resp, err := c.Do(req)
	if err != nil {
		return 0, nil, "", guard.Failed(req, err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return 0, nil, "", guard.Failed(req, err)
	case len(data) > maxBody:
		return 0, nil, "", runtime.Errorf(runtime.PolicyDenied, "the response has more than %d MiB", maxBody>>20)
	}
	return resp.StatusCode, resp.Header, strings.ToValidUTF8(string(data), "\uFFFD"), nil
}
