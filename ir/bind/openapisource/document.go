// Package openapisource reads OpenAPI documents and makes HTTP tools of their operations. It is the only importer of
// kin-openapi. Nothing is fetched: a document refers to files below the folder of the workflow only.
package openapisource

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

const (
	// maxDocument is the size of the largest document, with the files that it refers to.
	maxDocument = 32 << 20

	// maxFiles bounds how many files a document may consist of.
	maxFiles = 200
)

// A Document is an OpenAPI document with the files that it refers to.
type Document struct {
	Name string // as the workflow names it

	doc   *openapi3.T
	files map[string]*source.File // by name relative to the folder of the workflow
	ops   []*Operation            // in the order of their paths
	read  map[bool]*reading       // of what is sent, and of what comes back
	cut   map[*schema.Type]cut    // of types that are too large
}

// An Operation is one request that a document describes.
type Operation struct {
	ID     string // operationId, or "GET /items/{id}" for an operation without one
	Method string
	Path   string
	Tags   []string

	item *openapi3.PathItem
	op   *openapi3.Operation
}

// Open reads a document. The error says what is wrong with it, or is one of package foreign.
func Open(files *foreign.Files, home foreign.Folder, name string) (*Document, error) {
	d := &Document{Name: name, files: map[string]*source.File{}, read: map[bool]*reading{}, cut: map[*schema.Type]cut{}}
	rel, left := path.Clean(filepath.ToSlash(name)), maxDocument
	read := func(rel string) ([]byte, error) {
		if !filepath.IsLocal(filepath.FromSlash(rel)) {
			return nil, foreign.ErrOutside
		}
		if len(d.files) >= maxFiles {
			return nil, fmt.Errorf("it consists of more than %d files", maxFiles)
		}
		f, err := files.ReadBinary(home, rel, left)
		if err != nil {
			return nil, err
		}
		if !utf8.ValidString(f.Text) {
			return nil, errors.New("it is not text in UTF-8")
		}
		left -= len(f.Text)
		d.files[rel] = source.NewFile(path.Join(home.Typed, rel), f.Text)
		return []byte(f.Text), nil
	}
	text, err := read(rel)
	if err != nil {
		return nil, err
	}
	var outside error
	loader := &openapi3.Loader{IncludeOrigin: true, ReadFromURIFunc: func(_ *openapi3.Loader, at *url.URL) ([]byte, error) {
		if at.Scheme != "" || at.Host != "" {
			outside = fmt.Errorf("it refers to %s, and only files below the folder of the workflow are read", diag.Printable(at.Redacted()))
			return nil, outside
		}
		if known := d.files[at.Path]; known != nil {
			return []byte(known.Text), nil
		}
		text, err := read(at.Path)
		if err != nil {
			outside = fmt.Errorf("it refers to %s: %s", diag.Printable(at.Path), foreign.Reason(err))
		}
		return text, err
	}}
	if d.doc, err = load(loader, text, rel); err != nil {
		if outside != nil {
			return nil, outside
		}
		return nil, err
	}
	return d, d.operations()
}

// load makes an error of whatever a hostile document does to the library.
func load(loader *openapi3.Loader, text []byte, rel string) (doc *openapi3.T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("its references cannot be followed")
		}
	}()
	doc, err = loader.LoadFromDataWithPath(text, &url.URL{Path: rel})
	if err != nil {
		return nil, errors.New(brief(err.Error()))
	}
	return doc, nil
}

// brief is the first line of an error, of bounded length.
func brief(s string) string {
	const most = 300
	s, _, _ = strings.Cut(s, "\n")
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return diag.Printable(s)
}

// operations lists what the document describes.
func (d *Document) operations() error {
	switch version := d.doc.OpenAPI; {
	case version == "" && d.doc.Extensions["swagger"] != nil:
		return errors.New("it is a Swagger 2.0 document, and OpenAPI 3.0 or 3.1 is expected")
	case !strings.HasPrefix(version, "3."):
		return errors.New("it lacks `openapi: 3.x`, so it is not an OpenAPI document")
	}
	paths := d.doc.Paths.Map()
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		item := paths[p]
		if item == nil {
			continue
		}
		list := item.Operations()
		for _, method := range slices.Sorted(maps.Keys(list)) {
			op := list[method]
			id := op.OperationID
			if id == "" {
				id = method + " " + p
			}
			d.ops = append(d.ops, &Operation{ID: id, Method: method, Path: p, Tags: op.Tags, item: item, op: op})
		}
	}
	return nil
}

// Operations are those of the document, in the order of their paths.
func (d *Document) Operations() []*Operation { return d.ops }

// Reads reports whether a method promises to change nothing.
func Reads(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// find are the operations that have an id, or a method and path written as "GET /items".
func (d *Document) find(id string) []*Operation {
	var out []*Operation
	for _, o := range d.ops {
		if o.ID == id || o.Method+" "+o.Path == id {
			out = append(out, o)
		}
	}
	return out
}

// ids are the names of all operations.
func (d *Document) ids() []string {
	var out []string
	for _, o := range d.ops {
		out = append(out, o.ID)
	}
	return out
}

// span is a place in the document, of one line; zero when it is not known.
func (d *Document) span(o *openapi3.Origin) source.Span {
	if o == nil || o.Key == nil || o.Key.Line <= 0 {
		return source.Span{}
	}
	f := d.files[o.Key.File]
	if f == nil {
		return source.Span{}
	}
	lo := f.Offset(o.Key.Line, max(1, o.Key.Column))
	line := f.Offset(o.Key.Line, 1) + len(strings.TrimRight(f.Line(o.Key.Line), " \r\n"))
	return source.Span{File: f, Lo: min(lo, line), Hi: line}
}

// A Refusal says why an operation cannot be a tool.
type Refusal struct {
	Why, Help string
	At        source.Span // in the document; may be zero
}

func (r *Refusal) Error() string { return r.Why }

func (d *Document) refuse(at *openapi3.Origin, help, format string, args ...any) *Refusal {
	return &Refusal{Why: diag.Printable(fmt.Sprintf(format, args...)), Help: help, At: d.span(at)}
}
