package yamlgraph

import (
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// command is what the file says about a shell tool; nil: the tool is of another kind, or declared in another file.
func (g *graph) command(t *ir.Tool) *yamlnode.Node {
	at := g.Root.Get("tools").Get(t.Key.Name)
	if at == nil || t.Key.Span.File != g.Workflow.File || at.Get("command") == nil || at.Get("command").Kind != yamlnode.Scalar {
		return nil
	}
	if _, made := t.Binding.(*ir.Made); !made {
		return nil
	}
	return at
}

// commands says what the node of a shell tool reads and writes.
func (g *graph) commands(n *yamlgraph.Node, t *ir.Tool, key string) {
	g.writes[n] = g.held(key)
	if g.lacks(n) != "" {
		g.nulls(n, key)
		return
	}
	for _, e := range n.Token.Values {
		if r, is := e.Value.(*dialect.Reference); is && r.Root == "state" && !g.nowhere(r) && !inWord(g.shapes[r.Path[0]]) {
			g.reads[n] = append(g.reads[n], r.Path[0])
			continue
		}
		dialect.ValueReferences(e.Value, func(r *dialect.Reference) {
			if !g.nowhere(r) {
				g.use(r, nil)
			}
		})
	}
	if parse := g.command(t).Get("parse"); parse != nil && parse.Text.Value == "none" || n.Token.OnError == yamlgraph.TokenNull {
		g.nulls(n, key)
	}
}

// inWord reports whether values of a field are words of a command that an expression writes.
func inWord(s *shape) bool {
	return s != nil && (s.declared.Kind == schema.String || s.declared.Kind == schema.Int)
}

// nulls notes that a node may empty its field.
func (g *graph) nulls(n *yamlgraph.Node, key string) {
	if len(g.held(key)) == 0 {
		return
	}
	if g.seeded(key) {
		g.Refuse(n.ID.Span, "write to a field of its own", "%s may empty the field %s, to which the file gives a value", n.ID.Name, key)
	}
	g.emptied[key], g.Opt[key] = true, true
}

// empties sets the field of a node that has no result to nothing.
func (g *graph) empties(n *yamlgraph.Node, out *ir.Node) {
	if key := n.Token.Key.Name; g.emptied[key] {
		out.Set = append(out.Set, &ir.Set{Field: convert.Name(key), Value: &ir.Scalar{Tag: "!!null"}})
	}
}

// lacks is the message with which the node of a shell tool always fails, whose command has a name that it gives no value;
// empty: there is none.
func (g *graph) lacks(n *yamlgraph.Node) string {
	call, is := n.Verb.(*ir.ToolCall)
	if !is || call.Tool == nil || g.command(call.Tool) == nil {
		return ""
	}
	for rest := g.command(call.Tool).Get("command").Text.Value; ; {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			return ""
		}
		brace := rest[i]
		if rest = rest[i+1:]; rest != "" && rest[0] == brace {
			rest = rest[1:]
			continue
		}
		name, after, closed := strings.Cut(rest, "}")
		if brace == '}' || !closed {
			return "the command has a single " + strconv.Quote(string(brace)) + ": two of them stand for one"
		}
		if !slices.ContainsFunc(n.Token.Values, func(e *ir.Entry) bool { return e.Key.Name == name }) {
			return "Missing variable: '" + name + "'"
		}
		rest = after
	}
}

// commandNode is a node that runs a shell tool.
func (g *graph) commandNode(n *yamlgraph.Node, t *ir.Tool, out *ir.Node) {
	if message := g.lacks(n); message != "" {
		if out.Timeout = nil; n.Token.OnError == yamlgraph.TokenRaise {
			out.Verb = &ir.Fail{Message: convert.Text(doc.Braces(message)), Code: "VALIDATION_ERROR"}
			return
		}
		out.Verb, out.Set = &ir.Let{}, g.record(out.ID.Name, n, convert.Literal("VALIDATION_ERROR"), convert.Literal(message)).Set
		g.empties(n, out)
		return
	}
	tool := g.commandTool(t)
	var with []*ir.Entry
	for _, f := range tool.In.Fields {
		i := slices.IndexFunc(n.Token.Values, func(e *ir.Entry) bool { return e.Key.Name == f.Name })
		v := n.Token.Values[i].Value
		switch text, kind := g.word(n, v); kind {
		case wordSure:
			with = append(with, convert.Pair(f.Name, text))
		case wordFound:
			word := g.call(out.ID.Name+"_"+f.Name, "Word", convert.Pair("of", v))
			if r, is := v.(*dialect.Reference); is {
				of := convert.Ref(g.path(&dialect.Reference{Root: "state", Path: r.Path[:1]}, ""))
				word.Verb.(*ir.GoCall).With.Entries[0].Value = of
				if len(r.Path) > 1 {
					at := g.located(out.ID.Name+"_"+f.Name, of, r.Path[1:])
					g.part(n).before = append(g.part(n).before, step{Node: at})
					word.Verb.(*ir.GoCall).With.Entries[0].Value = convert.Ref(at.ID.Name)
				}
			}
			g.part(n).before = append(g.part(n).before, step{Node: word})
			with = append(with, convert.Pair(f.Name, convert.Ref(word.ID.Name)))
		case wordOther:
			g.Refuse(v.Source(), "let a node before it write the field, and declare it as `str` or `int`", "the variable %s of %s may be missing, or may be something else than text or an integer", f.Name, n.ID.Name)
		}
	}
	out.Verb = &ir.ToolCall{Name: tool.Key, With: convert.With(with...)}
	switch parse := g.command(t).Get("parse"); {
	case parse != nil && parse.Text.Value == "none":
		g.empties(n, out)
	case tool.Out == nil && parse != nil:
		g.parsed(n, out)
		return
	default:
		for _, f := range g.writes[n] {
			out.Set = append(out.Set, convert.Set(f, out.ID.Name))
		}
	}
	g.caught(n, out)
}

// parsed reads the output of a command as JSON in a node behind it, and keeps its mistakes.
func (g *graph) parsed(n *yamlgraph.Node, out *ir.Node) {
	p, id := g.part(n), out.ID.Name
	run := &ir.Node{ID: convert.Name(g.fresh(id + "_output")), Verb: out.Verb, Timeout: out.Timeout}
	found := g.call(id+"_json", "ParsedJSON", convert.Pair("text", convert.Ref(run.ID.Name)))
	out.Verb, out.Timeout = &ir.Let{}, nil
	for _, f := range g.writes[n] {
		out.Set = append(out.Set, convert.Set(f, found.ID.Name+".value"))
	}
	text := convert.Text("{{ default(" + found.ID.Name + `.error, "") }}`)
	wrong := &ir.Node{ID: convert.Name(g.fresh(id + "_wrong")), Verb: &ir.Fail{Message: text, Code: "VALIDATION_ERROR"}}
	if n.Token.OnError != yamlgraph.TokenRaise {
		wrong.Verb, wrong.Set = &ir.Let{}, g.record(id, n, convert.Literal("VALIDATION_ERROR"), text).Set
		g.empties(n, wrong)
		p.ways = append(p.ways, way{id: wrong.ID.Name})
	}
	p.before = append(p.before, step{Node: run}, step{Node: found, ok: found.ID.Name + ".error == null", other: wrong.ID.Name})
	p.more = append(p.more, wrong)
	g.caught(n, run)
}

// A wordKind says how the value of a variable becomes a word of a command.
type wordKind uint8

// An expression writes it; a node before finds out whether there is one; there is none; or the native language has no words.
const (
	wordSure wordKind = iota
	wordFound
	wordNone
	wordOther
)

// word is the value of a variable of a command, as text where an expression writes it.
func (g *graph) word(n *yamlgraph.Node, v ir.Value) (ir.Value, wordKind) {
	before := g.at
	g.at = n
	defer func() { g.at = before }()
	if g.nowhere(v) {
		return nil, wordNone
	}
	text, typ := g.calculated(v, "")
	constant, _ := v.(*ir.Scalar)
	_, ref := v.(*dialect.Reference)
	switch {
	case constant != nil && constant.Tag == "!!str":
		return convert.Literal(constant.Text.Value), wordSure
	case typ != nil && typ.Kind == schema.String:
		return g.value(v, ""), wordSure
	case typ != nil && typ.Kind == schema.Int:
		return convert.Text("{{ " + text + " }}"), wordSure
	case ref || constant != nil:
		return nil, wordFound
	}
	return nil, wordOther
}

// wordsOf is how a variable is given to a tool by the nodes that run it.
func (g *graph) wordsOf(t *ir.Tool, name string) (kind wordKind) {
	first := true
	for _, n := range g.tree.Nodes {
		call, is := n.Verb.(*ir.ToolCall)
		if !is || call.Tool != t || g.lacks(n) != "" {
			continue
		}
		i := slices.IndexFunc(n.Token.Values, func(e *ir.Entry) bool { return e.Key.Name == name })
		_, own := g.word(n, n.Token.Values[i].Value)
		switch {
		case own == wordOther:
			return own
		case first:
			kind, first = own, false
		case kind != own:
			kind = wordFound
		}
	}
	return kind
}

// commandTool declares a shell tool, whose values are the arguments of the script.
func (g *graph) commandTool(t *ir.Tool) *ir.Tool {
	name := convert.NativeID(t.Key.Name)
	if i := slices.IndexFunc(g.Out.Tools, func(t *ir.Tool) bool { return t.Key.Name == name }); i >= 0 {
		return g.Out.Tools[i]
	}
	at := g.command(t)
	out := &ir.Tool{Key: convert.Name(name), Description: t.Description, Effects: ir.EffectsExternal, In: convert.Struct(), Span: at.Span}
	g.Out.Tools = append(g.Out.Tools, out)
	kinds := map[string]wordKind{}
	script, names, wrong := arguments(at.Get("command").Text.Value, g.visible(at), func(name string) wordKind {
		kinds[name] = g.wordsOf(t, name)
		return kinds[name]
	})
	if wrong != "" {
		g.Refuse(at.Get("command").Span, "write a native `shell` tool with the values as its arguments `$1`, `$2`", "the command of %s %s", t.Key.Name, wrong)
	}
	b := &ir.CommandTool{Shell: true}
	out.Binding = b
	text := true
	switch parse := at.Get("parse"); {
	case parse == nil:
	case parse.Text.Value == "json":
		if text = g.keepsFailures(t); !text { // else a node behind reads it, and its mistakes are kept
			out.Out = schema.AnyType
		}
	case parse.Text.Value == "none":
		text = false
	}
	b.Args = []*ir.Template{convert.Text(doc.Braces(wrapped(script, at.Get("success_codes"), text)))}
	for _, v := range names {
		if !doc.FieldForm.MatchString(v) {
			g.Refuse(at.Get("command").Span, "rename it", "the variable %q cannot have this name: names are lower-case letters, digits and _", v)
		}
		typ := schema.StringType
		if kinds[v] == wordFound {
			b.Args = append(b.Args, convert.Text("{{ default("+v+`, "") }}`), convert.Text("{{ "+v+` == null ? "" : "given" }}`))
			typ = optional(typ)
		} else {
			b.Args = append(b.Args, convert.Text("{{ "+v+" }}"))
		}
		if out.In.Field(v) == nil {
			out.In.Fields = append(out.In.Fields, convert.Field(v, typ))
		}
	}
	if dir := at.Get("working_dir"); dir != nil && dir.Text.Value != "." {
		b.Dir = convert.Text(doc.Braces(dir.Text.Value))
	}
	if env := at.Get("env"); env != nil {
		for _, e := range env.Entries {
			b.Env = append(b.Env, ir.EnvVar{Name: convert.Name(e.Key.Text.Value), Value: convert.Text(doc.Braces(e.Value.Text.Value))})
		}
	}
	g.Note(t.Key.Span, "name in `env` what it needs", "a native command sees PATH, HOME, LANG, TZ, TMPDIR and what `env` names, and no other variable")
	return out
}

// keepsFailures reports whether a node that runs a tool keeps its errors in the state.
func (g *graph) keepsFailures(t *ir.Tool) bool {
	return slices.ContainsFunc(g.tree.Nodes, func(n *yamlgraph.Node) bool {
		call, is := n.Verb.(*ir.ToolCall)
		return is && call.Tool == t && g.keeps(n) && g.lacks(n) == ""
	})
}

// visible are the environment variables that a native command sees.
func (g *graph) visible(at *yamlnode.Node) []string {
	names := []string{"PATH", "HOME", "LANG", "TZ", "TMPDIR", "PWD"}
	if env := at.Get("env"); env != nil {
		for _, e := range env.Entries {
			names = append(names, e.Key.Text.Value)
		}
	}
	return names
}

// wrapped keeps the last line break of text, which a native command loses, and makes 0 of the exit codes that are not a failure.
func wrapped(script string, codes *yamlnode.Node, text bool) string {
	group := "( " + script + " )"
	if strings.ContainsAny(script, "#\n") {
		group = "(\n" + strings.TrimSuffix(script, "\n") + "\n)"
	}
	if codes == nil || len(codes.Items) == 0 {
		if text {
			return group + " && echo"
		}
		return script
	}
	var list []string
	for _, c := range codes.Items {
		list = append(list, c.Text.Value)
	}
	done := "exit 0"
	if text {
		done = "echo; exit 0"
	}
	end := "exit $code"
	if !slices.Contains(list, "0") {
		end = "test $code != 0 || code=1; " + end
	}
	return group + "\ncode=$?\ncase $code in " + strings.Join(list, "|") + ") " + done + ";; esac\n" + end
}

var (
	// What has another meaning in a script that has arguments, or begins a place where an argument is not a word.
	shellSpecial  = lazyregexp.New("\\$[0-9@*#{]|\\$\\(\\(|\\(\\)|`|<<|\\b(?:shift|set|eval|getopts)\\b")
	shellVariable = lazyregexp.New(`\$([A-Za-z_][A-Za-z0-9_]*)`)
	shellAssign   = lazyregexp.New(`(?:^|[\s;&|(])(?:for[ \t]+|read[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)(?:=|[ \t]+in\b)`)
	shellName     = lazyregexp.New(`^\{([A-Za-z_][A-Za-z0-9_]*)\}`)
)

// arguments makes arguments of the names in a command. wrong says why that is not possible. The engine quotes a value as one
// word; "$1" is the same word where no other quotes are around it, and where a bare word is nothing but text. One that may be
// missing is two arguments, of which the second says whether there is a word.
func arguments(command string, visible []string, kind func(name string) wordKind) (script string, names []string, wrong string) {
	var b strings.Builder
	places := map[string]string{}
	args := 0
	quote := byte(0)
	for rest := command; rest != ""; {
		c := rest[0]
		switch {
		case strings.HasPrefix(rest, "{{") || strings.HasPrefix(rest, "}}"):
			b.WriteByte(c)
			rest = rest[2:]
			continue
		case c == '{' || c == '}':
			m := shellName.FindStringSubmatch(rest)
			before := strings.TrimRight(b.String(), " \t")
			after := strings.TrimPrefix(rest, m0(m))
			switch {
			case m == nil:
				return "", nil, "has a single brace, with which it always fails"
			case quote != 0:
				return "", nil, "has a name inside of quotes, where the quotes of its value are text"
			case before == "" || strings.ContainsRune(";&|(\n", rune(before[len(before)-1])):
				return "", nil, "begins with a name: its value is the program"
			case after != "" && strings.ContainsRune("=<>({", rune(after[0])) || strings.HasSuffix(b.String(), `\`) || strings.HasSuffix(b.String(), "$"):
				return "", nil, "has a name where it is not one word"
			}
			place, known := places[m[1]]
			if !known {
				switch k := kind(m[1]); k {
				case wordNone:
				case wordFound:
					place = "${" + strconv.Itoa(args+2) + `:+"$` + strconv.Itoa(args+1) + `"}`
					args, names = args+2, append(names, m[1])
				default:
					args++
					place, names = `"$`+strconv.Itoa(args)+`"`, append(names, m[1])
				}
				places[m[1]] = place
			}
			b.WriteString(place)
			rest = after
			continue
		case c == '\\' && quote != '\'' && len(rest) > 1:
			b.WriteString(rest[:2])
			rest = rest[2:]
			continue
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		}
		b.WriteByte(c)
		rest = rest[1:]
	}
	if args > 9 || shellSpecial.MatchString(command) {
		return "", nil, "has arguments, functions or expansions of its own, among which its values would mean something else"
	}
	for _, m := range shellAssign.FindAllStringSubmatch(command, -1) {
		visible = append(visible, m[1])
	}
	for _, m := range shellVariable.FindAllStringSubmatch(command, -1) {
		if !slices.Contains(visible, m[1]) {
			return "", nil, "reads the environment variable " + m[1] + ", which a native command sees only when `env` names it"
		}
	}
	return b.String(), names, ""
}

// m0 is what has matched.
func m0(m []string) string {
	if m == nil {
		return ""
	}
	return m[0]
}
