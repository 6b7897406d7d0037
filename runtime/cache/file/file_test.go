package file

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

var _ runtime.Cache = (*Cache)(nil)

func key(i int) string { return fmt.Sprintf("%064x", i) }

func opened(t *testing.T, dir string, o ...Option) *Cache {
	t.Helper()
	c, err := Open(dir, o...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestKeepsAcrossPrograms(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	c := opened(t, dir)
	c.Put(t.Context(), key(1), []byte("value"), 0)
	c.Put(t.Context(), key(2), nil, 0)
	c.Put(t.Context(), key(1), []byte("newer"), 0)
	again := opened(t, dir)
	if v, ok := again.Get(t.Context(), key(1)); !ok || string(v) != "newer" {
		t.Errorf("%q, %v", v, ok)
	}
	if v, ok := again.Get(t.Context(), key(2)); !ok || len(v) != 0 {
		t.Errorf("%q, %v", v, ok)
	}
	if _, ok := again.Get(t.Context(), key(3)); ok {
		t.Error("a value that nobody has put")
	}
	files, _ := filepath.Glob(dir + "/*")
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 && goruntime.GOOS != "windows" { // whose files have no such bits
			t.Errorf("%s: %v, %v", f, info.Mode(), err)
		}
	}
}

func TestExpires(t *testing.T) {
	c := opened(t, t.TempDir())
	now := time.Now()
	c.now = func() time.Time { return now }
	c.Put(t.Context(), key(1), []byte("v"), time.Minute)
	now = now.Add(59 * time.Second)
	if _, ok := c.Get(t.Context(), key(1)); !ok {
		t.Error("gone too early")
	}
	now = now.Add(time.Second)
	if _, ok := c.Get(t.Context(), key(1)); ok {
		t.Error("there too long")
	}
}

// Every change of a byte, every cut, and everything that is not an entry is a miss.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	c := opened(t, dir)
	path := filepath.Join(dir, key(1)+suffix)
	whole := seal([]byte(`{"output":1}`), 0)
	check := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if v, ok := c.Get(t.Context(), key(1)); ok {
			t.Errorf("%s: %q", name, v)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: it is still there", name)
		}
	}
	for i := range whole {
		check(fmt.Sprint("cut at ", i), whole[:i])
		broken := bytes.Clone(whole)
		broken[i] ^= 1
		check(fmt.Sprint("changed at ", i), broken)
	}
	check("longer", append(bytes.Clone(whole), 0))
	check("empty", nil)
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Get(t.Context(), key(1)); ok {
		t.Error("a directory is an entry")
	}
	outside := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(outside, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, key(2)+suffix)); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Get(t.Context(), key(2)); ok {
		t.Error("a link out of the cache is followed")
	}
}

func TestKeysAreNoPaths(t *testing.T) {
	base := t.TempDir()
	c := opened(t, base+"/cache")
	for _, k := range []string{"", "..", "../../evil", "/etc/passwd", strings.Repeat("a", 65) + "/", strings.Repeat("A", 64), strings.Repeat("a", 129), "a\x00" + strings.Repeat("a", 62), strings.Repeat("é", 32)} {
		c.Put(t.Context(), k, []byte("v"), 0)
		if _, ok := c.Get(t.Context(), k); ok {
			t.Errorf("%q is kept", k)
		}
	}
	if files, _ := filepath.Glob(base + "/*/*"); len(files) != 0 {
		t.Errorf("files %v", files)
	}
}

func TestBounded(t *testing.T) {
	dir := t.TempDir()
	c := opened(t, dir, MaxBytes(10_000))
	begin := time.Now().Add(-time.Hour)
	for i := range 50 {
		c.Put(t.Context(), key(i), make([]byte, 900), 0)
		when := begin.Add(time.Duration(i) * time.Second)
		_ = os.Chtimes(filepath.Join(dir, key(i)+suffix), when, when)
		c.Get(t.Context(), key(0)) // in use
		var size int64
		files, _ := filepath.Glob(dir + "/*")
		for _, f := range files {
			if info, err := os.Stat(f); err == nil {
				size += info.Size()
			}
		}
		if size > 10_000 {
			t.Fatalf("%d bytes", size)
		}
	}
	if _, ok := c.Get(t.Context(), key(0)); !ok {
		t.Error("what is in use went first")
	}
	if _, ok := c.Get(t.Context(), key(49)); !ok {
		t.Error("the latest is gone")
	}
	c.Put(t.Context(), key(99), make([]byte, 20_000), 0)
	if _, ok := c.Get(t.Context(), key(99)); ok {
		t.Error("a value larger than the cache is kept")
	}
	old := filepath.Join(dir, "dead"+unfinished)
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = os.Chtimes(old, begin, begin.Add(-time.Hour))
	opened(t, dir)
	if _, err := os.Stat(old); err == nil {
		t.Error("the rest of a write that has died is still there")
	}
}

// Readers see whole values, whoever writes.
func TestConcurrent(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for w := range 4 {
		c := opened(t, dir)
		wg.Go(func() {
			for i := range 200 {
				k := key(i % 5)
				c.Put(t.Context(), k, bytes.Repeat([]byte{byte('a' + w)}, 100+i), 0)
				if v, ok := c.Get(t.Context(), k); ok && (len(v) < 100 || strings.Trim(string(v), string(v[0])) != "") {
					t.Errorf("a mixed value %q", v)
				}
			}
		})
	}
	wg.Wait()
	if parts, _ := filepath.Glob(dir + "/*" + unfinished); len(parts) != 0 {
		t.Errorf("unfinished %v", parts)
	}
}
