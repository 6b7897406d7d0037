package atomicfile

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.go")
	read := func() string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if err := Write(name, []byte("one")); err != nil || read() != "one" {
		t.Fatalf("new file: %v, %q", err, read())
	}
	if err := os.Chmod(name, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(name, []byte("two")); err != nil || read() != "two" {
		t.Fatalf("existing file: %v, %q", err, read())
	}
	if st, _ := os.Stat(name); runtime.GOOS != "windows" && st.Mode().Perm() != 0o755 {
		t.Errorf("mode became %v", st.Mode())
	}
	if err := Write(filepath.Join(dir, "no", "such", "folder"), nil); err == nil {
		t.Error("a missing folder is no error")
	}

	if runtime.GOOS != "windows" {
		link := filepath.Join(dir, "link.go")
		if err := os.Symlink("a.go", link); err != nil {
			t.Fatal(err)
		}
		if err := Write(link, []byte("three")); err != nil || read() != "three" {
			t.Errorf("through a link: %v, %q", err, read())
		}
		if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
			t.Error("the link is gone")
		}
	}
}

func TestWriteConcurrently(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.go")
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := Write(name, []byte(strings.Repeat(string(rune('a'+i)), 10000))); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	text, err := os.ReadFile(name)
	if err != nil || len(text) != 10000 || strings.Trim(string(text), string(text[:1])) != "" {
		t.Errorf("%v, %d bytes mixed", err, len(text))
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

// A link in a repository must not make flowgen write a file somewhere else.
func TestLinkOut(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "kept")
	if err := os.WriteFile(outside, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	link := filepath.Join(dir, "flowgen.lock")
	if err := os.Symlink(outside, link); err != nil {
		t.Skip(err)
	}
	if err := Write(link, []byte("new")); err == nil || !strings.Contains(err.Error(), "link to a file in another folder") {
		t.Errorf("error %v", err)
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != "kept" {
		t.Errorf("%q, %v", b, err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}
