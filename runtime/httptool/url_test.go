package httptool

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestExpand(t *testing.T) {
	const api = "https://api.example.com"
	for _, tt := range []struct {
		name   string
		target Target
		query  []Field
		want   string
		code   value.Code
		why    string
	}{
		{"constant", URL(api + "/a?b=c"), nil, api + "/a?b=c", "", ""},
		{"constant keeps dots", URL(api + "/a/../b"), nil, api + "/a/../b", "", ""},
		{"segment", URL(api+"/i/{id}", "a b/c?d#e&f=g%h+i@é"), nil, api + "/i/a%20b%2Fc%3Fd%23e%26f%3Dg%25h%2Bi%40%C3%A9", "", ""},
		{"segments", URL(api+"/r/{+repo}/p/{n}", "own/re po", "7"), nil, api + "/r/own/re%20po/p/7", "", ""},
		{"segments with a slash at the end", URL(api+"/{+k}", "a/b/"), nil, api + "/a/b/", "", ""},
		{"inside a segment", URL(api+"/v{n}.json", "1"), nil, api + "/v1.json", "", ""},
		{"dots in a name", URL(api+"/{f}", "..a..b.."), nil, api + "/..a..b..", "", ""},
		{"query in the URL", URL(api+"/s?q={q}&x=1", "a&b=c #/"), nil, api + "/s?q=a%26b%3Dc%20%23%2F&x=1", "", ""},
		{"empty in the query", URL(api+"/s?q={q}", ""), nil, api + "/s?q=", "", ""},
		{"query", URL(api + "/s"), []Field{{"q", "a b"}, {"q", "&"}, {"x[]", ""}}, api + "/s?q=a%20b&q=%26&x%5B%5D=", "", ""},
		{"query after query", URL(api + "/s?a=b"), []Field{{"q", "1"}}, api + "/s?a=b&q=1", "", ""},
		{"query without path", URL(api+"?a={a}", "1/../2"), []Field{{"q", "1"}}, api + "?a=1%2F..%2F2&q=1", "", ""},
		{"query without either", URL(api), []Field{{"q", "1"}}, api + "?q=1", "", ""},
		{"port", URL("http://127.0.0.1:{port}/x", "8080"), nil, "http://127.0.0.1:8080/x", "", ""},
		{"port of IPv6", URL("http://[::1]:{port}/x", "08080"), nil, "http://[::1]:8080/x", "", ""},

		{"empty segment", URL(api+"/i/{id}", ""), nil, "", value.ValidationError, "id is empty and would name another resource: it cannot be used in the URL"},
		{"empty segments", URL(api+"/i/{+id}", ""), nil, "", value.ValidationError, "id is empty and would name another resource: it cannot be used in the URL"},
		{"control", URL(api+"/i/{id}", "a\x00"), nil, "", value.ValidationError, "id has a control character: it cannot be used in the URL"},
		{"line break", URL(api+"/i/{id}", "a\r\nX: y"), nil, "", value.ValidationError, "id has a control character: it cannot be used in the URL"},
		{"other host", URL(api+"/{+p}", "/evil.com"), nil, "", value.ValidationError, "p has an empty path segment: it cannot be used in the URL"},
		{"empty inside", URL(api+"/{+p}", "a//b"), nil, "", value.ValidationError, "p has an empty path segment: it cannot be used in the URL"},
		{"port as text", URL("http://h:{port}/", "80@evil.com"), nil, "", value.ValidationError, "port is not a port: it cannot be used in the URL"},
		{"port too large", URL("http://h:{port}/", "65536"), nil, "", value.ValidationError, "port is not a port: it cannot be used in the URL"},
		{"host", URL("https://{h}/", "80"), nil, "", value.ValidationError, "h is not a port: it cannot be used in the URL"},
		{"part of a host", URL("https://a.{h}/", "80"), nil, "", value.ValidationError, "h is not a port: it cannot be used in the URL"},
		{"part of an IPv6 host", URL("https://[::{h}]/", "80"), nil, "", value.ValidationError, "h is not a port: it cannot be used in the URL"},
		{"two places in a port", URL("https://h:{a}{b}/", "80", "80"), nil, "", value.ValidationError, "b is not a port: it cannot be used in the URL"},
		{"scheme", URL("{s}/x", "https://evil.com"), nil, "", value.ValidationError, "the URL has no scheme, or has a fragment"},
		{"fragment", URL(api + "/#{x}"), nil, "", value.ValidationError, "the URL has no scheme, or has a fragment"},
		{"too few values", URL(api + "/{x}"), nil, "", value.ValidationError, "the URL has more places than values"},
		{"open brace", URL(api + "/{x"), nil, "", value.ValidationError, "the URL has a brace that is not closed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.target.expand(tt.query)
			if tt.code == "" {
				if err != nil || got != tt.want {
					t.Errorf("got %q, %v\nwant %q", got, err, tt.want)
				}
				return
			}
			wantTool(t, err, tt.code, tt.why)
		})
	}
}

// Whatever servers make a parent directory of is refused.
func TestDotSegments(t *testing.T) {
	for _, v := range []string{".", "..", "../x", "a/../../b", "a/..", `..\x`, `a\..\b`, "%2e%2e", "..%2fx", "%252e%252e/x", "..;x/y", "./x"} {
		for _, template := range []string{"https://h/a/{x}/b", "https://h/a/{+x}", "https://h/a/{x}?q=1"} {
			_, err := URL(template, v).expand(nil)
			var te *value.ToolError
			if !errors.As(err, &te) || te.Code != value.ValidationError {
				t.Errorf("%s with %q: got %v, want VALIDATION_ERROR", template, v, err)
			}
		}
	}
	if _, err := URL("https://h/a/.{x}", ".").expand(nil); err == nil {
		t.Error("a dot segment of two parts was accepted")
	}
	if got, err := URL("https://h/a?x={x}", "../..").expand(nil); err != nil || got != "https://h/a?x=..%2F.." {
		t.Errorf("in the query: %q, %v", got, err)
	}
}

// Any value, in any place, leaves scheme, host, the other segments and the other query values as they are.
func TestValuesStayInTheirPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("./\\%2eEfF;?#&=@:+ a\x00\n")), 0, 12, -1))
		id, many, q, r := text.Draw(t, "id"), text.Draw(t, "many"), text.Draw(t, "q"), text.Draw(t, "r")
		got, err := URL("https://api.example.com:8443/x/{id}/y/{+many}/z?q={q}&k=v", id, many, q).expand([]Field{{"r", r}})
		if err != nil {
			return
		}
		u, err := url.Parse(got)
		if err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		if u.Scheme != "https" || u.Host != "api.example.com:8443" || u.User != nil || u.Fragment != "" {
			t.Fatalf("%q leads elsewhere", got)
		}
		parts := strings.Split(u.EscapedPath(), "/")
		if n := 6 + strings.Count(many, "/"); len(parts) != n || parts[1] != "x" || parts[3] != "y" || parts[len(parts)-1] != "z" {
			t.Fatalf("path of %q is %q", got, parts)
		}
		if back, err := url.PathUnescape(parts[2]); err != nil || back != id {
			t.Fatalf("id %q came back as %q, %v", id, back, err)
		}
		query, err := url.ParseQuery(u.RawQuery)
		if err != nil || len(query) != 3 || query.Get("q") != q || query.Get("k") != "v" || query.Get("r") != r {
			t.Fatalf("query of %q is %q, %v", got, query, err)
		}
	})
}

func FuzzExpand(f *testing.F) {
	f.Add("https://h/{x}", "a")
	f.Add("https://h:{x}/", "1")
	f.Add("http://[::1]:{x}/{+x}?{x}", "..")
	f.Fuzz(func(t *testing.T, template, value string) {
		if !strings.HasPrefix(template, "https://") && !strings.HasPrefix(template, "http://") {
			return // the compiler lets no other template through
		}
		got, err := URL(template, value, value, value).expand([]Field{{value, value}})
		if err != nil {
			return
		}
		harmless, err := URL(template, "1", "1", "1").expand(nil)
		if err != nil {
			t.Fatalf("%q takes %q and refuses 1: %v", template, value, err)
		}
		a, aerr := url.Parse(harmless)
		b, berr := url.Parse(got)
		if aerr == nil && berr == nil && !strings.Contains(authorityOf(template), "{") && !strings.EqualFold(a.Host, b.Host) {
			t.Fatalf("%q with %q leads to %q instead of %q", template, value, b.Host, a.Host)
		}
	})
}

func authorityOf(template string) string {
	_, rest, _ := strings.Cut(template, "://")
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		rest = rest[:i]
	}
	return rest
}
