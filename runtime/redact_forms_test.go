package runtime

import (
	"html"
	"net/url"
	"testing"

	"pgregory.net/rapid"
)

// The forms that are written by hand are those of the packages they stand for.
func TestForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("aZ0-_.~!*'();:@&=+$,/?#[]%<>\"\\ \t\né")))).Draw(t, "s")
		if got, want := inQuery(s), url.QueryEscape(s); got != want {
			t.Fatalf("query of %q: %q, want %q", s, got, want)
		}
		if got, want := inPath(s), url.PathEscape(s); got != want {
			t.Fatalf("path of %q: %q, want %q", s, got, want)
		}
		if got, want := escapedHTML.Replace(s), html.EscapeString(s); got != want {
			t.Fatalf("HTML of %q: %q, want %q", s, got, want)
		}
	})
}
