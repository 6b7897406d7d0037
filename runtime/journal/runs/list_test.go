package runs_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/internal/eventually"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// changes are what can happen to a run between two lists. text is a whole journal.
var changes = map[string]func(rng *rand.Rand, dir string, text []byte) error{
	"goes on": func(rng *rand.Rand, dir string, text []byte) error {
		return appendTo(dir, func(has []byte) []byte {
			return text[min(len(has), len(text)):][:rng.IntN(max(len(text)-len(has), 0)+1)]
		})
	},
	"is resumed": func(_ *rand.Rand, dir string, text []byte) error {
		return appendTo(dir, func(has []byte) []byte { return text[min(len(has), len(text)):] })
	},
	"is another": func(_ *rand.Rand, dir string, text []byte) error {
		return os.WriteFile(filepath.Join(dir, journalName), text, 0o600)
	},
	"is torn": func(rng *rand.Rand, dir string, _ []byte) error {
		info, err := os.Stat(filepath.Join(dir, journalName))
		if err != nil {
			return err
		}
		return os.Truncate(filepath.Join(dir, journalName), rng.Int64N(info.Size()+1))
	},
	"is damaged, and its time set back": func(rng *rand.Rand, dir string, _ []byte) error {
		name := filepath.Join(dir, journalName)
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		has, err := os.ReadFile(name)
		if err != nil || len(has) == 0 {
			return err
		}
		has[rng.IntN(len(has))] ^= 1
		if err := os.WriteFile(name, has, 0o600); err != nil {
			return err
		}
		return os.Chtimes(name, info.ModTime(), info.ModTime())
	},
	"is replaced": func(_ *rand.Rand, dir string, text []byte) error {
		name := filepath.Join(dir, "new")
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return err
		}
		return os.Rename(name, filepath.Join(dir, journalName))
	},
	"is removed": func(_ *rand.Rand, dir string, _ []byte) error { return os.RemoveAll(dir) },
	"is a link": func(_ *rand.Rand, dir string, _ []byte) error {
		name := filepath.Join(dir, journalName)
		if err := os.Remove(name); err != nil {
			return err
		}
		return os.Symlink(filepath.Join("..", "w-20260102T150405000-0000", journalName), name)
	},
}

const journalName = "journal.jsonl"

func appendTo(dir string, more func(has []byte) []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	name := filepath.Join(dir, journalName)
	has, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(more(has)); err != nil {
		return err
	}
	return f.Close()
}

// TestListKept: whatever happens to runs, a Folder that has listed them before lists what one says that has not, and it reads again only
// the journals that have changed.
func TestListKept(t *testing.T) {
	var texts [][]byte
	for _, name := range slices.Sorted(maps.Keys(followed)) {
		texts = append(texts, sealed(t, followed[name]))
	}
	names := slices.Sorted(maps.Keys(changes))
	rng := rand.New(rand.NewPCG(21, 1))
	dir := t.TempDir()
	folder := runs.Open(dir, runs.Options{})
	ids := make([]string, 40)
	of := make([][]byte, len(ids))
	for i := range ids {
		ids[i] = fmt.Sprintf("w-20260102T150405000-%04x", i)
		if i%8 == 7 {
			ids[i] = fmt.Sprintf("chosen-%d", i)
		}
		of[i] = texts[i%len(texts)]
		if err := appendTo(filepath.Join(dir, ids[i]), func([]byte) []byte { return of[i] }); err != nil {
			t.Fatal(err)
		}
	}
	same := func(when string) {
		t.Helper()
		got, err := folder.List()
		want, wantErr := runs.Open(dir, runs.Options{}).List()
		if err != nil || wantErr != nil {
			t.Fatal(err, wantErr)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: listed\n%+v\nand what is there\n%+v", when, got, want)
		}
	}
	for round := range 12 {
		same("at first")
		for range rng.IntN(len(ids)) {
			i, change := rng.IntN(len(ids)), names[rng.IntN(len(names))]
			if rng.IntN(4) == 0 {
				of[i] = texts[rng.IntN(len(texts))]
			}
			if err := changes[change](rng, filepath.Join(dir, ids[i]), of[i]); err != nil && !os.IsNotExist(err) {
				t.Log(change, err) // as of a link that is written to
			}
			if rng.IntN(6) == 0 {
				same(fmt.Sprintf("round %d, run %d %s", round, i, change))
			}
		}
		same("while files are new")
		regular := map[string]bool{}
		for _, id := range ids {
			if info, err := os.Lstat(filepath.Join(dir, id, journalName)); err == nil && info.Mode().IsRegular() {
				regular[id] = true
			}
		}
		eventually.True(t, "the files are old enough", func() bool {
			for id := range regular {
				if _, ok := wal.StampOf(wal.OS, filepath.Join(dir, id, journalName)); !ok {
					return false
				}
			}
			return true
		})
		same("when they are old enough")
		before := runs.LinesKept(folder)
		same("from what is kept")
		after := runs.LinesKept(folder)
		if len(after) == 0 || !maps.Equal(before, after) {
			t.Fatalf("round %d: of %d files %d were kept, and then others: %d", round, len(regular), len(before), len(after))
		}
	}
}
