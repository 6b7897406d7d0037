package foreign

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// maxFile is the size of the largest source file of a tool.
const maxFile = 4 << 20

// ErrOutside is the error of a name that leads out of its folder, also through a symbolic link.
var ErrOutside = errors.New("it is outside the folder of the workflow")

// A Folder is where the files of tools are.
type Folder struct {
	Disk  string // absolute
	Typed string // how the user would type it, slash-separated: names of files in messages begin with it

	// Above are folders, absolute, whose files may be named as well, by names that begin with "../". None: names stay inside.
	Above []string

	// Root is the folder, absolute, that no link may lead out of: Disk unless written.
	Root string
}

// Join is a folder below f.
func (f Folder) Join(rel string) Folder {
	return Folder{Disk: filepath.Join(f.Disk, filepath.FromSlash(rel)), Typed: path.Join(f.Typed, rel), Above: f.Above, Root: f.Root}
}

// roots are the folders that the file rel has to be in: f itself, or one of those above it. Hidden folders above hold what
// nobody means.
func (f Folder) roots(rel string) files.Roots {
	rel = filepath.Clean(filepath.FromSlash(rel))
	switch {
	case filepath.IsLocal(rel):
		return files.Roots{{Dir: cmp.Or(f.Root, f.Disk), Hidden: true}}
	case filepath.IsAbs(rel):
		return nil
	}
	var out files.Roots
	for _, above := range f.Above {
		out = append(out, files.Root{Dir: above})
	}
	return out
}

// Files reads the sources of tools: regular files of bounded size and valid text. It is not safe for concurrent use.
type Files struct {
	Overlay map[string][]byte // files that are not on disk, or are otherwise there, by absolute name
	Seen    func(name string) // called with the absolute name of each file that was read or looked for; may be nil

	read map[string]*File
}

// A File is a source file as it was read. There is one for a name, so that all spans of a file are of one source.File.
type File struct {
	Source *source.File
	Disk   string // its absolute name
}

// For is the file as a part of a tool whose files are below a folder; name is its name there.
func (f *File) For(name string) ir.SourceFile {
	return ir.SourceFile{Name: name, Disk: f.Disk, Text: f.Source.Text}
}

// Read reads the file rel, slash-separated, of a folder. The error is ErrOutside, one of io/fs, or says what is wrong
// with the file.
func (f *Files) Read(dir Folder, rel string) (*File, error) {
	name, roots := filepath.Join(dir.Disk, filepath.FromSlash(rel)), dir.roots(rel)
	if !roots.Hold(name) {
		return nil, ErrOutside
	}
	if done := f.read[name]; done != nil {
		return done, nil
	}
	if f.Seen != nil {
		f.Seen(name)
	}
	text, err := f.bytes(roots, name, maxFile)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(text) {
		return nil, errors.New("it is not text in UTF-8")
	}
	out := &File{Source: source.NewFile(path.Join(dir.Typed, path.Clean(rel)), string(text)), Disk: name}
	if f.read == nil {
		f.read = map[string]*File{}
	}
	f.read[name] = out
	return out, nil
}

// ReadBinary is like Read for a file that is not text, such as a WebAssembly module, of at most limit bytes.
func (f *Files) ReadBinary(dir Folder, rel string, limit int) (ir.SourceFile, error) {
	name, roots := filepath.Join(dir.Disk, filepath.FromSlash(rel)), dir.roots(rel)
	if !roots.Hold(name) {
		return ir.SourceFile{}, ErrOutside
	}
	if f.Seen != nil {
		f.Seen(name)
	}
	data, err := f.bytes(roots, name, limit)
	return ir.SourceFile{Name: rel, Disk: name, Text: string(data)}, err
}

func (f *Files) bytes(roots files.Roots, name string, limit int) ([]byte, error) {
	if text, ok := f.Overlay[name]; ok {
		return text, nil
	}
	text, err := roots.ReadFile(name, limit)
	switch {
	case errors.Is(err, files.ErrOutside):
		return nil, ErrOutside
	case errors.Is(err, files.ErrIrregular):
		return nil, errors.New("it is not a regular file")
	}
	return text, err
}

// IsFile and IsDir tell what there is, through links that stay inside.
func (f *Files) IsFile(dir Folder, rel string) bool {
	name := filepath.Join(dir.Disk, filepath.FromSlash(rel))
	if _, ok := f.Overlay[name]; ok {
		return true
	}
	if f.Seen != nil {
		f.Seen(name)
	}
	st, err := dir.roots(rel).Stat(name)
	return err == nil && st.Mode().IsRegular()
}

// IsDir is like IsFile for folders.
func (f *Files) IsDir(dir Folder, rel string) bool {
	name := filepath.Join(dir.Disk, filepath.FromSlash(rel))
	for overlaid := range f.Overlay {
		if strings.HasPrefix(overlaid, name+string(filepath.Separator)) {
			return true
		}
	}
	st, err := dir.roots(rel).Stat(name)
	return err == nil && st.IsDir()
}

// maxNames is how many names of a folder are looked at for a suggestion.
const maxNames = 10_000

// An Entry is a name in a folder.
type Entry struct {
	Name   string
	Folder bool
	Link   bool // to anything: IsFile and IsDir tell
}

// Entries are the names in a folder, sorted. Nothing is looked at but the folder.
func (f *Files) Entries(dir Folder) []Entry {
	var list []Entry
	for overlaid := range f.Overlay {
		if rest, ok := strings.CutPrefix(overlaid, dir.Disk+string(filepath.Separator)); ok {
			first, _, below := strings.Cut(filepath.ToSlash(rest), "/")
			list = append(list, Entry{Name: first, Folder: below})
		}
	}
	if entries, err := dir.roots(".").ReadDir(dir.Disk); err == nil && len(entries) <= maxNames {
		for _, e := range entries {
			list = append(list, Entry{Name: e.Name(), Folder: e.IsDir(), Link: e.Type()&fs.ModeSymlink != 0})
		}
	}
	slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	out := list[:0]
	for _, e := range list {
		if n := len(out); n > 0 && out[n-1].Name == e.Name {
			out[n-1].Folder, out[n-1].Link = out[n-1].Folder || e.Folder, out[n-1].Link || e.Link
			continue
		}
		out = append(out, e)
	}
	return out
}

// Names are those of Entries.
func (f *Files) Names(dir Folder) []string {
	var names []string
	for _, e := range f.Entries(dir) {
		names = append(names, e.Name)
	}
	return names
}

// CannotRead is the mistake of a binding whose file is there and of no use.
func CannotRead(code diag.Code, at source.Span, name, why string) diag.Diagnostic {
	return diag.Diagnostic{Code: code, Span: at, Message: name + " cannot be read: " + why}
}

// Unreadable is the mistake of a binding whose file cannot be read.
func Unreadable(at source.Span, name string, err error) diag.Diagnostic {
	return CannotRead(diag.SourceMissing, at, name, Reason(err))
}

// Reason says why a file cannot be read, without the names of this machine.
func Reason(err error) string {
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such file"
	case errors.As(err, &p):
		return p.Err.Error()
	}
	return err.Error()
}
