package runs_test

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	goruntime "runtime"
	"sync"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// All who ask for the key of a folder get the same, also those that ask first at the same time. Another folder has another.
func TestKey(t *testing.T) {
	dir := t.TempDir()
	keys := make([][]byte, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			key, err := runs.Open(dir, runs.Options{}).Key(rand.Reader)
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	all.Wait()
	for _, key := range keys {
		if len(key) != 32 || !bytes.Equal(key, keys[0]) {
			t.Fatalf("%x and %x", key, keys[0])
		}
	}
	if other, err := runs.Open(t.TempDir(), runs.Options{}).Key(rand.Reader); err != nil || bytes.Equal(other, keys[0]) {
		t.Errorf("%x, %v", other, err)
	}
	name := filepath.Join(dir, ".key", "journal.jsonl")
	if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 && goruntime.GOOS != "windows" { // whose files have no such bits
		t.Errorf("%v, %v: others can read it", info, err)
	}
	f := runs.Open(dir, runs.Options{})
	if list, err := f.List(); err != nil || len(list) != 0 {
		t.Errorf("the key is taken for a run: %v, %v", list, err)
	}
	if err := os.WriteFile(name, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if key, err := f.Key(rand.Reader); err == nil {
		t.Errorf("a damaged key is %x", key)
	}
}
