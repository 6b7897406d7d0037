package std

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"html"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// maxResults is how many results a search gives at most.
const maxResults = 25

// Where searches ask. An environment variable names another server that answers alike.
const (
	duckDuckGo = "https://html.duckduckgo.com/html/"
	arxiv      = "https://export.arxiv.org/api/query"
)

// server is the address of a search.
func server(variable, usual string) string {
	if s := os.Getenv(variable); s != "" {
		return s
	}
	return usual
}

var (
	resultLink = regexp.MustCompile(`(?s)<a[^>]*class="result__a"[^>]*href="([^"]*)"[^>]*>(.*?)</a>`)
	resultText = regexp.MustCompile(`(?s)class="result__snippet"[^>]*>(.*?)</a>`)
)

// WebSearch asks DuckDuckGo, or the server of the environment variable STARGRAPH_WEB_SEARCH_URL that answers as it does:
// {query, results: [{title, url, snippet}]}. std.web_search@1.
func WebSearch(ctx context.Context, query string, maxCount int64) (value.Value, error) {
	a, err := ask(ctx, server("STARGRAPH_WEB_SEARCH_URL", duckDuckGo), map[string]string{"q": query}, patient.Seconds())
	if err != nil {
		return value.Value{}, err
	}
	limit := int(max(1, min(maxCount, maxResults)))
	var results []value.Value
	places := resultLink.FindAllStringSubmatchIndex(a.content, limit)
	for i, m := range places {
		end := len(a.content)
		if i+1 < len(places) {
			end = places[i+1][0]
		}
		snippet := ""
		if s := resultText.FindStringSubmatch(a.content[m[1]:end]); s != nil {
			snippet = plainText(s[1])
		}
		results = append(results, value.Map(text("title", plainText(a.content[m[4]:m[5]])), text("url", target(a.content[m[2]:m[3]])), text("snippet", snippet)))
	}
	return found(query, results), nil
}

// target is the address that a link of the search leads to.
func target(href string) string {
	href = html.UnescapeString(href)
	if u, err := url.Parse(href); err == nil && u.Query().Get("uddg") != "" {
		return u.Query().Get("uddg")
	}
	return href
}

func found(query string, results []value.Value) value.Value {
	return value.Map(text("query", query), entry("results", value.List(results...)))
}

// ask gets what a search answers; another status than 200 is an error.
func ask(ctx context.Context, address string, params map[string]string, timeoutS float64) (answer, error) {
	a, err := send(ctx, address, http.MethodGet, nil, params, "", timeoutS)
	if err == nil && a.status != http.StatusOK {
		err = value.Errorf(value.ProviderError, "the search answers with the status %d", a.status)
	}
	return a, err
}

var language = regexp.MustCompile(`^[a-z]{2,3}(-[a-z0-9]{2,8})?$`)

// Wikipedia searches articles: {query, results: [{title, description, excerpt, url}]}. The environment variable
// STARGRAPH_WIKIPEDIA_URL names another server. std.wikipedia@1.
func Wikipedia(ctx context.Context, query, lang string, limit int64, timeoutS float64) (value.Value, error) {
	if !language.MatchString(lang) {
		return value.Value{}, value.Errorf(value.ValidationError, "%q is not a Wikipedia language", lang)
	}
	base := server("STARGRAPH_WIKIPEDIA_URL", "https://"+lang+".wikipedia.org")
	a, err := ask(ctx, base+"/w/rest.php/v1/search/page", map[string]string{"q": query, "limit": strconv.FormatInt(max(1, min(limit, 20)), 10)}, timeoutS)
	if err != nil {
		return value.Value{}, err
	}
	var said struct {
		Pages []struct{ Key, Title, Description, Excerpt string }
	}
	if err := json.Unmarshal([]byte(a.content), &said); err != nil {
		return value.Value{}, value.Errorf(value.ProviderError, "Wikipedia answers with no JSON that is known: %v", err)
	}
	var results []value.Value
	for _, p := range said.Pages {
		at := ""
		if p.Key != "" {
			at = base + "/wiki/" + url.PathEscape(p.Key)
		}
		results = append(results, value.Map(text("title", p.Title), text("description", p.Description), text("excerpt", plainText(p.Excerpt)), text("url", at)))
	}
	return found(query, results), nil
}

// ArxivSearch searches papers: {query, results: [{title, summary, authors, published, url, pdf_url}]}. The environment variable
// STARGRAPH_ARXIV_URL names another server. std.arxiv@1.
func ArxivSearch(ctx context.Context, query string, maxCount int64, timeoutS float64) (value.Value, error) {
	a, err := ask(ctx, server("STARGRAPH_ARXIV_URL", arxiv), map[string]string{"search_query": "all:" + query, "start": "0", "max_results": strconv.FormatInt(max(1, min(maxCount, maxResults)), 10)}, timeoutS)
	if err != nil {
		return value.Value{}, err
	}
	var feed struct {
		Entries []struct {
			Title     string   `xml:"title"`
			Summary   string   `xml:"summary"`
			ID        string   `xml:"id"`
			Published string   `xml:"published"`
			Authors   []string `xml:"author>name"`
			Links     []struct {
				Title string `xml:"title,attr"`
				Href  string `xml:"href,attr"`
			} `xml:"link"`
		} `xml:"entry"`
	}
	if strings.Contains(a.content, "<!DOCTYPE") || strings.Contains(a.content, "<!ENTITY") {
		return value.Value{}, value.Errorf(value.ProviderError, "arXiv answers with a document that declares entities")
	}
	if err := xml.Unmarshal([]byte(a.content), &feed); err != nil {
		return value.Value{}, value.Errorf(value.ProviderError, "arXiv answers with no XML that is known: %v", err)
	}
	line := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	var results []value.Value
	for _, e := range feed.Entries {
		var authors []value.Value
		for _, name := range e.Authors {
			authors = append(authors, value.String(line(name)))
		}
		pdf := ""
		for _, l := range e.Links {
			if l.Title == "pdf" {
				pdf = l.Href
				break
			}
		}
		results = append(results, value.Map(text("title", line(e.Title)), text("summary", line(e.Summary)), entry("authors", value.List(authors...)),
			text("published", line(e.Published)), text("url", line(e.ID)), text("pdf_url", pdf)))
	}
	return found(query, results), nil
}

var (
	hidden  = regexp.MustCompile(`(?is)<(?:script|style|noscript|template|svg|nav|header|footer|aside|form)\b.*?</(?:script|style|noscript|template|svg|nav|header|footer|aside|form)\s*>|<!--.*?-->`)
	head    = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	body    = regexp.MustCompile(`(?is)<(?:article|main)\b[^>]*>(.*)</(?:article|main)\s*>`)
	blocks  = regexp.MustCompile(`(?i)</?(?:p|br|div|li|tr|h[1-6])[^>]*>`)
	tags    = regexp.MustCompile(`<[^>]+>`)
	blanks  = regexp.MustCompile(`[ \t]+`)
	newline = regexp.MustCompile(`\s*\n\s*`)
)

// readable is the title of a page and the text that can be read on it: of its article, where it has one.
func readable(page string) (title, content string) {
	if m := head.FindStringSubmatch(page); m != nil {
		title = plainText(m[1])
		page = strings.Replace(page, m[0], "", 1)
	}
	if m := body.FindStringSubmatch(page); m != nil {
		page = m[1]
	}
	return title, plainText(page)
}

// plainText is the text of a piece of HTML, with a line for each block.
func plainText(s string) string {
	s = tags.ReplaceAllString(blocks.ReplaceAllString(hidden.ReplaceAllString(s, " "), "\n"), " ")
	return strings.TrimSpace(newline.ReplaceAllString(blanks.ReplaceAllString(html.UnescapeString(s), " "), "\n"))
}
