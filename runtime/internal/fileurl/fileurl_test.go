package fileurl_test

import (
	"net/url"
	"testing"

	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/runtime/internal/fileurl"
)

// TestLikeNetURL: URLs are written and read as net/url does it.
func TestLikeNetURL(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := "/" + rapid.String().Draw(t, "path")
		address := fileurl.Of(path)
		if want := (&url.URL{Scheme: "file", Path: path}).String(); address != want && path != "/*" {
			t.Fatalf("the URL of %q is %s, want %s", path, address, want)
		}
		if got, ok := fileurl.Path(address); !ok || got != path {
			t.Fatalf("%s is the path %q, %v", address, got, ok)
		}
		any := rapid.StringMatching(`(file|FILE|http|fil)?:?/{0,4}[a-z%0-9A-F?#\x00-\x20 \[]{0,12}`).Draw(t, "url")
		u, err := url.Parse(any)
		if got, ok := fileurl.Path(any); ok && (err != nil || u.Scheme != "file" || u.Host != "" || u.Path != got) {
			t.Fatalf("%q is the path %q, not %q of %q: %v", any, got, u.Path, u.Scheme, err)
		}
	})
}
