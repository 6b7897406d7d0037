package lsp

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// pathOf is the file of a URI, "" for URIs of other schemes.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	p := u.Path
	if runtime.GOOS == "windows" {
		p = strings.TrimPrefix(p, "/")
	}
	return filepath.FromSlash(p)
}

// nameOf is how flowgen names the file of a URI: relative to the folder of the workspace where it is below it. Documents that are
// no files have their URI as name.
func nameOf(uri string) string {
	p := pathOf(uri)
	if p == "" {
		return uri
	}
	return nameOfFile(p)
}

// nameOfFile is nameOf for a name that flowgen or the system uses.
func nameOfFile(name string) string {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		if rel, err := filepath.Rel(workingFolder(), name); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
	}
	return path.Clean(filepath.ToSlash(name))
}

// lastFolder is the working directory, as it was found last.
var lastFolder atomic.Value

// workingFolder is the folder that names are relative to, also after somebody has deleted it.
func workingFolder() string {
	if here, err := os.Getwd(); err == nil {
		lastFolder.Store(here)
		return here
	}
	here, _ := lastFolder.Load().(string)
	return here
}

// absolute is the full name of a file.
func absolute(name string) string {
	full := filepath.FromSlash(name)
	if !filepath.IsAbs(full) {
		full = filepath.Join(workingFolder(), full)
	}
	return full
}

// uri is the URI of a file, as the client has spelt it where it is open.
func (w *workspace) uri(name string) string {
	if d := w.docs[name]; d != nil {
		return d.uri
	}
	full := filepath.ToSlash(absolute(name))
	if !strings.HasPrefix(full, "/") {
		full = "/" + full
	}
	return (&url.URL{Scheme: "file", Path: full}).String()
}

// span is where a span is in its file.
func (w *workspace) span(s source.Span) span {
	if s.File == nil {
		return span{}
	}
	if d := w.docs[nameOfFile(s.File.Name)]; d != nil && d.text.s == s.File.Text {
		return d.text.span(s.Lo, s.Hi)
	}
	return newText(s.File.Text, w.utf8).span(s.Lo, s.Hi)
}

func (w *workspace) location(s source.Span) location {
	return location{URI: w.uri(nameOfFile(s.File.Name)), Range: w.span(s)}
}

// codesPage says of each code what it means.
const codesPage = "https://github.com/flowgen-dev/flowgen/blob/main/docs/diagnostics.md#"

func (w *workspace) diagnostic(d diag.Diagnostic) diagnostic {
	out := diagnostic{Range: w.span(d.Span), Severity: int(d.Severity) + 1, Code: string(d.Code), Source: "flowgen", Message: d.Message}
	if d.Code != "" {
		out.CodeDescription = &codeDescription{codesPage + strings.ToLower(string(d.Code))}
	}
	switch d.Code {
	case diag.Unused, diag.Unreachable:
		out.Tags = []int{1} // unnecessary
	case diag.Deprecated:
		out.Tags = []int{2} // deprecated
	}
	if d.Help != "" {
		out.Message += "\n" + d.Help
	}
	for _, r := range d.Related {
		if r.Span.File != nil {
			out.Related = append(out.Related, related{w.location(r.Span), r.Message})
		}
	}
	return out
}
