//go:build unix

package flowtest

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// What stands in the place of a cassette is not trusted: its case fails, and nothing outside of its folder is read or
// written.
func TestHostileCassettes(t *testing.T) {
	const header = `{"kind":"run","format":1,"workflow":"greet","seed":"1","begin":"2000-01-01T00:00:00Z"}` + "\n"
	call := func(rest string) string {
		return header + `{"kind":"end","key":"first","attempt":1,"tool":"greet.upper@1","effects":"reads",` + rest + "}\n"
	}
	for name, text := range map[string]string{
		"empty":                  "",
		"no journal":             "hello\n",
		"another format":         strings.Replace(header, `"format":1`, `"format":2`, 1),
		"a torn line":            call(`"input":{"text":"ada"},"output":"ADA"`)[:120],
		"an unknown kind":        header + `{"kind":"other"}` + "\n",
		"an unknown field":       call(`"input":{"text":"ada"},"output":"ADA","more":1`),
		"the same call twice":    call(`"input":{"text":"ada"},"output":"ADA"`) + strings.TrimPrefix(call(`"input":{"text":"ada"},"output":"ADA"`), header),
		"an output of no type":   call(`"input":{"text":"ada"},"output":{"x":1}`),
		"no output":              call(`"input":{"text":"ada"}`),
		"an input that is none":  call(`"input":7,"output":"ADA"`),
		"another tool":           strings.Replace(call(`"input":{"text":"ada"},"output":"ADA"`), "upper@1", "lower@1", 1),
		"a duplicate key":        call(`"input":{"text":"ada","text":"ada"},"output":"ADA"`),
		"an intent and no end":   strings.Replace(call(`"input":{"text":"ada"}`), `"end"`, `"intent"`, 1),
		"a call of another node": strings.Replace(call(`"input":{"text":"ada"},"output":"ADA"`), `"first"`, `"second"`, 1),
		"a very deep value":      call(`"input":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000)),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, "testdata"), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "testdata", "c.jsonl"), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			var ran atomic.Int64
			r := bind(info, starter(&ran)).execute(t.Context(), dir, one(t, `"input": {"name": "ada"}`), mode{})
			if len(r.Failures) == 0 || ran.Load() != 0 {
				t.Errorf("%+v, %d tools ran", r, ran.Load())
			}
		})
	}
}

func TestCassettesStayInTheirFolder(t *testing.T) {
	t.Setenv("FLOWTEST_TOKEN", secretValue)
	outside := t.TempDir()
	var ran atomic.Int64
	w := bind(info, starter(&ran))
	record := func(dir, name string) []string {
		c := one(t, `"input": {"name": "ada"}`)
		c.Cassette = name
		return messages(w.execute(t.Context(), dir, c, mode{record: true}))
	}
	for _, name := range []string{"../c.jsonl", "/tmp/c.jsonl", "a/../../c.jsonl", "", ".."} {
		if got := record(filepath.Join(outside, "in"), name); len(got) == 0 {
			t.Errorf("%q is a cassette", name)
		}
	}
	dir := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "testdata")); err != nil {
		t.Skip(err)
	}
	if got := record(dir, "testdata/c.jsonl"); len(got) == 0 || !strings.HasSuffix(got[0], "it is outside the folder of its test file") {
		t.Errorf("a link leads out of the folder: %q", got)
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 1 { // the folder "in"
		t.Errorf("written outside: %v, %v", left, err)
	}
	pipe := filepath.Join(t.TempDir(), "c.jsonl")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	c := one(t, `"input": {"name": "ada"}`)
	c.Cassette = "c.jsonl"
	if got := messages(w.execute(t.Context(), filepath.Dir(pipe), c, mode{})); len(got) == 0 || !strings.Contains(got[0], "not a regular file") {
		t.Errorf("a pipe is a cassette: %v", got)
	}
}
