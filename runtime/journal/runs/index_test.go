package runs_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// indexed makes a folder with one run.
func indexed(t *testing.T, text []byte) (folder *runs.Folder, file string) {
	t.Helper()
	dir := t.TempDir()
	file = filepath.Join(dir, "one", "journal.jsonl")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return runs.Open(dir, runs.Options{}), file
}

// readWhole reads a run with a new Reader, and says how many bytes of its journal an index had.
func readWhole(t *testing.T, folder *runs.Folder) (text string, from int64) {
	t.Helper()
	r, err := folder.Follow("one")
	if err != nil {
		t.Fatal(err)
	}
	from = runs.Indexed(r)
	if err := r.All(); err != nil {
		t.Fatal(err)
	}
	return described(t, r), from
}

// TestIndex: a Reader that has read an index knows what one knows that has read the journal, wherever the index was made.
func TestIndex(t *testing.T) {
	defer runs.SetLeastIndexed(1)()
	for name, lines := range followed {
		t.Run(name, func(t *testing.T) {
			text := sealed(t, lines)
			for end := range text {
				if text[end] != '\n' {
					continue
				}
				folder, file := indexed(t, text[:end+1])
				if _, from := readWhole(t, folder); from != 0 {
					t.Fatal("there was an index")
				}
				if again, from := readWhole(t, folder); from != int64(end+1) {
					t.Fatalf("an index has %d bytes of %d:\n%s", from, end+1, again)
				}
				if err := os.WriteFile(file, text, 0o600); err != nil {
					t.Fatal(err)
				}
				got, from := readWhole(t, folder)
				want, err := folder.Read("one")
				if err != nil {
					t.Fatal(err)
				}
				if want := wholly(want); got != want || from != int64(end+1) {
					t.Fatalf("from byte %d of %d: got\n%s\nwant\n%s", from, end+1, got, want)
				}
			}
		})
	}
}

// TestIndexIsMadeAnew: an index that is damaged, cut, of another journal or no file is passed over and replaced.
func TestIndexIsMadeAnew(t *testing.T) {
	defer runs.SetLeastIndexed(1)()
	text := sealed(t, followed["failed and made again"])
	folder, file := indexed(t, text)
	want, _ := readWhole(t, folder)
	name := filepath.Join(filepath.Dir(file), "journal.index")
	index, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	wrong := map[string][]byte{"empty": {}, "longer": append(bytes.Clone(index), 0), "huge": make([]byte, 4<<20)}
	for i := range index {
		wrong[fmt.Sprint("cut at ", i)] = index[:i]
		changed := bytes.Clone(index)
		changed[i] ^= 1 << (i % 8)
		wrong[fmt.Sprint("changed at ", i)] = changed
		changed = bytes.Clone(index) // and the sum fits
		changed[i] = 0x7f
		wrong[fmt.Sprint("made wrong at ", i)] = runs.SumIndex(changed)
	}
	for what, text := range wrong {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := folder.Follow("one")
		if err != nil {
			t.Fatal(err)
		}
		if runs.Indexed(r) != 0 {
			if what[:4] == "made" { // by somebody who could have written another journal as well: it may lie, and not more
				for i := range r.Calls() {
					r.State(&r.Calls()[i])
					_, _ = r.Record(i)
				}
				continue
			}
			t.Errorf("%s: it was read", what)
		}
		if err := r.All(); err != nil || described(t, r) != want {
			t.Errorf("%s: %v, got\n%s", what, err, described(t, r))
		}
	}
	if err := os.WriteFile(name, index[:1], 0o600); err != nil { // the last of those may have been one that lies
		t.Fatal(err)
	}
	r, err := folder.Follow("one")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.All(); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(name); err != nil || !bytes.Equal(again, index) {
		t.Errorf("it is not made anew: %v", err)
	}

	other := sealed(t, append([]string{run1}, followed["asked and answered"][1:]...))
	if err := os.WriteFile(file, append(other, text...)[:len(text)], 0o600); err != nil {
		t.Fatal(err)
	}
	r, err = folder.Follow("one")
	if err != nil {
		t.Fatal(err)
	}
	if runs.Indexed(r) != 0 {
		t.Error("the index of another journal was read")
	}

	// damage in what the index is of is found, though nothing has to be parsed again
	text[bytes.Index(text, []byte(`"output":"y"`))+10] = 'n'
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err = folder.Follow("one")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.All(); err == nil || len(r.Calls()) != 1 {
		t.Errorf("damage is not found: %v", err)
	}
}

// TestIndexIsNotWritten: where nothing may be written a run is read as well, and a link does not lead out of its folder.
func TestIndexIsNotWritten(t *testing.T) {
	defer runs.SetLeastIndexed(1)()
	text := sealed(t, followed["failed and made again"])
	folder, file := indexed(t, text)
	dir := filepath.Dir(file)
	names := func() string {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(list)
	}
	before := names()
	readWhole(t, runs.Open(folder.Dir(), runs.Options{ReadOnly: true}))
	if names() != before {
		t.Errorf("ReadOnly has written: %s", names())
	}
	if runtime.GOOS == "windows" {
		return
	}
	if os.Geteuid() != 0 {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		readWhole(t, folder)
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if names() != before {
			t.Errorf("a folder that cannot be written has %s", names())
		}
	}
	precious := filepath.Join(t.TempDir(), "precious")
	for _, link := range []string{"journal.index", "journal.index.new"} {
		if err := os.WriteFile(precious, []byte("kept"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(precious, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
		readWhole(t, folder)
		if got, err := os.ReadFile(precious); err != nil || string(got) != "kept" {
			t.Errorf("through %s: %q, %v", link, got, err)
		}
		if err := os.Remove(filepath.Join(dir, "journal.index")); err != nil {
			t.Fatal(err)
		}
	}
}

// TestIndexGrowth: neither a journal nor an index takes allocations for each of its calls.
func TestIndexGrowth(t *testing.T) {
	for _, readOnly := range []bool{true, false} {
		cost := func(n int) float64 {
			lines := []string{run1}
			for i := range n {
				lines = append(lines, fmt.Sprintf(`{"kind":"end","key":"a[%d]","attempt":1,"tool":"t@1","effects":"none","call_id":"%064d","input":{"x":%[1]d},"output":"%0900[1]d","start_ns":1,"end_ns":2}`, i, i))
			}
			folder, _ := indexed(t, sealed(t, lines))
			folder = runs.Open(folder.Dir(), runs.Options{ReadOnly: readOnly})
			read := func() {
				r, err := folder.Follow("one")
				if err == nil {
					err = r.All()
				}
				if err != nil || len(r.Calls()) != n {
					t.Fatalf("%d calls, %v", len(r.Calls()), err)
				}
			}
			read()
			return testing.AllocsPerRun(1, read)
		}
		if few, many := cost(2000), cost(8000); many-few > 6000*0.1 {
			t.Errorf("read only %v: %v allocations for 2000 calls and %v for 8000", readOnly, few, many)
		}
	}
}
