package parser

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/migrate"
	"github.com/flowgen-dev/flowgen/parser/native"
	"github.com/flowgen-dev/flowgen/parser/yamlfmt"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// Format returns a file of flowgen's own language in canonical layout (package yamlfmt says what that is). It means the
// same as before. ok is false when the file is not YAML or not in this language, which goes to sink; a file with
// mistakes of other kinds can be formatted. An error is a fault of the formatter: the file has to stay as it is.
func Format(f *source.File, sink *diag.Sink) (text string, ok bool, err error) {
	root := formattable(f, sink)
	if root == nil {
		return "", false, nil
	}
	text, err = yamlfmt.Format(f, root, yamlfmt.Rules{Order: native.TopKeys()})
	return text, err == nil, err
}

// formattable is the tree of a file of flowgen's own language, nil when it is none, which goes to sink.
func formattable(f *source.File, sink *diag.Sink) *yamlnode.Node {
	root, problems := yamlnode.Parse(f)
	for _, p := range problems {
		sink.Report(yamlDiagnostic(p))
	}
	if root == nil || len(problems) > 0 {
		return nil
	}
	if fit := detect(root); len(fit) != 1 || fit[0].name != "native" || root.Kind != yamlnode.Mapping {
		(&loader{sink: sink}).unknown(&tree{file: f, root: root})
		return nil
	}
	return root
}

// Migrate returns a file of flowgen's own language with the spellings of earlier versions replaced (package migrate), in its own
// layout, and what was replaced. secrets are those that files which include it declare. ok and err are as Format's.
func Migrate(f *source.File, secrets []string, sink *diag.Sink) (text string, done []string, ok bool, err error) {
	root := formattable(f, sink)
	if root == nil {
		return "", nil, false, nil
	}
	text, done, err = migrate.Workflow(f, root, migrate.Context{Secrets: secrets})
	return text, done, err == nil, err
}

// MigratePrompt does the same for a prompt file. One without front matter stays as it is.
func MigratePrompt(f *source.File, sink *diag.Sink) (text string, done []string, err error) {
	_, body := frontMatter(f.Text)
	if body == 0 {
		return f.Text, nil, nil
	}
	front := (&loader{sink: sink}).front(f, body)
	if front == nil || front.Kind != yamlnode.Mapping {
		return f.Text, nil, nil
	}
	return migrate.Prompt(f, front, len(f.Text[:body])-len("---")-trailing(f.Text[:body]))
}

// trailing is how long what follows the dashes at the end of the front matter is.
func trailing(front string) int {
	n := 0
	for n < len(front) && slices.Contains([]byte(" \t\r\n"), front[len(front)-1-n]) {
		n++
	}
	return n
}

// Serves are the files that a workflow file names which belong to it: those that it includes and its prompts, relative to it, and
// the secrets that it declares. A file that is not YAML names none.
func Serves(f *source.File) (includes, prompts, secrets []string) {
	root, problems := yamlnode.Parse(f)
	if root == nil || len(problems) > 0 {
		return nil, nil, nil
	}
	return migrate.Names(root)
}
