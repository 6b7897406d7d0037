package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/stores"
)

// A cache, a file of usage and a tenant are named by flags, and by variables where the flag is not given.
func TestStoresOfTheCommandLine(t *testing.T) {
	for _, by := range []string{"flags", "variables"} {
		t.Run(by, func(t *testing.T) {
			dir := t.TempDir()
			calls := 0
			start := func(o ...runtime.Option) (*largeSample, error) {
				rt, err := flow.New(sampleInfo, o...)
				tool := func(context.Context, sampleInput) (string, error) { calls++; return "out", nil }
				return &largeSample{rt, flow.Bind("sample.kept@1", flow.Reads, tool, flow.CacheForever())}, err
			}
			say := func(tenant string) {
				t.Helper()
				set := map[string]string{"FLOWGEN_RUNS": "off"}
				args := []string{"--input", "repo=r", "--quiet"}
				for name, value := range map[string]string{"cache": "file:///" + strings.TrimPrefix(filepath.ToSlash(dir), "/") + "/cache", "usage": dir + "/usage.jsonl", "tenant": tenant} {
					if by == "flags" {
						args = append(args, "--"+name, value)
					} else {
						set["FLOWGEN_"+strings.ToUpper(name)] = value
					}
				}
				c := newConsole(args...)
				c.env = func(name string) string { return set[name] }
				if code := run(&c.system, &workflow{info: sampleInfo, run: bind(start)}); code != ExitOK || c.err.String() != "" {
					t.Fatalf("exit %d\n%s", code, c.err.String())
				}
			}
			say("acme")
			say("acme")
			say("other")
			if calls != 2 {
				t.Errorf("the tool ran %d times, not once for each tenant", calls)
			}
			text, err := os.ReadFile(filepath.Join(dir, "usage.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for line := range strings.Lines(string(text)) {
				var l usageLine
				if err := json.Unmarshal([]byte(line), &l); err != nil {
					t.Fatal(err)
				}
				if l.Run == "" || l.CallID == "" || l.Start == "" || l.Workflow != "sample" || l.Tool != "sample.kept@1" || l.Node != "log" || l.Effects != "reads" || l.Attempt != 1 {
					t.Errorf("line %s", line)
				}
				got = append(got, l.Tenant+map[bool]string{true: " cached"}[l.Cached])
			}
			if want := []string{"acme", "acme cached", "other"}; !slices.Equal(got, want) {
				t.Errorf("usage %v, want %v", got, want)
			}
		})
	}
}

// Stores that are not there are refused before the run, without their addresses, which may hold passwords.
func TestStoresThatAreNone(t *testing.T) {
	stores.Caches.Register("fails", func(string) (runtime.Cache, func() error, error) { return nil, nil, errors.New("no server") })
	for _, tt := range []struct{ flag, value, says string }{
		{"cache", "redis://:pass-word@h/0", "error: this program was built without the store of redis:// for cached results\nhelp: build it with flowgen build --stores redis\n"},
		{"blobs", "s3://bucket/pass-word", "error: this program was built without the store of s3:// for large outputs\nhelp: build it with flowgen build --stores s3\n"},
		{"cache", "reddis://pass-word", "error: unknown store of cached results at reddis://\nhelp: did you mean redis://?\n"},
		{"blobs", "ftp://pass-word", "error: unknown store of large outputs at ftp://\nhelp: --blobs and FLOWGEN_BLOBS take a folder, or a URL of s3\n"},
		{"cache", "fails://pass-word", "error: cannot keep cached results: no server\nhelp: --cache and FLOWGEN_CACHE name a folder that can be written, or a URL of redis, rediss, unix\n"},
		{"cache", "/dev/null/x", "error: cannot keep cached results: "},
		{"usage", "/dev/null/x", "error: cannot write usage: "},
	} {
		c := newConsole("--input", "repo=r", "--"+tt.flag, tt.value)
		code := c.run(func(context.Context, sampleInput) (sampleInput, error) { t.Error("it ran"); return sampleInput{}, nil })
		if code != ExitFault || !strings.HasPrefix(c.err.String(), tt.says) || strings.Contains(c.err.String(), "pass-word") {
			t.Errorf("--%s %s: exit %d\n%s", tt.flag, tt.value, code, c.err.String())
		}
	}
}

func TestStoreLeaves(t *testing.T) {
	for _, tt := range []struct {
		args, cache, blobs string
		want               []string
	}{
		{"--input a=b", "", "", nil},
		{"--cache redis://h", "", "", []string{"cache/redis"}},
		{"--cache=REDISS://h --blobs s3://b", "", "", []string{"cache/redis", "blob/s3"}},
		{"-blobs=s3://b/p", "redis://h", "", []string{"cache/redis", "blob/s3"}},
		{"--blobs /tmp/x", "file:///x", "s3://b", nil},
		{"", "", "s3://b", []string{"blob/s3"}},
		{"--cache", "", "", nil},
	} {
		env := map[string]string{"FLOWGEN_CACHE": tt.cache, "FLOWGEN_BLOBS": tt.blobs}
		if got := StoreLeaves(strings.Fields(tt.args), func(name string) string { return env[name] }); !slices.Equal(got, tt.want) {
			t.Errorf("%q, %q, %q: %v", tt.args, tt.cache, tt.blobs, got)
		}
	}
}
