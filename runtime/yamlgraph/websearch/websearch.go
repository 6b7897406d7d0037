// Package websearch makes tools that search the web, for agents of YAMLGraph files: DuckDuckGo's page without scripts is
// asked, which takes no key.
package websearch

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Endpoint is where is searched.
const Endpoint = "https://html.duckduckgo.com/html/"

const (
	maxPage = 4 << 20 // bytes of a page
	timeout = 30 * time.Second
)

// Bind makes a tool that searches for the `query` of its input and gives the first results, at most so many, as text: the
// title of each, its address and a piece of its text. Errors are RATE_LIMIT, TIMEOUT, NETWORK_ERROR and PROVIDER_ERROR,
// and VALIDATION_ERROR for a query that is not text.
func Bind(name string, results int, o ...flow.ToolOption) *flow.Tool[value.Value, value.Value] {
	return bind(name, Endpoint, results, &http.Client{Transport: httptool.NewClient(), Timeout: timeout}, o...)
}

func bind(name, endpoint string, results int, client *http.Client, o ...flow.ToolOption) *flow.Tool[value.Value, value.Value] {
	return flow.Bind(name, flow.Reads, func(ctx context.Context, in value.Value) (value.Value, error) {
		query, ok := in.Get("query")
		if !ok || query.Kind() != value.StringKind || strings.TrimSpace(query.String()) == "" {
			return value.Null(), value.Invalid("`query` is text")
		}
		page, err := fetch(ctx, client, endpoint, query.String())
		if err != nil {
			return value.Null(), err
		}
		return value.String(text(query.String(), found(page, results))), nil
	}, append([]flow.ToolOption{tool.Cancellable(), flow.MaxOutput(-1)}, o...)...)
}

// fetch asks for the page of results.
func fetch(ctx context.Context, client *http.Client, endpoint, query string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(url.Values{"q": {query}}.Encode()))
	if err != nil {
		return "", value.Invalid("this cannot be searched for: %v", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("User-Agent", "Mozilla/5.0 (compatible; flowgen)")
	resp, err := client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", value.Errorf(value.NetworkError, "the search failed: %v", err)
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusAccepted:
		return "", value.Errorf(value.RateLimit, "the search engine answered %d: too many searches", resp.StatusCode)
	case resp.StatusCode != http.StatusOK:
		return "", value.Errorf(value.ProviderError, "the search engine answered %d", resp.StatusCode)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxPage))
	if err != nil {
		return "", value.Errorf(value.NetworkError, "the search failed: %v", err)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD"), nil
}

// A result is one of a page.
type result struct{ title, address, body string }

var (
	link    = regexp.MustCompile(`(?s)<a[^>]*class="result__a"[^>]*href="([^"]*)"[^>]*>(.*?)</a>`)
	snippet = regexp.MustCompile(`(?s)class="result__snippet"[^>]*>(.*?)</a>`)
	tag     = regexp.MustCompile(`<[^>]*>`)
)

// found are the results of a page, without advertisements.
func found(page string, most int) []result {
	var out []result
	links := link.FindAllStringSubmatchIndex(page, -1)
	for i, m := range links {
		end := len(page)
		if i+1 < len(links) {
			end = links[i+1][0]
		}
		r := result{title: plain(page[m[4]:m[5]]), address: target(html.UnescapeString(page[m[2]:m[3]]))}
		if r.address == "" {
			continue
		}
		if s := snippet.FindStringSubmatch(page[m[1]:end]); s != nil {
			r.body = plain(s[1])
		}
		if out = append(out, r); len(out) == most {
			break
		}
	}
	return out
}

func plain(s string) string {
	return strings.Join(strings.Fields(html.UnescapeString(tag.ReplaceAllString(s, ""))), " ")
}

// target is the address that a link of the engine leads to; empty for an advertisement.
func target(href string) string {
	u, err := url.Parse(href)
	if err != nil || strings.HasSuffix(u.Path, "/y.js") {
		return ""
	}
	if to := u.Query().Get("uddg"); to != "" {
		return to
	}
	if u.Scheme == "" && u.Host != "" {
		u.Scheme = "https"
	}
	return u.String()
}

func text(query string, list []result) string {
	if len(list) == 0 {
		return "No results found for query: '" + query + "'"
	}
	lines := []string{"Search results for '" + query + "':\n"}
	for i, r := range list {
		lines = append(lines, fmt.Sprintf("%d. %s\n   URL: %s", i+1, r.title, r.address))
		if r.body != "" {
			lines = append(lines, "   "+r.body)
		}
		lines = append(lines, "")
	}
	return strings.Join(lines, "\n")
}
