package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/atomicfile"
	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/studio"
)

// maxUndo bounds how many edits can be undone.
const maxUndo = 50

// written is an edit that the page has made: the texts of its files before and after.
type written struct {
	id    string
	files []changedFile
}

type changedFile struct{ name, before, after string }

// write makes an edit whose diff was shown, and keeps what undoes it. New files are not removed again.
func (p *studioProject) write(op studio.Operation, diff string) (*studio.Edit, error) {
	one := written{id: rand.Text()}
	for line := range strings.Lines(diff) {
		name, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "+++ ")
		if !ok {
			continue
		}
		if text, err := files.Read(filepath.FromSlash(name), maxUndone); err == nil {
			one.files = append(one.files, changedFile{name: name, before: string(text)})
		}
	}
	edit, err := p.edit(op, false)
	if err != nil || op.Kind == "undo" {
		return edit, err
	}
	for i := range one.files {
		text, err := files.Read(filepath.FromSlash(one.files[i].name), maxUndone)
		if err != nil {
			return edit, nil // it was written, and cannot be undone here
		}
		one.files[i].after = string(text)
	}
	if len(one.files) > 0 {
		if p.done = append(p.done, one); len(p.done) > maxUndo {
			p.done = slices.Delete(p.done, 0, 1)
		}
		edit.Undo = one.id
	}
	return edit, nil
}

// maxUndone bounds a file of an edit.
const maxUndone = 16 << 20 // bytes

// undo restores the files of an edit, if they are as it has left them.
func (p *studioProject) undo(out io.Writer, id string, dry bool) error {
	i := slices.IndexFunc(p.done, func(w written) bool { return w.id == id })
	if i < 0 {
		return errors.New("the edit can no longer be undone here")
	}
	for _, f := range p.done[i].files {
		now, err := files.Read(filepath.FromSlash(f.name), maxUndone)
		if err != nil {
			return err
		}
		if string(now) != f.after {
			return fmt.Errorf("%s has changed since the edit: undo it in an editor", f.name)
		}
	}
	for _, f := range p.done[i].files {
		if _, err := io.WriteString(out, unified(f.name, f.after, f.before)); err != nil {
			return err
		}
		if dry {
			continue
		}
		if err := atomicfile.Write(filepath.FromSlash(f.name), []byte(f.before)); err != nil {
			return err
		}
	}
	return nil
}
