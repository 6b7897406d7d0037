package jssource

import (
	"path"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A module is one file of TypeScript or JavaScript with its declarations at the top.
type module struct {
	*world
	file *foreign.File
	dir  string // slash-separated, relative to the folder of the workflow file
	toks []token

	decls   map[string]*decl
	imports map[string]binding
	exports map[string]binding // names exported from here, also from other modules
	first   int                // index after `export default`; 0: none
	all     []string           // modules that are exported whole
}

// A decl is a declaration at the top of a module.
type decl struct {
	in   *module
	kind string // interface, type, enum, function, value, class
	name token
	at   int    // index of the first token after the name
	doc  string // the comment in front of the statement
}

// A binding is a name of another module, or of this one when from is "".
type binding struct{ from, name string }

// world reads modules of one workflow folder.
type world struct {
	files   *foreign.Files
	home    foreign.Folder
	modules map[string]*module
	types   map[*decl]*named
}

// maxModules bounds how many files are read for types.
const maxModules = 500

// module reads a file by its name relative to the folder; nil when that cannot be.
func (w *world) module(rel string) *module {
	if m, done := w.modules[rel]; done {
		return m
	}
	if len(w.modules) >= maxModules {
		return nil
	}
	w.modules[rel] = nil
	f, err := w.files.Read(w.home, rel)
	if err != nil {
		return nil
	}
	m := &module{world: w, file: f, dir: path.Dir(rel), toks: lex(f.Source.Text), decls: map[string]*decl{}, imports: map[string]binding{}, exports: map[string]binding{}}
	m.scan()
	w.modules[rel] = m
	return m
}

// other is the module that an import names; nil for one that is not a file of the workflow.
func (m *module) other(from string) *module {
	if !strings.HasPrefix(from, "./") && !strings.HasPrefix(from, "../") {
		return nil
	}
	rel := path.Join(m.dir, from)
	if rel == ".." || strings.HasPrefix(rel, "../") {
		return nil
	}
	for _, name := range variants(rel) {
		if m.files.IsFile(m.home, name) {
			return m.module(name)
		}
	}
	return nil
}

// variants are the files that an import may mean, the likeliest first.
func variants(name string) []string {
	out := []string{name, name + ".ts", name + ".mts", name + ".d.ts", name + ".js", name + ".mjs", name + ".json", name + "/index.ts", name + "/index.js"}
	if base, ok := strings.CutSuffix(name, ".js"); ok { // how TypeScript names a .ts file
		out = append(out, base+".ts")
	} else if base, ok := strings.CutSuffix(name, ".mjs"); ok {
		out = append(out, base+".mts")
	}
	return out
}

func (m *module) tok(i int) token {
	if i < 0 || i >= len(m.toks) {
		return m.toks[len(m.toks)-1]
	}
	return m.toks[i]
}

func (m *module) span(t token) source.Span {
	return source.Span{File: m.file.Source, Lo: t.lo, Hi: t.hi}
}

// skip is the index after the bracket that closes the one at i, or after i when it is none.
func (m *module) skip(i int) int {
	depth := 0
	for ; i < len(m.toks)-1; i++ {
		if t := m.toks[i]; t.kind == punct {
			switch t.text {
			case "(", "[", "{":
				depth++
			case ")", "]", "}":
				depth--
			}
		}
		if depth <= 0 {
			return i + 1
		}
	}
	return i
}

// scan finds the declarations.
func (m *module) scan() {
	for i := 0; i < len(m.toks)-1; {
		t, before := m.toks[i], m.tok(i-1)
		if i == 0 || t.fresh || before.is(";") || before.is("}") {
			if next := m.statement(i); next > i {
				i = next
				continue
			}
		}
		i = m.skip(i)
	}
}

// statement reads a statement that declares, imports or exports; it returns i for any other.
func (m *module) statement(i int) int {
	start, exported := i, false
	doc := m.tok(i).doc
	if m.tok(i).is("import") {
		return m.importing(i)
	}
	if m.tok(i).is("export") {
		exported = true
		i++
		switch {
		case m.tok(i).is("default"):
			m.first = i + 1
			if m.tok(i+1).doc == "" {
				m.toks[i+1].doc = doc
			}
			m.declare(i+1, m.tok(i+1).doc)
			return i + 1
		case m.tok(i).is("{"), m.tok(i).is("*"), m.tok(i).is("type") && m.tok(i+1).is("{"):
			return m.exporting(i)
		}
	}
	if d := m.declare(i, doc); d != nil {
		if exported {
			m.exports[d.name.text] = binding{"", d.name.text}
		}
		return d.at
	}
	return start
}

// declare notes a declaration that begins at i, nil when none does.
func (m *module) declare(i int, doc string) *decl {
	for m.tok(i).is("declare") || m.tok(i).is("abstract") || m.tok(i).is("async") && m.tok(i+1).is("function") {
		i++
	}
	if m.tok(i).is("const") && m.tok(i+1).is("enum") {
		i++
	}
	t, name := m.tok(i), m.tok(i+1)
	kinds := map[string]string{"interface": "interface", "type": "type", "enum": "enum", "function": "function", "class": "class", "const": "value", "let": "value", "var": "value"}
	kind := kinds[t.text]
	if t.kind != word || kind == "" || kind == "function" && name.is("*") || name.kind != word {
		return nil
	}
	d := &decl{in: m, kind: kind, name: name, at: i + 2, doc: doc}
	if old := m.decls[name.text]; old == nil || old.kind == "function" { // the last of overloads has the body
		m.decls[name.text] = d
	}
	return d
}

// importing reads `import a, {b as c} from "x"`.
func (m *module) importing(i int) int {
	i++
	if m.tok(i).is("type") && !m.tok(i+1).is("from") && !m.tok(i+1).is(",") {
		i++
	}
	var names []binding
	var local []string
	for ; m.tok(i).kind == word && !m.tok(i).is("from") || m.tok(i).is(",") || m.tok(i).is("*") || m.tok(i).is("{"); i++ {
		t := m.tok(i)
		switch {
		case t.is("{"):
			close := m.skip(i)
			for j := i + 1; j < close-1; j++ {
				names, local, j = m.specifier(j, names, local)
			}
			i = close - 1
		case t.is("*"):
			i += 2 // as ns: its members are not followed
		case t.kind == word:
			names, local = append(names, binding{"", "default"}), append(local, t.text)
		}
	}
	if m.tok(i).is("from") {
		i++
	}
	if from := m.tok(i); from.kind == str {
		for k, b := range names {
			m.imports[local[k]] = binding{from.text, b.name}
		}
		return i + 1
	}
	return i
}

// specifier reads `type? a as b`, and returns the index of its last token.
func (m *module) specifier(j int, names []binding, local []string) ([]binding, []string, int) {
	if m.tok(j).is("type") && m.tok(j+1).kind == word && !m.tok(j+1).is("as") {
		j++
	}
	t := m.tok(j)
	if t.kind != word {
		return names, local, j
	}
	as := t.text
	if m.tok(j + 1).is("as") {
		j += 2
		as = m.tok(j).text
	}
	return append(names, binding{"", t.text}), append(local, as), j
}

// exporting reads `export {a as b} from "x"` and `export * from "x"`.
func (m *module) exporting(i int) int {
	if m.tok(i).is("type") {
		i++
	}
	if m.tok(i).is("*") {
		if m.tok(i+1).is("from") && m.tok(i+2).kind == str {
			m.all = append(m.all, m.tok(i+2).text)
		}
		return i + 1
	}
	close := m.skip(i)
	var names []binding
	var as []string
	for j := i + 1; j < close-1; j++ {
		names, as, j = m.specifier(j, names, as)
	}
	from := ""
	if m.tok(close).is("from") && m.tok(close+1).kind == str {
		from = m.tok(close + 1).text
		close += 2
	}
	for k, b := range names {
		m.exports[as[k]] = binding{from, b.name}
	}
	return close
}

// maxSteps bounds how far a name is followed from module to module.
const maxSteps = 20

// lookup follows a name that is used in m to its declaration; nil when it leads out of what is read.
func (m *module) lookup(name string, steps int) *decl {
	if steps > maxSteps {
		return nil
	}
	if d := m.decls[name]; d != nil {
		return d
	}
	b, ok := m.imports[name]
	if !ok {
		return nil
	}
	if o := m.other(b.from); o != nil {
		return o.exported(b.name, steps+1)
	}
	return nil
}

// exported follows a name that m exports.
func (m *module) exported(name string, steps int) *decl {
	if steps > maxSteps {
		return nil
	}
	if name == "default" && m.first > 0 && m.tok(m.first).kind == word {
		return m.lookup(m.tok(m.first).text, steps+1)
	}
	if b, ok := m.exports[name]; ok {
		if b.from == "" {
			return m.lookup(b.name, steps+1)
		}
		if o := m.other(b.from); o != nil {
			return o.exported(b.name, steps+1)
		}
		return nil
	}
	for _, from := range m.all {
		if o := m.other(from); o != nil && name != "default" {
			if d := o.exported(name, steps+1); d != nil {
				return d
			}
		}
	}
	return nil
}
