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
	for _, e := range n.Token.Values {
		dialect.ValueReferences(e.Value, func(r *dialect.Reference) { g.use(r, nil) })
	}
	if n.Token.OnError != yamlgraph.TokenRaise {
		g.Refuse(n.ID.Span, "write `on_error: fail`, or `catch` on the native node", "a failure of %s is kept with what its command has written to its standard error, which is another text in the native language", n.ID.Name)
	}
	g.writes[n] = g.held(key)
	if parse := g.command(t).Get("parse"); parse != nil && parse.Text.Value == "none" && len(g.writes[n]) > 0 {
		g.Refuse(n.ID.Span, "remove `parse: none`, or the state field", "%s empties state.%s, and a native `set` only writes values", n.ID.Name, key)
	}
}

// commandNode is a node that runs a shell tool.
func (g *graph) commandNode(n *yamlgraph.Node, t *ir.Tool, out *ir.Node) {
	tool := g.commandTool(t)
	var with []*ir.Entry
	for _, f := range tool.In.Fields {
		i := slices.IndexFunc(n.Token.Values, func(e *ir.Entry) bool { return e.Key.Name == f.Name })
		if i < 0 {
			g.Refuse(n.ID.Span, "add it to `variables`", "the command of %s needs the variable %s, without which it always fails", t.Key.Name, f.Name)
			continue
		}
		v := n.Token.Values[i].Value
		text, typ := g.calculated(v, "")
		constant, _ := v.(*ir.Scalar)
		switch {
		case constant != nil && constant.Tag == "!!str":
			with = append(with, convert.Pair(f.Name, convert.Literal(constant.Text.Value)))
		case typ != nil && typ.Kind == schema.String:
			with = append(with, convert.Pair(f.Name, g.value(v, "")))
		case typ != nil && typ.Kind == schema.Int:
			with = append(with, convert.Pair(f.Name, convert.Text("{{ "+text+" }}")))
		default:
			g.Refuse(v.Source(), "let a node before it write the field, and declare it as `str` or `int`", "the variable %s of %s may be missing, or may be something else than text or an integer", f.Name, n.ID.Name)
		}
	}
	out.Verb = &ir.ToolCall{Name: tool.Key, With: convert.With(with...)}
	for _, f := range g.writes[n] {
		out.Set = append(out.Set, convert.Set(f, out.ID.Name))
	}
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
	script, names, wrong := arguments(at.Get("command").Text.Value, g.visible(at))
	if wrong != "" {
		g.Refuse(at.Get("command").Span, "write a native `shell` tool with the values as its arguments `$1`, `$2`", "the command of %s %s", t.Key.Name, wrong)
	}
	b := &ir.CommandTool{Shell: true}
	out.Binding = b
	text := true
	switch parse := at.Get("parse"); {
	case parse == nil:
	case parse.Text.Value == "json":
		out.Out, text = schema.AnyType, false
	case parse.Text.Value == "none":
		text = false
	}
	b.Args = []*ir.Template{convert.Text(doc.Braces(wrapped(script, at.Get("success_codes"), text)))}
	for _, v := range names {
		if !doc.FieldForm.MatchString(v) {
			g.Refuse(at.Get("command").Span, "rename it", "the variable %q cannot have this name: names are lower-case letters, digits and _", v)
		}
		b.Args = append(b.Args, convert.Text("{{ "+v+" }}"))
		if out.In.Field(v) == nil {
			out.In.Fields = append(out.In.Fields, convert.Field(v, schema.StringType))
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

// wrapped keeps the last line break of text, which a native command loses, and makes 0 of the exit codes that are no failure.
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
	// What has another meaning in a script that has arguments, or begins a place where an argument is no word.
	shellSpecial  = lazyregexp.New("\\$[0-9@*#{]|\\$\\(\\(|\\(\\)|`|<<|\\b(?:shift|set|eval|getopts)\\b")
	shellVariable = lazyregexp.New(`\$([A-Za-z_][A-Za-z0-9_]*)`)
	shellAssign   = lazyregexp.New(`(?:^|[\s;&|(])(?:for[ \t]+|read[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)(?:=|[ \t]+in\b)`)
	shellName     = lazyregexp.New(`^\{([A-Za-z_][A-Za-z0-9_]*)\}`)
)

// arguments makes arguments of the names in a command. wrong says why that is not possible. The engine quotes a value as one
// word; "$1" is the same word where no other quotes are around it, and where a bare word is nothing but text.
func arguments(command string, visible []string) (script string, names []string, wrong string) {
	var b strings.Builder
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
			i := slices.Index(names, m[1])
			if i < 0 {
				i, names = len(names), append(names, m[1])
			}
			b.WriteString(`"$` + strconv.Itoa(i+1) + `"`)
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
	if len(names) > 9 || shellSpecial.MatchString(command) {
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
