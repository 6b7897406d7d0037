package program

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/internal/offline"
)

// TestRefusals: what a go.mod, a go.work, a vendor folder or GOFLAGS keeps from being built is told with the file of the user
// that says so, on one line for each mistake, and always ends.
func TestRefusals(t *testing.T) {
	const mod = "module example.com/m\n\ngo 1.24\n"
	const other = "package out\n\nfunc Say() string { return `` }\n"
	goEnv := offline.Env(t)
	for _, tt := range []struct {
		name, flags, tool string
		files             map[string]string
		want              string
	}{
		{name: "newer go", files: map[string]string{"m/go.mod": "module example.com/m\n\ngo 1.99\n"}, want: "go.mod requires go >= 1.99"},
		{name: "unknown godebug", files: map[string]string{"m/go.mod": mod + "godebug nonsense=1\n"}, want: `go.mod:5: unknown godebug "nonsense"`},
		{name: "no module", files: map[string]string{"m/go.mod": "go 1.24\n"}, want: "go.mod: the file names no module"},
		{name: "unreadable", files: map[string]string{"m/go.mod": mod + "nonsense\n"}, want: "go.mod:4: unknown directive: nonsense"},
		{name: "toolchain of the repository", files: map[string]string{"m/go.mod": mod + "toolchain ../../evil\n"}, want: "go.mod:4: invalid toolchain version"},
		{name: "sums", files: map[string]string{"m/go.sum": "junk\n"}, want: "malformed go.sum:"},
		{name: "flowgen without its packages", files: map[string]string{"m/go.mod": "module github.com/flowgen-dev/flowgen\n\ngo 1.24\n"},
			want: "go.mod:1: module github.com/flowgen-dev/flowgen is flowgen's own"}, // the go command looked for its packages for ever
		{name: "flowgen's runtime", files: map[string]string{"m/go.mod": "module github.com/flowgen-dev/flowgen/runtime\n\ngo 1.24\n"}, want: "go.mod:1: module"},
		{name: "flags", flags: "nonsense", want: `parsing $GOFLAGS: non-flag "nonsense"`},
		{name: "cut flags", flags: "'-mod=mod", want: "parsing $GOFLAGS: unterminated ' string"},
		{name: "workspace", tool: "example.com/out", files: map[string]string{"go.work": "go 1.26\nuse ./m\nuse ./out\n", "out/go.mod": "module example.com/out\n\ngo 1.24\n", "out/out.go": other},
			want: "go.mod does not require github.com/flowgen-dev/flowgen/runtime, so "},
		{name: "vendor", tool: "example.com/out", files: map[string]string{"m/go.mod": mod + "require example.com/out v0.1.0\n", "m/vendor/example.com/out/out.go": other,
			"m/vendor/modules.txt": "# example.com/out v0.1.0\n## explicit; go 1.24\nexample.com/out\n"}, want: "vendor is not used; add it with `go get github.com/flowgen-dev/flowgen/runtime`"},
		{name: "replaced by nothing", files: map[string]string{"m/go.mod": mod + "require example.com/out v0.0.0\nreplace example.com/out => ../gone\n"}, want: "(replaced by ../gone)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			above, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(above, "m")
			write(t, dir, map[string]string{"go.mod": mod, "demo.flowgen.yaml": "x"})
			write(t, above, tt.files)
			for name, value := range goEnv {
				t.Setenv(name, value)
			}
			t.Setenv("GOFLAGS", tt.flags)
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			defer cancel()
			say := `""`
			if tt.tool != "" {
				say = "Say()"
			}
			_, err = OpenCache(filepath.Join(above, "cache")).Executable(ctx, source(dir, "demo", tt.tool, say))
			if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			if text := err.Error(); strings.Contains(text, "scratch") || strings.Contains(text, "exit status") || strings.Contains(text, "zz_flowgen") || strings.Contains(text, "\n\t") ||
				!strings.Contains(text, "demo.flowgen.yaml: ") && !strings.Contains(text, "go.mod:") {
				t.Errorf("a message of the go command: %v", err)
			}
		})
	}
}

// TestSaid: the lines of the go command become those of an error.
func TestSaid(t *testing.T) {
	sep := string(os.PathSeparator)
	w := &workspace{scratch: sep + "cache" + sep + "1", root: sep + "m", dir: sep + "m" + sep + "flow", pattern: "./zz"}
	got := w.said("go: downloading x v1\ngo: finding module for package y\ngo: error loading go.mod:\n/cache/1/go.mod:5: a \x1b[31m\u202eb\nzz/main.go:4:2: no y\nzz/x_flow.go:9:2: no y\n" +
		"# example.com/m\n../../cache/1/user_a.go:3:1: undefined: b\n\thave c\n" + strings.Repeat("x", 1000) + "\n")
	want := []string{"error loading go.mod: /m/go.mod:5: a \ufffd[31m\ufffdb", "no y", "# example.com/m", "/m/flow/a.go:3:1: undefined: b have c", strings.Repeat("x", runesSaid) + "..."}
	if strings.Join(got, "\n") != strings.ReplaceAll(strings.Join(want, "\n"), "/m/", sep+"m"+sep) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got := w.said("\n"); len(got) != 1 || got[0] != "it failed without a message" {
		t.Errorf("got %q", got)
	}
}
