package flowtest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/internal/nowait"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// cassetteFile is where the cassette of a case is: name, slash-separated, below dir. No link leads out of dir.
type cassetteFile struct{ dir, name string }

// maxCassette bounds what is read as a cassette, in bytes.
const maxCassette = 256 << 20

func (f cassetteFile) root() (*os.Root, error) {
	if !filepath.IsLocal(filepath.FromSlash(f.name)) {
		return nil, errors.New("it is outside the folder of its case")
	}
	dir := f.dir
	if dir == "" {
		dir = "."
	}
	return os.OpenRoot(dir)
}

// reason is why a cassette cannot be read or written, without system calls.
func reason(err error) error {
	p, ok := errors.AsType[*fs.PathError](err)
	switch {
	case !ok:
		return err
	case strings.HasSuffix(p.Err.Error(), "path escapes from parent"):
		return errors.New("it is outside the folder of its test file")
	}
	return p.Err
}

func (f cassetteFile) load() (_ *journal.Journal, err error) {
	defer func() { err = reason(err) }()
	root, err := f.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := root.OpenFile(filepath.FromSlash(f.name), os.O_RDONLY|nowait.Flag, 0) // a pipe that nobody writes to would block
	if err != nil {
		return nil, err
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > maxCassette {
		return nil, fmt.Errorf("it is not a regular file of at most %d MiB", maxCassette>>20)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxCassette))
	if err != nil {
		return nil, err
	}
	return journal.Parse(text)
}

func (f cassetteFile) save(j *journal.Journal) (err error) {
	defer func() { err = reason(err) }()
	text, err := j.MarshalText()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o777); f.dir != "" && err != nil {
		return err
	}
	root, err := f.root()
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.FromSlash(path.Dir(f.name)), 0o777); err != nil {
		return err
	}
	part := filepath.FromSlash(f.name) + ".part"
	if err := root.WriteFile(part, text, 0o666); err != nil {
		return err
	}
	return root.Rename(part, filepath.FromSlash(f.name))
}

// remove removes a cassette, if there is one.
func (f cassetteFile) remove() error {
	root, err := f.root()
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Remove(filepath.FromSlash(f.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// when is the time at which all cassettes begin.
var when = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// compact is a journal with what a replay needs. Without times and random numbers of its own it looks the same whenever it was recorded.
func compact(j *journal.Journal, times bool) *journal.Journal {
	h := journal.Header{Workflow: j.Header().Workflow, Seed: 1, Begin: when}
	if times {
		h.Seed, h.Begin = j.Header().Seed, j.Header().Begin
	}
	out := journal.New(h)
	out.SetFinish(journal.Finish{Outcome: j.Finish().Outcome})
	for _, r := range j.Records() {
		r.CallID, r.Logs = "", "" // the one follows from the rest, the others may differ in each run
		if !times {
			r.Start, r.End, r.Error = 0, 0, undated(r.Error)
		}
		out.Put(r)
	}
	return out
}

// undated is an error of a request without the date that the server said.
func undated(te *value.ToolError) *value.ToolError {
	if te == nil {
		return nil
	}
	headers, _ := te.Details.Get("headers")
	if _, dated := headers.Get("date"); !dated {
		return te
	}
	plain := *te
	plain.Details = with(te.Details, "headers", with(headers, "date", value.String(when.Format("Mon, 02 Jan 2006 15:04:05 GMT"))))
	return &plain
}

// with is a map with another value for a key that it has.
func with(m value.Value, key string, v value.Value) value.Value {
	var entries []value.Entry
	for _, k := range m.Keys() {
		item, _ := m.Get(k)
		if k == key {
			item = v
		}
		entries = append(entries, value.Entry{Key: k, Value: item})
	}
	return value.Map(entries...)
}

// without is a cassette without the records of some keys.
func without(j *journal.Journal, keys []string) *journal.Journal {
	out := journal.New(j.Header())
	out.SetFinish(j.Finish())
	for _, r := range j.Records() {
		if !slices.Contains(keys, r.Key) {
			out.Put(r)
		}
	}
	return out
}
