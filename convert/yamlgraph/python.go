package yamlgraph

import (
	"regexp"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
)

// A function is what the text of a Python function says: the name of its first parameter, what it looks at there, and what
// it returns. It is read as text, and for the worst.
type function struct {
	param string
	names []string          // keys of the state
	exact map[string]bool   // keys that must be there
	plain map[string]bool   // keys that may be missing, and then are None
	other map[string]string // what stands for a key that is missing, a literal
	whole bool

	keys  []string        // of the mapping that it returns
	maybe map[string]bool // of them, those that it leaves out at times
	value bool            // it returns something else than a mapping

	unread bool // what it returns cannot be read
}

// reads reports whether the function looks at a field.
func (f *function) reads(name string) bool { return f.whole || slices.Contains(f.names, name) }

var (
	pyReturn = lazyregexp.New(`(?m)^[ \t]+return\b[ \t]*(.*)$`)
	pyNested = lazyregexp.New(`(?m)^[ \t]+(?:async[ \t]+)?def\b|\byield\b|\blambda\b`)
	pyValue  = lazyregexp.New(`^(?:\[|\(|[frb]{0,2}["']|-?[0-9]|True\b|False\b|(?:str|int|float|len|sum|sorted|list|round|bool)\()`)
	pyElse   = lazyregexp.New(`^[ \t]+if\b[^\n]*?\belse[ \t]+(\{)`)
	pyEnd    = lazyregexp.New(`^[ \t]*(?:#[^\n]*)?(?:\n|$)`)
	pyPlain  = lazyregexp.New(`^\s*->\s*(?:str|int|float|bool|list(?:\[[^\]]*\])?)\s*:`)
)

// readFunction reads a function out of a file.
func readFunction(text, name string) (*function, bool) {
	at := regexp.MustCompile(`(?m)^(?:async[ \t]+)?def[ \t]+` + regexp.QuoteMeta(name) + `[ \t]*\(([^()]*)\)`).FindStringSubmatchIndex(text)
	if at == nil {
		return nil, false
	}
	f := &function{exact: map[string]bool{}, plain: map[string]bool{}, other: map[string]string{}, maybe: map[string]bool{}}
	param, _, _ := strings.Cut(text[at[2]:at[3]], ",")
	param, _, _ = strings.Cut(param, ":")
	f.param = strings.TrimSpace(param)
	rest := text[at[1]:]
	if end := regexp.MustCompile(`(?m)^\S`).FindStringIndex(strings.TrimPrefix(rest[strings.IndexByte(rest+"\n", '\n'):], "\n")); end != nil {
		rest = rest[:strings.IndexByte(rest+"\n", '\n')+1+end[0]]
	}
	head, body, _ := strings.Cut(rest, "\n")
	if !doc.FieldForm.MatchString(f.param) || pyNested.MatchString(body) || strings.TrimSpace(body) == "" {
		return nil, false
	}
	f.looks(body)
	return f, f.returns(body, pyPlain.MatchString(head))
}

// pyDefault is what stands for a key that is missing, where that is a literal that the native language writes the same way.
var pyDefault = lazyregexp.New(`^\s*(-?[0-9]+(?:\.[0-9]+)?|"[^"\\\n]*")\s*\)`)

var pyKey = lazyregexp.New(`^(?:\[\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\]|\.get\(\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*(\)|,))`)

// looks finds the keys of the state that are read.
func (f *function) looks(body string) {
	for _, at := range regexp.MustCompile(`\b`+f.param+`\b`).FindAllStringIndex(body, -1) {
		m := pyKey.FindStringSubmatch(body[at[1]:])
		if m == nil || at[0] > 0 && body[at[0]-1] == '.' {
			f.whole = true
			continue
		}
		name := m[1] + m[2] + m[3] + m[4]
		if !slices.Contains(f.names, name) {
			f.names = append(f.names, name)
		}
		switch literal := pyDefault.FindStringSubmatch(body[at[1]:][len(m[0]):]); {
		case m[5] == ")":
			f.plain[name] = true
		case m[5] == "," && literal != nil && (f.other[name] == "" || f.other[name] == literal[1]):
			f.other[name] = literal[1]
		default: // an index, or a default of its own
			f.exact[name] = true
		}
		if f.plain[name] && f.other[name] != "" {
			f.exact[name] = true
		}
	}
}

// returns finds out what is returned; ok is false when that cannot be read.
func (f *function) returns(body string, plain bool) bool {
	all := pyReturn.FindAllStringSubmatchIndex(body, -1)
	if plain {
		f.value = true
		return true
	}
	mappings := 0
	for _, at := range all {
		text := body[at[2]:]
		if !strings.HasPrefix(text, "{") {
			if !pyValue.MatchString(text) || mappings > 0 {
				return false
			}
			f.value = true
			continue
		}
		literals, ok := mappingsOf(strings.ReplaceAll(text, "'", `"`))
		if !ok || f.value {
			return false
		}
		for _, keys := range literals {
			for _, k := range f.keys {
				f.maybe[k] = f.maybe[k] || !slices.Contains(keys, k)
			}
			for _, k := range keys {
				if !slices.Contains(f.keys, k) {
					f.keys, f.maybe[k] = append(f.keys, k), mappings > 0
				}
			}
			mappings++
		}
	}
	if mappings > 0 && len(f.keys) == 0 {
		return false
	}
	return len(all) > 0 || f.raises(body)
}

// pyRaise is a body that does nothing but to raise.
var pyRaise = lazyregexp.New(`^\s*(?:"""[^"]*"""\s*)?raise\b[^\n]*\s*$`)

// raises reports whether the function always raises. What it would return is nothing that is written.
func (f *function) raises(body string) bool {
	f.value = pyRaise.MatchString(body)
	return f.value
}

// mappingsOf are the keys of the mappings that a statement may return: one, or one of several, as in `{...} if x else {...}`.
func mappingsOf(text string) (out [][]string, ok bool) {
	for {
		keys, rest, ok := convert.ObjectLiteral(text)
		if !ok {
			return nil, false
		}
		out = append(out, keys)
		more := pyElse.FindStringSubmatchIndex(rest)
		if more == nil {
			return out, pyEnd.MatchString(rest)
		}
		text = rest[more[2]:]
	}
}

// leavesOut refuses a field that a function leaves out at times, where it may have a value before: null and what is left out are
// one in a native result.
func (g *graph) leavesOut() {
	for _, n := range g.tree.Nodes {
		f := g.called(n)
		if f == nil {
			continue
		}
		for _, k := range f.keys {
			if f.maybe[k] && len(g.held(k)) > 0 && (g.writers(k) > 1 || g.cyclic(n) || g.starts[k] || g.seeded(k)) {
				g.Refuse(n.ID.Span, "return the key in any case", "the function of %s leaves out `%s` at times, and the field keeps its value then", n.ID.Name, k)
			}
		}
	}
}

// function reads the function of a python node.
func (g *graph) function(n *yamlgraph.Node, v *ir.ToolCall, key string) {
	t := v.Tool
	b, is := t.Binding.(*ir.PythonTool)
	if !is || t.Def == nil {
		g.NoNode(g.own(n), n.Verb)
		return
	}
	f, ok := g.read(t)
	if !ok {
		g.Refuse(n.ID.Span, "return a mapping with constant keys, or annotate the result", "it cannot be read in the function %s what it writes to the state", b.Ref.Name)
		return
	}
	for name, s := range g.shapes {
		if f.whole || f.exact[name] { // else what is missing is None to it in any case
			s.whole = true
		}
	}
	for _, k := range f.keys {
		g.writes[n] = append(g.writes[n], g.held(k)...)
		if f.maybe[k] && len(g.held(k)) > 0 {
			g.keep(n, k, false)
			g.Opt[k] = true
		}
	}
	if f.value {
		g.writes[n] = g.held(key)
	}
}

// read reads the function of a tool; false: what it returns cannot be read. nil: nor can what it is given.
func (g *graph) read(t *ir.Tool) (*function, bool) {
	b, is := t.Binding.(*ir.PythonTool)
	if !is || t.Def == nil {
		return nil, false
	}
	if f := g.python[t]; f != nil {
		return f, !f.unread
	}
	_, name, _ := strings.Cut(b.Ref.Name, ":")
	for _, file := range t.Def.Files {
		if f, ok := readFunction(file.Text, name); f != nil {
			if !ok {
				*f = function{param: f.param, names: f.names, exact: f.exact, plain: f.plain, other: f.other, whole: f.whole, unread: true}
			}
			g.python[t] = f
			return f, ok
		}
	}
	return nil, false
}

// called is the function of a python node.
func (g *graph) called(n *yamlgraph.Node) *function {
	if v, ok := n.Verb.(*ir.ToolCall); ok {
		return g.python[v.Tool]
	}
	return nil
}

// pythonTool declares a tool.
func (g *graph) pythonTool(t *ir.Tool) *ir.Tool {
	name := convert.NativeID(t.Key.Name)
	if i := slices.IndexFunc(g.Out.Tools, func(t *ir.Tool) bool { return t.Key.Name == name }); i >= 0 {
		return g.Out.Tools[i]
	}
	if name != t.Key.Name {
		g.Refuse(t.Key.Span, "rename it", "the tool %q is named by data and cannot be called otherwise: names are lower-case letters, digits and _", t.Key.Name)
	}
	out := &ir.Tool{Key: convert.Name(name), Binding: t.Binding, Description: t.Description, Effects: ir.EffectsExternal}
	if _, ok := t.Binding.(*ir.PythonTool); !ok || t.Def == nil || t.Def.Root != "" {
		g.Refuse(t.Span, "declare it below `tools` in the native file", "the tool %s is not converted", t.Key.Name)
		return out
	}
	g.PythonWorld(t)
	g.pythonData(t)
	if f := g.python[t]; f != nil { // it is given the state
		if slices.Contains(f.names, "current_step") {
			g.Refuse(t.Span, "hand the name of the node on in a field of its own", "the tool %s reads `current_step`, which a native workflow does not have", t.Key.Name)
		}
		out.In = convert.Struct(convert.Field(f.param, schema.MapOf(schema.AnyType)))
		switch {
		case f.unread:
			out.Out = schema.AnyType
		case !f.value:
			out.Out = convert.Struct()
		}
		for _, k := range f.keys {
			field := convert.Field(k, schema.AnyType)
			if s := g.tree.StateField(k); s != nil {
				field.Type = g.shapeType(k, s)
			}
			if f.maybe[k] {
				field.Type = optional(field.Type)
			}
			out.Out.Fields = append(out.Out.Fields, field)
		}
	}
	g.Out.Tools = append(g.Out.Tools, out)
	return out
}

// pyDates finds modules that work with dates.
var pyDates = lazyregexp.New(`(?m)^[ \t]*(?:from|import)[ \t]+datetime\b`)

// schemaName finds the names of fields in a JSON schema, and some of its own words.
var schemaName = lazyregexp.New(`"([A-Za-z_][A-Za-z0-9_]*)": ?\{`)

// pythonData refuses a function to which data are more than what JSON has.
func (g *graph) pythonData(t *ir.Tool) {
	for _, file := range t.Def.Files {
		if pyDates.MatchString(file.Text) {
			g.Refuse(t.Span, "annotate parameters with `datetime` in the native file", "the module %s works with dates, which functions of a native file hand on as text", file.Name)
			return
		}
		for _, n := range g.tree.Nodes {
			for _, m := range schemaName.FindAllStringSubmatch(n.Schema, -1) {
				if name := m[1]; regexp.MustCompile(`\.` + regexp.QuoteMeta(name) + `\b`).MatchString(file.Text) {
					g.Refuse(t.Span, "write `[\""+name+"\"]`", "the module %s reads `%s` of an answer as an attribute, and an answer is a mapping to functions of a native file", file.Name, name)
					return
				}
			}
		}
	}
}

// pythonNode is a node that calls a function with the state.
func (g *graph) pythonNode(n *yamlgraph.Node, v *ir.ToolCall, out *ir.Node) {
	f, tool := g.python[v.Tool], g.pythonTool(v.Tool)
	id := g.IDs[n.ID.Name]
	var state ir.Value
	given, lacks := g.handed(n, f, "")
	if state = given; lacks {
		present := g.call(id+"_state", "Present", convert.Pair("of", given))
		g.part(n).before = append(g.part(n).before, step{Node: present})
		state = convert.Ref(present.ID.Name)
	}
	if f.whole {
		g.Note(n.ID.Span, "", "the function sees the fields that the file declares, and none of the engine's own")
	}
	out.Verb = &ir.ToolCall{Name: tool.Key, With: convert.With(convert.Pair(f.param, state))}
	for _, field := range g.writes[n] {
		from := id
		if !f.value {
			from += "." + field
		}
		out.Set = append(out.Set, convert.Set(field, from))
	}
	if f.value && len(g.writes[n]) == 1 {
		if typ := g.shapes[g.writes[n][0]].declared; tool.Out == nil && typ.Kind != schema.Any {
			tool.Out = typ
		}
	}
}

// handed is the state that a function is given, without what a map gives it. It lacks fields that have no value: to the function
// they would be None.
func (g *graph) handed(n *yamlgraph.Node, f *function, item string) (state *ir.Object, lacks bool) {
	state = &ir.Object{}
	for _, s := range g.tree.State {
		name := s.Name.Name
		if !f.reads(name) || g.isAuto(name) || name == item {
			continue
		}
		path := g.path(&dialect.Reference{Root: "state", Path: []string{name}}, "")
		if sure := g.certain(name, n) || !g.written(name) && g.shapes[name].used(); !sure {
			exact := f.whole || f.exact[name]
			if lacks = lacks || exact; exact && (item != "" || g.nullable(name, n)) {
				g.Refuse(n.ID.Span, "read it with `"+f.param+".get(\""+name+"\") or ...`", "state.%s may be missing when %s reads it: to the function it would be None", name, n.ID.Name)
			}
			g.Opt[name] = true
			if other := f.other[name]; other != "" && !exact {
				path = "default(" + path + ", " + literal(other, s.Type) + ")"
			}
		}
		state.Entries = append(state.Entries, convert.Pair(name, convert.Ref(path)))
	}
	return state, lacks
}

// nullable reports whether a field may hold null, which is another thing to a function than that it is missing.
func (g *graph) nullable(name string, n *yamlgraph.Node) bool {
	return g.shapes[name].declared.Kind == schema.Any || g.emptied[name] && slices.ContainsFunc(g.tree.Nodes, func(m *yamlgraph.Node) bool {
		_, call := m.Verb.(*ir.ToolCall)
		return m != n && slices.Contains(g.writes[m], name) && (!call || m.Token.OnError == yamlgraph.TokenNull) && g.reaches(m, n, map[*yamlgraph.Node]bool{})
	})
}

// literal is a literal of Python where a value of a type stands.
func literal(text string, t *schema.Type) string {
	if t.Kind == schema.Float && !strings.ContainsAny(text, ".\"") {
		return text + ".0"
	}
	return text
}
