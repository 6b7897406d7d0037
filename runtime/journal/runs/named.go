package runs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/internal/nowait"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// maxFile bounds a journal that is given as a file, in bytes.
var maxFile = wal.MaxFile // a variable for tests

// Named reads what name stands for: a run that Find knows, or a file with a journal, whose name ends in .jsonl. id is
// the run's name, or the file's.
func (f *Folder) Named(workflow, name string) (id string, j *journal.Journal, err error) {
	return f.named(workflow, name, f.Read)
}

// NamedLazy is Named whose records of a run are read again when somebody asks for them, see ReadLazy.
func (f *Folder) NamedLazy(workflow, name string) (id string, j *journal.Journal, err error) {
	return f.named(workflow, name, f.ReadLazy)
}

func (f *Folder) named(workflow, name string, read func(string) (*journal.Journal, error)) (id string, j *journal.Journal, err error) {
	if !strings.HasSuffix(name, ".jsonl") {
		if id, err = f.Find(workflow, name); err != nil {
			return "", nil, err
		}
		j, err = read(id)
		return id, j, err
	}
	file, err := os.OpenFile(name, os.O_RDONLY|nowait.Flag, 0) // does not wait for a pipe
	if err != nil {
		return "", nil, err
	}
	defer file.Close()
	if st, err := file.Stat(); err != nil || !st.Mode().IsRegular() {
		return "", nil, errors.Join(err, fmt.Errorf("%s is not a regular file", name))
	}
	text, err := io.ReadAll(io.LimitReader(file, int64(maxFile)+1))
	if err == nil && len(text) > maxFile {
		err = errors.New("it is too large")
	}
	if err == nil {
		j, err = journal.Parse(text)
	}
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", name, err)
	}
	return name, j, nil
}
