package stargraph

import (
	"path"
	"regexp"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A decorated function is one that the project's Python declares as a tool: `@tool(name=..., namespace=..., version=...)`.
// The engine finds tools by running the packages that declare them; here their sources are looked through, and the function
// is bound as any Python tool is.
type decorated struct {
	key    string // namespace.name@version
	file   *source.File
	name   string // of the function
	params string // as they are written
}

var (
	decorator = lazyregexp.New(`(?m)^@(?:[A-Za-z_][A-Za-z0-9_.]*\.)?tool\(`)
	keyword   = lazyregexp.New(`\b(name|namespace|version)\s*=\s*(?:"([^"\n]*)"|'([^'\n]*)'|([A-Za-z_][A-Za-z0-9_]*))`)
	function  = lazyregexp.New(`^(?:\s*(?:#[^\n]*)?\n|@[^\n]*\n)*(?:async[ \t]+)?def[ \t]+([A-Za-z_][A-Za-z0-9_]*)[ \t]*\(`)
)

// pythonTools are the tools that the sources of the project declare, by their keys. The first of a key counts.
func (p *parser) pythonTools() map[string]*decorated {
	if p.python != nil {
		return p.python
	}
	p.python = map[string]*decorated{}
	root, files := p.load.Sources(p.File, ".py")
	p.project = root
	p.packages = map[string]bool{}
	for _, f := range files {
		if path.Base(f.Name) == "__init__.py" {
			p.packages[path.Dir(f.Name)] = true
		}
		for _, d := range declared(f) {
			if p.python[d.key] == nil {
				p.python[d.key] = d
			}
		}
	}
	return p.python
}

// declared are the tools of a file.
func declared(f *source.File) []*decorated {
	var out []*decorated
	text := f.Text
	for _, at := range decorator.FindAllStringIndex(text, maxTools) {
		end := closing(text, at[1])
		if end < 0 {
			continue
		}
		m := function.FindStringSubmatchIndex(text[end+1:])
		if m == nil {
			continue
		}
		lo := end + 1 + m[1]
		hi := closing(text, lo)
		if hi < 0 {
			continue
		}
		says := map[string]string{}
		for _, k := range keyword.FindAllStringSubmatch(text[at[1]:end], -1) {
			if value := k[2] + k[3]; value != "" {
				says[k[1]] = value
			} else if k[4] != "" {
				says[k[1]] = constantOf(text, k[4])
			}
		}
		if says["name"] == "" || says["namespace"] == "" || says["version"] == "" {
			continue
		}
		out = append(out, &decorated{key: says["namespace"] + "." + says["name"] + "@" + says["version"], file: f, name: text[end+1:][m[2]:m[3]], params: text[lo:hi]})
	}
	return out
}

// constantOf is the text that a name of a module stands for.
func constantOf(text, name string) string {
	m := regexp.MustCompile(`(?m)^` + name + `[ \t]*(?::[^=\n]+)?=[ \t]*(?:"([^"\n]*)"|'([^'\n]*)')`).FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1] + m[2]
}

// The bounds of a source: how far the end of a decorator or of parameters is looked for, and how many tools.
const (
	maxArguments = 32 << 10
	maxTools     = 1000
)

// closing is the place of the parenthesis that closes the one before lo; -1: there is none.
func closing(text string, lo int) int {
	text = text[:min(len(text), lo+maxArguments)]
	depth := 1
	for i := lo; i < len(text); i++ {
		switch c := text[i]; c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return i
			}
		case '#':
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case '"', '\'':
			q := string(c)
			if strings.HasPrefix(text[i:], q+q+q) {
				q += q + q
			}
			end := endOfText(text, i+len(q), q)
			if end < 0 {
				return -1
			}
			i = end + len(q) - 1
		}
	}
	return -1
}

// endOfText is where a text of Python ends that begins at lo; -1: nowhere.
func endOfText(text string, lo int, quote string) int {
	for i := lo; i < len(text); i++ {
		if text[i] == '\\' {
			i++
		} else if strings.HasPrefix(text[i:], quote) {
			return i
		}
	}
	return -1
}

// pythonTool is the tool that the project's Python declares under a key; nil when there is none.
func (p *parser) pythonTool(key ir.Ident) *ir.Tool {
	d := p.pythonTools()[key.Name]
	if d == nil {
		return nil
	}
	name, version, _ := strings.Cut(key.Name, "@")
	base, module := p.module(d.file.Name)
	at := source.NewFile(path.Join(base, "flowgen.bindings.yaml"), "") // tools are looked for beside the file that declares them
	t := &ir.Tool{Name: ir.Ident{Name: name, Span: key.Span}, Version: version, Key: key,
		Binding: &ir.PythonTool{Ref: ir.Ident{Name: module + ":" + d.name, Span: key.Span}, Free: true}, File: at, Span: key.Span}
	if p.hints == nil {
		p.hints = map[*ir.Tool]*schema.Type{}
	}
	p.hints[t] = inputOf(d.params)
	return t
}

// module is the name of the module in a file, and the folder that it is imported from: the one around the outermost package,
// else that of the graph, where the file is below it, else the root of the project or `src` there.
func (p *parser) module(file string) (base, name string) {
	base = path.Dir(file)
	for p.packages[base] {
		base = path.Dir(base)
	}
	if base == path.Dir(file) {
		base = p.project
		if own := path.Dir(p.File.Name); own == "." || strings.HasPrefix(file, own+"/") {
			base = own
		} else if strings.HasPrefix(file, path.Join(base, "src")+"/") {
			base = path.Join(base, "src")
		}
	}
	rel := strings.TrimSuffix(file, ".py")
	if base != "." {
		rel = strings.TrimPrefix(rel, base+"/")
	}
	rel = strings.TrimSuffix(rel, "/__init__")
	parts := strings.Split(rel, "/")
	for i := len(parts) - 1; i >= 0; i-- { // folders whose names no module can have are no packages
		if !fieldForm.MatchString(parts[i]) {
			base = path.Join(append([]string{base}, parts[:i+1]...)...)
			parts = parts[i+1:]
			break
		}
	}
	return base, strings.Join(parts, ".")
}

// inputOf is what annotations of parameters say of a tool's input. What is not annotated is any value.
func inputOf(params string) *schema.Type {
	in := &schema.Type{Kind: schema.Struct}
	for _, one := range split(comments.ReplaceAllString(params, "")) {
		one, _, _ = strings.Cut(one, "=")
		name, typ, annotated := strings.Cut(one, ":")
		name = strings.TrimSpace(name)
		if !fieldForm.MatchString(name) {
			continue
		}
		t := schema.AnyType
		if annotated {
			if a := annotation(strings.TrimSpace(typ), 0); a != nil {
				t = a
			}
		}
		in.Fields = append(in.Fields, &schema.Field{Name: name, Type: t})
	}
	return in
}

var comments = lazyregexp.New(`#[^\n]*`)
