package programs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The go command gets no settings and no cache program of the repository, however they are named.
func TestOwnSettings(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	repo, own := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(repo, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(own, "link")
	if err := os.Symlink(repo, link); err != nil {
		t.Fatal(err)
	}
	last := func(env []string, name string) (value string) {
		for _, v := range env {
			if text, ok := strings.CutPrefix(v, name+"="); ok {
				value = text
			}
		}
		return value
	}
	for _, c := range []struct{ set, config, name, want string }{
		{"GOENV=go.env", own, "GOENV", "off"},
		{"GOENV=" + repo + "/go.env", own, "GOENV", "off"},
		{"GOENV=" + link + "/go.env", own, "GOENV", "off"},
		{"GOENV=" + own + "/go.env", own, "GOENV", own + "/go.env"},
		{"GOENV=off", repo, "GOENV", "off"},
		{"A=b", repo, "GOENV", "off"},
		{"A=b", own, "GOENV", ""},
		{"GOCACHEPROG='" + repo + "/prog'", own, "GOCACHEPROG", ""},
		{"GOCACHEPROG= \"" + repo + "/a b\" c", own, "GOCACHEPROG", ""},
		{"GOCACHEPROG=./prog --flag", own, "GOCACHEPROG", ""},
		{"GOCACHEPROG='" + link + "/prog' x", own, "GOCACHEPROG", ""},
		{"GOCACHEPROG='" + own + "/prog' --dir " + repo, own, "GOCACHEPROG", "'" + own + "/prog' --dir " + repo},
		{"GOCACHEPROG=prog", own, "GOCACHEPROG", "prog"}, // looked for in PATH, which has no folder of the repository
	} {
		t.Setenv("XDG_CONFIG_HOME", c.config)
		for kind, made := range map[string][]string{"look": GoEnvironment([]string{c.set}, repo), "build": BuildEnvironment([]string{c.set}, repo)} {
			if got := last(made, c.name); got != c.want {
				t.Errorf("%s: %s, settings in %s: %s=%s, not %q", kind, c.set, c.config, c.name, got, c.want)
			}
		}
	}
}
