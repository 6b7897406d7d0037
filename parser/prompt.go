package parser

import (
	"strings"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// A prompt is a prompt file that was read.
type prompt struct {
	file  *source.File // nil when it cannot be read
	front *yamlnode.Node
	text  source.Text
}

// maxPrompt bounds a prompt file, in bytes: its text becomes a constant of the program.
const maxPrompt = 1 << 20

// Prompt implements native.Loader.
func (l *loader) Prompt(from *source.File, ref ir.Ident) (*yamlnode.Node, source.Text, *source.File) {
	name, ok := l.resolve(from, ref)
	if !ok {
		return nil, source.Text{}, nil
	}
	x, done := l.prompts[name]
	if !done {
		x = l.readPrompt(name, ref)
		if l.prompts == nil {
			l.prompts = map[string]*prompt{}
		}
		l.prompts[name] = x
	}
	return x.front, x.text, x.file
}

func (l *loader) readPrompt(name string, ref ir.Ident) *prompt {
	if l.limited(ref) {
		return &prompt{}
	}
	data, err := l.readFile(name)
	l.size += len(data)
	switch {
	case err != nil:
		l.unreadable(name, ref.Span, err)
		return &prompt{}
	case len(data) > maxPrompt:
		l.sink.Report(diag.Diagnostic{Code: diag.BadPrompt, Span: ref.Span, Message: "this file is larger than the 1 MiB that a prompt may have",
			Help: "pass large text with `with`"})
		return &prompt{}
	case !utf8.Valid(data) || strings.ContainsRune(string(data), 0):
		l.sink.Report(diag.Diagnostic{Code: diag.BadPrompt, Span: ref.Span, Message: "this file is not UTF-8 text", Help: "save it as UTF-8"})
		return &prompt{}
	}
	x := &prompt{file: l.newFile(name, string(data))}
	lo, body := frontMatter(x.file.Text)
	if body > 0 {
		x.front = l.front(x.file, body)
	}
	x.text = promptText(x.file, max(lo, body))
	return x
}

// frontMatter finds the lines between `---` at the start of a text: lo is where the first of these stands, body where
// the text after the second begins, 0 when there is no front matter.
func frontMatter(text string) (lo, body int) {
	lo = len(text) - len(strings.TrimPrefix(text, "\ufeff"))
	at := lo
	for n := 0; at < len(text); n++ {
		line, end := text[at:], len(text)
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line, end = line[:i], at+i+1
		}
		fence := strings.TrimRight(line, " \t\r") == "---"
		switch {
		case n == 0 && !fence:
			return lo, 0
		case n > 0 && fence:
			return lo, end
		}
		at = end
	}
	return lo, 0
}

// front reads the YAML that ends before the line of body. It is parsed as the start of the file, so that its offsets are
// those of the whole.
func (l *loader) front(f *source.File, body int) *yamlnode.Node {
	end := strings.LastIndex(f.Text[:body], "---")
	root, problems := yamlnode.Parse(source.NewFile(f.Name, f.Text[:end]))
	whole := func(s *source.Span) {
		if s.File != nil {
			s.File = f
		}
	}
	for _, p := range problems {
		if p.Kind == yamlnode.Empty {
			return nil
		}
		whole(&p.Span)
		for i := range p.Related {
			whole(&p.Related[i])
		}
		if p.Fix != nil {
			whole(&p.Fix.Span)
		}
		l.sink.Report(yamlDiagnostic(p))
	}
	if len(problems) > 0 || textSize(root) > maxText {
		return nil
	}
	seen := map[*yamlnode.Node]bool{}
	var walk func(n *yamlnode.Node)
	walk = func(n *yamlnode.Node) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		whole(&n.Span)
		whole(&n.Text.Span)
		whole(&n.Alias)
		for _, e := range n.Entries {
			walk(e.Key)
			walk(e.Value)
		}
		for _, it := range n.Items {
			walk(it)
		}
	}
	walk(root)
	return root
}

// promptText is the text from lo on, without the empty lines around it and with line feeds alone.
func promptText(f *source.File, lo int) source.Text {
	hi := len(strings.TrimRight(f.Text, " \t\r\n"))
	if hi < lo {
		hi = lo
	}
	for {
		line, _, more := strings.Cut(f.Text[lo:hi], "\n")
		if !more || strings.TrimSpace(line) != "" {
			break
		}
		lo += len(line) + 1
	}
	t := source.Text{Value: f.Text[lo:hi], Span: source.Span{File: f, Lo: lo, Hi: hi}}
	if !strings.Contains(t.Value, "\r") {
		return t
	}
	raw := t.Value
	t.Value = strings.ReplaceAll(raw, "\r\n", "\n")
	t.Offsets = func() []int {
		out := make([]int, 0, len(raw)+1)
		for i := range len(raw) {
			if raw[i] != '\r' || i+1 == len(raw) || raw[i+1] != '\n' {
				out = append(out, lo+i)
			}
		}
		return append(out, hi)
	}
	return t
}
