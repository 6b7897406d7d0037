package lsp

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/index"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser"
)

const kindExtract = "refactor.extract"

// extraction offers to move the nodes of a selection into a flow of their own, in a new file.
func (s *server) extraction(c cursor, r *root, to int) []refactoring {
	wf := r.result.Workflow
	if to <= c.off || wf.File.Text != c.doc.text.s || nameOfFile(wf.File.Name) != c.name {
		return nil
	}
	x := &extract{server: s, c: c, root: r, wf: wf, text: c.doc.text.s}
	for _, n := range wf.Body.Nodes {
		if !n.Inline && n.ID.Span.File == wf.File && n.ID.Span.Lo < to && c.off < entryEnd(x.text, n.ID.Span.Lo) {
			x.nodes = append(x.nodes, n)
		}
	}
	if len(x.nodes) == 0 {
		return nil
	}
	title := "move node " + x.nodes[0].ID.Name + " into a flow of its own"
	if len(x.nodes) > 1 {
		title = fmt.Sprintf("move %d nodes into a flow of their own", len(x.nodes))
	}
	return []refactoring{{root: r, title: title, kind: kindExtract, change: x.change}}
}

// An extract moves nodes of a workflow into a flow.
type extract struct {
	*server
	c     cursor
	root  *root
	wf    *ir.Workflow
	text  string // of the workflow's file
	nodes []*ir.Node

	lo, hi int             // the lines of the nodes
	id     string          // of the node that runs the flow
	inputs []*schema.Field // what the flow takes
	with   []string        // what it is given, an entry each
	output []string        // nodes that the rest of the workflow reads
	inside []insertion     // in the moved lines
	rest   []insertion     // in the rest of the file
	used   []*index.Name   // declarations that the flow needs too
	types  []string        // declarations of types that have no name yet
	named  []insertion     // in the names of types: two flows of a program cannot have types of one name
}

// prefix makes the names of types of the flow other ones.
func (x *extract) prefix() string { return goname.Exported(x.id) }

// An insertion is text that is put at an offset.
type insertion struct {
	at   int
	text string
}

func (x *extract) change() ([]Rewrite, error) {
	if err := x.region(); err != nil {
		return nil, err
	}
	if err := x.names(); err != nil {
		return nil, err
	}
	file := strings.TrimSuffix(x.c.name, parser.WorkflowSuffix) + "_" + x.id + parser.WorkflowSuffix
	flow, err := x.flow(file)
	if err != nil {
		return nil, err
	}
	indent := x.text[lineStart(x.text, x.nodes[0].ID.Span.Lo):x.nodes[0].ID.Span.Lo]
	call := indent + x.id + ": {flow: ./" + path.Base(file)
	if len(x.with) > 0 {
		call += ", with: {" + strings.Join(x.with, ", ") + "}"
	}
	out := []Rewrite{
		{File: file, New: flow, Create: true},
		{File: x.c.name, Old: x.text, New: put(x.text[:x.lo], 0, x.rest) + call + "}\n" + put(x.text[x.hi:], x.hi, x.rest)},
	}
	tests, err := x.tests()
	return append(out, tests...), err
}

// region are the lines of the nodes, which have to be lines of their own.
func (x *extract) region() error {
	first, last := x.nodes[0], x.nodes[len(x.nodes)-1]
	x.lo = lineStart(x.text, first.ID.Span.Lo)
	x.hi = entryEnd(x.text, last.ID.Span.Lo)
	if i := strings.IndexByte(x.text[x.hi:], '\n'); i >= 0 {
		x.hi += i + 1
	} else {
		x.hi = len(x.text)
	}
	if x.wf.Body.EdgesWritten {
		return errors.New("the workflow orders its nodes with `edges`; a flow needs edges of its own")
	}
	for _, n := range x.nodes {
		if strings.TrimLeft(x.text[lineStart(x.text, n.ID.Span.Lo):n.ID.Span.Lo], " ") != "" {
			return fmt.Errorf("node %s does not begin its line", n.ID.Name)
		}
		switch {
		case len(n.Set) > 0:
			return fmt.Errorf("node %s sets state, which belongs to the workflow", n.ID.Name)
		case len(n.Catch) > 0:
			return fmt.Errorf("node %s has a handler for its errors", n.ID.Name)
		}
	}
	id := "run_" + first.ID.Name
	if first != last {
		id = first.ID.Name + "_to_" + last.ID.Name
	}
	for i := 1; ; i++ {
		x.id = id
		if i > 1 {
			x.id = fmt.Sprint(id, i)
		}
		taken := slices.ContainsFunc(x.wf.Body.Nodes, func(n *ir.Node) bool { return n.ID.Name == x.id })
		if !taken && x.absent(x.c, strings.TrimSuffix(x.c.name, parser.WorkflowSuffix)+"_"+x.id+parser.WorkflowSuffix) {
			return nil
		}
	}
}

func lineStart(text string, off int) int { return strings.LastIndexByte(text[:off], '\n') + 1 }

// entryEnd is where the value of a key ends, without the break of its last line. A key that begins its line has the lines below it that
// are indented deeper, another one ends at the comma or bracket behind its value.
func entryEnd(text string, lo int) int {
	lead := text[lineStart(text, lo):lo]
	if indent := len(lead); strings.Trim(lead, " \"'") == "" {
		end := lo
		for line := range strings.Lines(text[lo:]) {
			rest := strings.TrimLeft(line, " ")
			if at := len(line) - len(rest); end > lo && strings.TrimSpace(line) != "" && at <= indent {
				break
			}
			end += len(line)
		}
		for trimmed := strings.TrimRight(text[lo:end], " \r\n"); ; { // comments at the end are about what comes next
			i := strings.LastIndexByte(trimmed, '\n')
			if i < 0 || !strings.HasPrefix(strings.TrimLeft(trimmed[i+1:], " "), "#") {
				return lo + len(trimmed)
			}
			trimmed = strings.TrimRight(trimmed[:i], " \r\n")
		}
	}
	depth, quote := 0, byte(0)
	for i := lo; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == '\\' && quote == '"' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{' || c == '[':
			depth++
		case depth == 0 && (c == '}' || c == ']' || c == ','):
			return i
		case c == '}' || c == ']':
			depth--
		}
	}
	return len(text)
}

// moved is the node of a name that is moved; nil when it stays.
func (x *extract) moved(n *index.Name) *ir.Node {
	for _, m := range x.nodes {
		if n.Kind == index.Node && m.ID.Span == n.At {
			return m
		}
	}
	return nil
}

// names finds what the moved nodes read of the rest, and the rest of them.
func (x *extract) names() error {
	for _, ref := range x.root.index.Refs {
		if ref.Name.Kind == index.Type && nameOfFile(ref.At.File.Name) == x.c.name && nameOfFile(ref.Name.At.File.Name) == x.c.name {
			x.named = append(x.named, insertion{ref.At.Lo, x.prefix()})
		}
		if ref.Declares || nameOfFile(ref.At.File.Name) != x.c.name {
			continue
		}
		within := x.lo <= ref.At.Lo && ref.At.Hi <= x.hi
		switch {
		case !within && x.moved(ref.Name) != nil:
			x.rest = append(x.rest, insertion{ref.At.Lo, x.id + "."})
			if !slices.Contains(x.output, ref.Name.Text) {
				x.output = append(x.output, ref.Name.Text)
			}
		case within:
			if err := x.read(ref); err != nil {
				return err
			}
		}
	}
	return nil
}

// read is about a name that the moved nodes use.
func (x *extract) read(ref index.Ref) error {
	n := ref.Name
	switch n.Kind {
	case index.State:
		return fmt.Errorf("%s is state, which belongs to the workflow", n.Text)
	case index.Node:
		if x.moved(n) != nil || x.lo <= n.At.Lo && n.At.Hi <= x.hi {
			return nil
		}
		x.inside = append(x.inside, insertion{ref.At.Lo, "input."})
		return x.input(n.Text, ref.Type, "$"+n.Text)
	case index.Input:
		return x.input(n.Text, n.Type, "$input."+n.Text)
	case index.Variable:
		if n.At.File == nil && (n.Text == "input" && !strings.HasPrefix(x.text[ref.At.Hi:], ".") || n.Text == "state" || n.Text == "error") {
			return fmt.Errorf("%s is read as an entire value, which differs in a flow", n.Text)
		}
	case index.Tool, index.Model, index.Agent, index.Server, index.Secret, index.Type:
		x.need(n)
	}
	return nil
}

// input adds what the flow takes, once.
func (x *extract) input(name string, t *schema.Type, value string) error {
	if t == nil || t.Kind == schema.Invalid {
		return fmt.Errorf("the type of %s is not known", name)
	}
	for i, f := range x.inputs {
		if f.Name == name && x.with[i] == name+": "+value {
			return nil
		}
		if f.Name == name {
			return fmt.Errorf("%s is the name of an input and of a node", name)
		}
	}
	x.inputs = append(x.inputs, &schema.Field{Name: name, Type: t})
	x.with = append(x.with, name+": "+value)
	return nil
}

// need adds a declaration, and those that it uses.
func (x *extract) need(n *index.Name) {
	if slices.Contains(x.used, n) || n.At.File == nil {
		return
	}
	x.used = append(x.used, n)
	if nameOfFile(n.At.File.Name) != x.c.name {
		return
	}
	hi := entryEnd(x.text, n.At.Lo)
	for _, ref := range x.root.index.Refs {
		if !ref.Declares && ref.At.File == n.At.File && n.At.Lo <= ref.At.Lo && ref.At.Hi <= hi {
			switch ref.Name.Kind {
			case index.Tool, index.Model, index.Agent, index.Server, index.Secret, index.Type:
				x.need(ref.Name)
			}
		}
	}
}

// put makes insertions in a piece of a file that begins at an offset.
func put(text string, from int, list []insertion) string {
	slices.SortFunc(list, func(a, b insertion) int { return cmp.Compare(b.at, a.at) })
	for _, i := range list {
		if at := i.at - from; 0 <= at && at < len(text) {
			text = text[:at] + i.text + text[at:]
		}
	}
	return text
}

// sections are where declarations stand, in the order of a file.
var sections = []struct {
	key  string
	kind index.Kind
}{{"models", index.Model}, {"servers", index.Server}, {"tools", index.Tool}, {"agents", index.Agent}}

// flow is the text of the new file. Sections that are not needed are left out: it is compiled without them.
func (x *extract) flow(file string) (string, error) {
	name := strings.ReplaceAll(x.wf.Name.Name, "-", "_") + "_" + x.id
	var input strings.Builder
	for _, f := range x.inputs {
		fmt.Fprintf(&input, "  %s: %s\n", f.Name, x.typ(f.Type, goname.Exported(f.Name)))
	}
	output := ""
	for _, o := range x.output {
		output += "  " + o + ": $" + o + "\n"
	}
	var optional []string // whole sections, with text of the workflow
	includes := ""
	for _, u := range x.wf.FileUses {
		if nameOfFile(u.At.File.Name) == x.c.name && !strings.HasPrefix(u.At.Text(), "scripted:") {
			includes += "  - " + u.At.Text() + "\n"
		}
	}
	for _, s := range x.wf.Secrets {
		optional = append(optional, "secrets: ["+s.Name.Name+"]\n")
	}
	optional = append(optional, section(x.text, "policy"), section(x.text, "defaults"))
	if includes != "" {
		optional = append(optional, "include:\n"+includes)
	}
	optional = slices.DeleteFunc(optional, func(s string) bool { return s == "" })
	body := strings.TrimRight(put(x.text[x.lo:x.hi], x.lo, slices.Concat(x.inside, x.named)), "\n") + "\n"
	whole := func(parts []string) string {
		text := "flowgen: 1\nname: " + name + "\n"
		var secrets []string
		for _, p := range parts {
			if s, ok := strings.CutPrefix(p, "secrets: ["); ok {
				secrets = append(secrets, strings.TrimSuffix(s, "]\n"))
			} else {
				text += p
			}
		}
		if types := strings.Join(x.types, "") + x.declarations(index.Type); types != "" {
			text += "types:\n" + types
		}
		if input.Len() > 0 {
			text += "input:\n" + input.String()
		}
		if len(secrets) > 0 {
			text += "secrets: [" + strings.Join(secrets, ", ") + "]\n"
		}
		for _, s := range sections {
			if d := x.declarations(s.kind); d != "" {
				text += s.key + ":\n" + d
			}
		}
		text += "nodes:\n" + body
		if output != "" {
			text += "output:\n" + output
		}
		return text
	}
	in := x.ws.inputs()
	wrong := func(parts []string) int {
		in.Unsaved[file] = whole(parts)
		res := x.opts.Compile(file, in)
		return len(mistakes(res.List))
	}
	least := wrong(optional)
	for i := 0; i < len(optional); {
		if without := slices.Delete(slices.Clone(optional), i, i+1); wrong(without) <= least {
			optional = without
		} else {
			i++
		}
	}
	text := whole(optional)
	if formatted, err := x.opts.Format(file, text); err == nil && formatted != "" {
		text = formatted
	}
	return text, nil
}

// declarations are the entries of a section that the flow needs, as they are written.
func (x *extract) declarations(kind index.Kind) (out string) {
	slices.SortFunc(x.used, func(a, b *index.Name) int { return cmp.Compare(a.At.Lo, b.At.Lo) })
	for _, n := range x.used {
		if n.Kind != kind || nameOfFile(n.At.File.Name) != x.c.name {
			continue
		}
		lo, indent := n.At.Lo, "  "
		if lo > 0 && strings.ContainsAny(x.text[lo-1:lo], `"'`) {
			lo--
		}
		if lead := x.text[lineStart(x.text, lo):lo]; strings.TrimLeft(lead, " ") == "" {
			indent = lead
		}
		out += indent + strings.TrimRight(put(x.text[lo:entryEnd(x.text, n.At.Lo)], lo, x.named), " \n") + "\n"
	}
	return out
}

// section is the text of a key of a file, with its value.
func section(text, key string) string {
	lo := 0
	if !strings.HasPrefix(text, key+":") {
		if lo = strings.Index(text, "\n"+key+":") + 1; lo == 0 {
			return ""
		}
	}
	hi := lo
	for line := range strings.Lines(text[lo:]) {
		if hi > lo && line[0] != ' ' && line[0] != '\n' && line[0] != '#' {
			break
		}
		hi += len(line)
	}
	return strings.TrimRight(text[lo:hi], "\n") + "\n"
}

// typ is a type as a file has it. A struct inside of another type gets a name.
func (x *extract) typ(t *schema.Type, name string) string {
	if t.Decl != nil {
		for _, n := range x.root.index.Names {
			if n.Kind == index.Type && n.Text == t.Decl.Name {
				x.need(n)
			}
		}
		return x.prefix() + t.Decl.Name
	}
	named := func(t *schema.Type) string {
		if t.Kind != schema.Struct || t.Decl != nil {
			return x.typ(t, name)
		}
		x.types = append(x.types, "  "+x.prefix()+name+": "+x.typ(t, name+"Value")+"\n")
		return x.prefix() + name
	}
	switch t.Kind {
	case schema.List:
		if t.Elem.Kind == schema.Struct && t.Elem.Decl == nil {
			return "[" + x.typ(t.Elem, name) + "]"
		}
		return "list<" + x.typ(t.Elem, name) + ">"
	case schema.Map:
		return "map<" + named(t.Elem) + ">"
	case schema.Opt:
		return "opt<" + named(t.Elem) + ">"
	case schema.Struct:
		var parts []string
		for _, f := range t.Fields {
			parts = append(parts, f.Name+": "+x.typ(f.Type, name+goname.Exported(f.Name)))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return (&schema.Type{Kind: t.Kind, Values: t.Values}).String()
}

// tests are the test files whose keys of calls name the moved nodes.
func (x *extract) tests() (out []Rewrite, err error) {
	edits := map[string][]insertion{}
	texts := map[string]string{}
	for _, ref := range x.root.index.Refs {
		file := nameOfFile(ref.At.File.Name)
		if ref.Declares || x.moved(ref.Name) == nil || file == x.c.name {
			continue
		}
		if !strings.HasSuffix(file, parser.CasesSuffix) {
			return nil, fmt.Errorf("%s is named in %s", ref.Name.Text, file)
		}
		texts[file] = ref.At.File.Text
		edits[file] = append(edits[file], insertion{ref.At.Lo, x.id + "/"})
	}
	for _, c := range x.root.result.Cases { // in the order of the files
		file := nameOfFile(c.File.Name)
		if list := edits[file]; list != nil {
			out = append(out, Rewrite{File: file, Old: texts[file], New: put(texts[file], 0, list)})
			delete(edits, file)
		}
	}
	return out, nil
}
