package runs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/engine"
)

func TestMadeID(t *testing.T) {
	const at = "20260102T150405000-9f3c"
	for name, want := range map[string]bool{
		"a-" + at: true, "z-" + at: true, "A-" + at: true, "Z-" + at: true, "0-" + at: true, "9-" + at: true, "_-" + at: true, "--" + at: true,
		"`-" + at: false, "{-" + at: false, "@-" + at: false, "[-" + at: false, "/-" + at: false, ":-" + at: false, ".-" + at: false, "é-" + at: false,
		"-" + at: false, at: false, "a" + at: false, "a_" + at: false, "": false,
		strings.Repeat("a", 128) + "-" + at: true, strings.Repeat("a", 129) + "-" + at: false,
		"a-09999999T999999999-0000": true, "a-99999999T000000000-9999": true, "a-00000000T000000000-aaaa": true, "a-00000000T000000000-ffff": true,
		"a-/0000000T000000000-0000": false, "a-:0000000T000000000-0000": false, "a-a0000000T000000000-0000": false,
		"a-00000000T000000000-/000": false, "a-00000000T000000000-:000": false, "a-00000000T000000000-`000": false, "a-00000000T000000000-g000": false,
		"a-0000000000000000000-0000": false, "a-00000000t000000000-0000": false, "a-00000000T000000000_0000": false,
	} {
		if got := made(name); got != want {
			t.Errorf("made(%q) = %v", name, got)
		}
	}
}

func TestIDPrefix(t *testing.T) {
	for name, want := range map[string]string{
		"triage": "triage-", "w x": "w_x-", "w .x": "w_x-", "-w-": "w-", "a-b": "a-b-", "": "run-", "--": "run-", "é": "_-",
		strings.Repeat("a", 80): strings.Repeat("a", 80) + "-", strings.Repeat("a", 81): strings.Repeat("a", 80) + "-",
	} {
		if got := engine.RunIDPrefix(name); got != want {
			t.Errorf("RunIDPrefix(%q) = %q, want %q", name, got, want)
		}
	}
}

// What stands for several runs is an error that names three of them.
func TestFindSeveral(t *testing.T) {
	dir := t.TempDir()
	f := Open(dir, Options{})
	add := func(name string) {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const a, b, c, d = "w-20260102T150405000-0001", "w-20260102T150405000-0002", "w-20260102T150405000-0003", "w-20260102T150405000-0004"
	add(a)
	add("w-notes")
	if err := os.WriteFile(filepath.Join(dir, "w-20260102T150405000-00ff"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if id, err := f.Find("", "w-2"); id != a || err != nil {
		t.Errorf("of one: %q, %v", id, err)
	}
	add(b)
	add(c)
	if id, err := f.Find("", "w-2"); id != "" || err == nil || err.Error() != "3 runs begin with w-2: "+a+", "+b+", "+c {
		t.Errorf("of three: %q, %v", id, err)
	}
	add(d)
	if _, err := f.Find("", "w-2"); err == nil || err.Error() != "4 runs begin with w-2: "+a+", "+b+", "+c+", ..." {
		t.Errorf("of four: %v", err)
	}
	if id, err := f.Find("", b); id != b || err != nil {
		t.Errorf("a whole name: %q, %v", id, err)
	}
	if _, err := f.Find("v", "latest"); !errors.Is(err, ErrNoRun) {
		t.Errorf("another workflow: %v", err)
	}
	if id, err := f.Find("w", "latest~3"); err != nil || !isID(id) {
		t.Errorf("the fourth: %q, %v", id, err)
	}
	if _, err := f.Find("w", "latest~4"); !errors.Is(err, ErrNoRun) {
		t.Errorf("the fifth: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "w-20260102T150405000-00ff"), Options{}).Find("w", "latest"); err == nil || errors.Is(err, ErrNoRun) {
		t.Errorf("a file: %v", err)
	}
	if list, err := Open(filepath.Join(dir, "w-20260102T150405000-00ff"), Options{}).List(); err == nil {
		t.Errorf("a file has %v", list)
	}
	if list, err := f.List(); err != nil || len(list) != 0 {
		t.Errorf("runs that have not begun: %v, %v", list, err)
	}
}

func TestParseSync(t *testing.T) {
	for text, want := range map[string]Sync{"": Effect, "off": Off, "buffered": Buffered, "effect": Effect} {
		if got, err := ParseSync(text); got != want || err != nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if _, err := ParseSync("always"); err == nil {
		t.Error("always is no mode")
	}
}
