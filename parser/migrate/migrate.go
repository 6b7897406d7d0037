// Package migrate rewrites workflow files and prompts of earlier versions of the native language. Each change of the
// language is a rewrite with a name; what it does not touch stays as it is, byte by byte, comments included.
package migrate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// A Rewrite replaces one old spelling.
type Rewrite struct {
	Name string // of the change, as CHANGELOG says it
	find func(*finder)
}

// Rewrites are all changes, in the order in which they are applied: each reads what those before it have written.
func Rewrites() []Rewrite {
	return []Rewrite{
		{"effects are `reads` and `writes`", (*finder).effects},
		{"`status` of a tool, not `state`", (*finder).status},
		{"`{secret: NAME}` in `env`", (*finder).secretsInEnv},
		{"`with` of a tool call, not `args`", (*finder).arguments},
		{"`fail`, `skip` and `keep` for all errors", (*finder).failures},
		{"`when` for `join: all`", (*finder).joins},
		{"`max_total_tokens` of a policy", (*finder).totalTokens},
		{"`timeout` in `retry` for one attempt", (*finder).timeouts},
		{"values in `query` and `headers`", (*finder).params},
		{"text without `| python`", (*finder).pyFilters},
	}
}

// promptRewrites are the changes of the front matter of prompts.
func promptRewrites() []Rewrite {
	return []Rewrite{{"`in` of a prompt, not `with`", (*finder).promptInput}}
}

// A Context is what a file alone does not say. The zero Context is that of a file that nobody includes.
type Context struct {
	Secrets []string // names of secrets that the files which include it declare
}

// Workflow is the text of a workflow file or a library with all rewrites, and the names of those that changed it. root is the
// tree of f, in which there were no problems. An error is a fault of a rewrite: the file has to stay as it is.
func Workflow(f *source.File, root *yamlnode.Node, in Context) (text string, done []string, err error) {
	return apply(f, root, len(f.Text), Rewrites(), in)
}

// Prompt does the same for a prompt file whose front matter is root, and ends at the offset end.
func Prompt(f *source.File, root *yamlnode.Node, end int) (text string, done []string, err error) {
	return apply(f, root, end, promptRewrites(), Context{})
}

func apply(f *source.File, root *yamlnode.Node, end int, list []Rewrite, in Context) (string, []string, error) {
	var done []string
	rest := f.Text[end:]
	f = source.NewFile(f.Name, f.Text[:end])
	for _, r := range list {
		x := &finder{file: f, root: root, in: in}
		r.find(x)
		if len(x.edits) == 0 {
			continue
		}
		text, err := x.edited()
		if err != nil {
			return "", nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		if text == f.Text {
			continue
		}
		f = source.NewFile(f.Name, text)
		var problems []yamlnode.Problem
		if root, problems = yamlnode.Parse(f); root == nil || len(problems) > 0 {
			return "", nil, fmt.Errorf("%s: the text would not be valid YAML", r.Name)
		}
		done = append(done, r.Name)
	}
	return f.Text + rest, done, nil
}

// A finder collects the edits of one rewrite.
type finder struct {
	file  *source.File
	root  *yamlnode.Node
	in    Context
	edits []diag.Edit
}

// edited is the text with all edits. One edit of a place reached several times, through aliases, counts once.
func (x *finder) edited() (string, error) {
	var fixes []diag.Diagnostic
	slices.SortStableFunc(x.edits, func(a, b diag.Edit) int { return a.Span.Lo - b.Span.Lo })
	x.edits = slices.CompactFunc(x.edits, func(a, b diag.Edit) bool {
		return a.Span.Lo == b.Span.Lo && a.Span.Hi == b.Span.Hi && a.New == b.New
	})
	for i := range x.edits {
		x.edits[i].Span.File = x.file
		if i > 0 && x.edits[i].Span.Lo < x.edits[i-1].Span.Hi {
			return "", errors.New("edits overlap")
		}
	}
	fixes = append(fixes, diag.Diagnostic{Fixes: []diag.Fix{{Edits: x.edits}}})
	made, _ := diag.ApplyFixes(fixes)
	if len(made) != 1 {
		return "", errors.New("edits meet at one place")
	}
	return made[0].Text, nil
}
