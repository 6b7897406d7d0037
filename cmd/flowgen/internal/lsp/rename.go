package lsp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/index"
	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/diag"
)

// renamed are the kinds that have names of their own choosing, with the form of these.
var renamed = map[index.Kind]*lazyregexp.Regexp{
	index.Node: lowerID, index.Tool: toolID, index.Model: lowerID, index.Agent: lowerID, index.Server: lowerID, index.Input: lowerID,
	index.State: lowerID, index.Output: lowerID, index.Field: fieldID, index.Variable: lowerID, index.Type: typeID,
	index.Flow: lowerID,
}

var (
	lowerID = lazyregexp.New(`^[a-z][a-z0-9_]*$`)
	fieldID = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	toolID  = lazyregexp.New(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*(@[0-9A-Za-z_.]+)?$`)
	typeID  = lazyregexp.New(`^[A-Z][A-Za-z0-9]*$`)
)

// renaming is the name at the cursor, if it can be renamed.
func (s *server) renaming(c cursor) (*index.Ref, error) {
	ref := c.ref()
	switch {
	case ref == nil:
		return nil, refusal{codeRefused, "no name that can be renamed at this position"}
	case renamed[ref.Name.Kind] == nil || ref.Name.At.File == nil:
		return nil, refusal{codeRefused, fmt.Sprintf("a %s cannot be renamed here", ref.Name.Kind)}
	case ref.Name.At.File.Module != "":
		return nil, refusal{codeRefused, fmt.Sprintf("%s is declared in the module %s, whose files are not written", ref.Name.Text, ref.Name.At.File.Module)}
	case ref.Name.At.Text() != ref.At.Text():
		return nil, refusal{codeRefused, fmt.Sprintf("%s is written in several forms", ref.Name.Text)}
	}
	return ref, nil
}

// elsewhere refuses to rename a name of another engine's language that is also written at a place of which flowgen does not know what it
// stands for there: such languages read names out of texts and code.
func (w *workspace) elsewhere(c cursor, name *index.Name, places map[string][]place) error {
	if c.native() {
		return nil
	}
	for _, r := range c.roots {
		for _, file := range slices.Sorted(maps.Keys(r.files)) {
			text := w.textOf(r, file)
			for off := 0; ; {
				i := strings.Index(text[off:], name.Text)
				if i < 0 {
					break
				}
				lo := off + i
				hi := lo + len(name.Text)
				off = hi
				whole := (hi == len(text) || word(text[:hi+1]) > lo) && word(text[:hi]) == lo
				if !whole || slices.Contains(places[file], place{lo, hi}) || commented(text, lo) {
					continue
				}
				line := strings.Count(text[:lo], "\n") + 1
				return refusal{codeRefused, fmt.Sprintf("%s also occurs in %s:%d, where flowgen cannot resolve it", name.Text, file, line)}
			}
		}
	}
	return nil
}

// textOf is the text of a file of a root, "" where it was not read.
func (w *workspace) textOf(r *root, file string) string {
	if d := w.docs[file]; d != nil {
		return d.text.s
	}
	if r.index != nil {
		for _, ref := range r.index.Refs {
			if nameOfFile(ref.At.File.Name) == file {
				return ref.At.File.Text
			}
		}
	}
	return ""
}

// commented reports whether an offset is in a comment that has its line for itself.
func commented(text string, off int) bool {
	line := text[strings.LastIndexByte(text[:off], '\n')+1 : off]
	return strings.HasPrefix(strings.TrimSpace(line), "#")
}

func (s *server) prepareRename(params *json.RawMessage) (any, error) {
	c, _, err := s.at(params)
	if err != nil || c.doc == nil {
		return nil, err
	}
	ref, err := s.renaming(c)
	if err != nil {
		return nil, err
	}
	return renameRange{s.ws.span(ref.At), ref.At.Text()}, nil
}

// rename is the edit of all files that name something. It is proved: with the edit all workflows have the diagnostics that they
// had, and the new name stands for the same thing at the same places, and nowhere else.
func (s *server) rename(params *json.RawMessage) (any, error) {
	c, p, err := s.at(params)
	if err != nil || c.doc == nil {
		return nil, err
	}
	ref, err := s.renaming(c)
	if err != nil {
		return nil, err
	}
	name := ref.Name
	if !renamed[name.Kind].MatchString(p.NewName) && (c.native() || !fieldID.MatchString(p.NewName)) {
		return nil, refusal{codeRefused, fmt.Sprintf("%q is not a valid name of a %s", p.NewName, name.Kind)}
	}
	if p.NewName == name.Text {
		return workspaceEdit{}, nil
	}
	key := name.Key()
	refs := s.ws.everywhere(key)
	edits := map[string][]textEdit{}
	texts := map[string]string{}
	places := map[string][]place{}
	for _, r := range refs {
		if r.At.Text() != ref.At.Text() {
			return nil, refusal{codeRefused, fmt.Sprintf("%s is written as %s in %s", name.Text, r.At.Text(), r.At.File.Name)}
		}
		if r.At.File.Module != "" {
			return nil, refusal{codeRefused, fmt.Sprintf("%s is used in the module %s, whose files are not written", name.Text, r.At.File.Module)}
		}
		file := nameOfFile(r.At.File.Name)
		if d := s.ws.docs[file]; d != nil && d.text.s != r.At.File.Text {
			return nil, refusal{codeRefused, file + " has changed"}
		}
		texts[file] = r.At.File.Text
		places[file] = append(places[file], place{r.At.Lo, r.At.Hi})
		edits[file] = append(edits[file], textEdit{s.ws.span(r.At), p.NewName})
	}
	if err := s.ws.elsewhere(c, name, places); err != nil {
		return nil, err
	}
	if name.Kind == index.Flow {
		if file := s.generatedFrom(c); file != "" {
			return nil, refusal{codeRefused, fmt.Sprintf("%s is generated from this file, and its package is called after the workflow: delete it, rename, and run `flowgen generate`", file)}
		}
	}
	if err := s.ws.prove(name, p.NewName, texts, places); err != nil {
		return nil, err
	}
	return s.ws.edits(edits), nil
}

// generatedFrom is the Go file next to a workflow that was generated from it; "" when there is none.
func (s *server) generatedFrom(c cursor) string {
	sources := s.sources(c, path.Dir(c.name), ".go")
	for _, file := range slices.Sorted(maps.Keys(sources)) {
		if strings.Contains(sources[file][:min(len(sources[file]), 1000)], "\n// source: "+path.Base(c.name)+"\n") {
			return file
		}
	}
	return ""
}

// A place is a range of a file, in bytes.
type place struct{ lo, hi int }

// prove compiles the workflows as a rename would leave them.
func (w *workspace) prove(name *index.Name, to string, texts map[string]string, places map[string][]place) error {
	in := w.inputs()
	after := map[string][]place{}
	for file, list := range places {
		slices.SortFunc(list, func(a, b place) int { return cmp.Compare(a.lo, b.lo) })
		var b strings.Builder
		last := 0
		for _, p := range list {
			b.WriteString(texts[file][last:p.lo])
			after[file] = append(after[file], place{b.Len(), b.Len() + len(to)})
			b.WriteString(to)
			last = p.hi
		}
		b.WriteString(texts[file][last:])
		in.Unsaved[file] = b.String()
	}
	found := map[string][]place{}
	for _, r := range sortedRoots(w.roots) {
		touched := false
		for file := range places {
			touched = touched || r.files[file]
		}
		if !touched || r.index == nil {
			continue
		}
		res := w.opts.Compile(r.name, in)
		if d := worse(r.list, res.List); d != nil {
			at := ""
			if d.Span.File != nil {
				at = fmt.Sprintf(" (%s:%d)", d.Span.File.Name, d.Span.Start().Line)
			}
			return refusal{codeRefused, fmt.Sprintf("%s cannot become %s: %s%s", name.Text, to, d.Message, at)}
		}
		if res.Workflow == nil {
			continue
		}
		moved := index.Build(res.Workflow, res.Cases)
		decl := declared(moved, name, after, places)
		if decl == nil {
			continue
		}
		for _, ref := range moved.To(decl.Key()) {
			file := nameOfFile(ref.At.File.Name)
			if p := (place{ref.At.Lo, ref.At.Hi}); !slices.Contains(found[file], p) {
				found[file] = append(found[file], p)
			}
		}
	}
	for file, list := range after {
		slices.SortFunc(found[file], func(a, b place) int { return cmp.Compare(a.lo, b.lo) })
		if !slices.Equal(list, found[file]) {
			return refusal{codeRefused, fmt.Sprintf("%s cannot become %s: in %s that name has another meaning", name.Text, to, file)}
		}
	}
	return nil
}

// declared is the name in an index whose declaration has moved to where the rename puts it.
func declared(x *index.Index, name *index.Name, after, before map[string][]place) *index.Name {
	file := nameOfFile(name.At.File.Name)
	i := slices.Index(before[file], place{name.At.Lo, name.At.Hi})
	if i < 0 {
		return nil
	}
	for _, n := range x.Names {
		if n.At.File != nil && nameOfFile(n.At.File.Name) == file && n.At.Lo == after[file][i].lo {
			return n
		}
	}
	return nil
}

// worse is a mistake that was not there before, nil when there is none. Mistakes are counted by their codes: messages have names.
func worse(before, after []diag.Diagnostic) *diag.Diagnostic {
	count := map[diag.Code]int{}
	for _, d := range before {
		count[d.Code]++
	}
	for i, d := range after {
		if d.Message == bind.Loading {
			continue
		}
		if count[d.Code]--; count[d.Code] < 0 {
			return &after[i]
		}
	}
	return nil
}
