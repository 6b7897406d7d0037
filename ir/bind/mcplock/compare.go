package mcplock

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// A Change is one difference between what was locked and what a server offers now.
type Change struct {
	Server, Tool string // Tool is empty for the server itself
	What         string // in words, on one line
	Breaking     bool   // a workflow may not compile or not run any more; else it needs to be locked again, no more
}

func (c Change) String() string {
	name, kind := c.Server, "compatible"
	if c.Tool != "" {
		name += "/" + diag.Printable(c.Tool)
	}
	if c.Breaking {
		kind = "breaking"
	}
	return kind + ": " + name + ": " + c.What
}

// Compare tells what has changed from old to now, which are the same server.
func Compare(old, now *Server) []Change {
	c := &comparison{server: now.Name, document: now.Document, sql: now.SQL != ""}
	if old.Runs() != now.Runs() {
		c.say("", false, "it was "+diag.Printable(old.Runs())+" and is "+diag.Printable(now.Runs()))
	}
	for _, x := range [][3]string{{"name", old.Self, now.Self}, {"version", old.Version, now.Version}, {"protocol version", old.Protocol, now.Protocol}} {
		if x[1] != x[2] {
			c.say("", false, "its "+x[0]+" was "+said(x[1])+" and is "+said(x[2]))
		}
	}
	before, after := old.names(), now.names()
	if c.sql {
		c.statements(before, after)
		before = slices.DeleteFunc(before, func(name string) bool { return !slices.Contains(after, name) })
		after = before
	}
	for _, name := range before {
		if !slices.Contains(after, name) {
			what := "the tool is gone"
			if near := diag.Nearest(name, after); near != "" && diag.Close(name, near) && !slices.Contains(before, near) {
				what += "; there is a new one, " + diag.Printable(near)
			}
			c.say(name, old.Tool(name) != nil, what)
		}
	}
	for _, name := range after {
		if !slices.Contains(before, name) {
			c.say(name, false, "the tool is new")
		} else if a, b := old.Tool(name), now.Tool(name); a != nil && b != nil && a.Hash != b.Hash {
			c.tool(a, b)
		}
	}
	return c.list
}

// statements tells which statements of a database come and go. Their names are their texts: it is workflows that changed.
func (c *comparison) statements(before, after []string) {
	for _, name := range before {
		if !slices.Contains(after, name) {
			c.say(name, false, "no workflow has the statement any more")
		}
	}
	for _, name := range after {
		if !slices.Contains(before, name) {
			c.say(name, true, "the statement is not locked")
		}
	}
}

// Drift tells what has changed in a tool since it was locked; now is its JSON. locked is false when it was not.
func (s *Server) Drift(name, now string) (changes []Change, locked bool) {
	old := s.Tool(name)
	if old == nil {
		return nil, false
	}
	t, err := NewTool(now)
	if err != nil {
		return []Change{{Server: s.Name, Tool: name, What: "it cannot be read: " + err.Error(), Breaking: true}}, true
	}
	was, is := *s, *s
	was.Tools, is.Tools, was.Others, is.Others = []*Tool{old}, []*Tool{t}, nil, nil
	return Compare(&was, &is), true
}

func said(s string) string {
	if s == "" {
		return "not said"
	}
	return diag.Printable(s)
}

type comparison struct {
	server   string
	document bool
	sql      bool
	list     []Change
}

func (c *comparison) say(tool string, breaking bool, what string) {
	if c.sql {
		tool = oneLine(tool)
	}
	c.list = append(c.list, Change{Server: c.server, Tool: tool, What: what, Breaking: breaking})
}

func (c *comparison) tool(old, now *Tool) {
	for _, part := range []string{"title", "description"} {
		if a, b := old.def.get(part).str(), now.def.get(part).str(); a != b {
			if c.document { // what is sent where, and how it authenticates
				part = "request"
			}
			c.say(now.Name, c.document, "its "+part+" was "+quoteShort(a)+" and is "+quoteShort(b))
		}
	}
	c.annotations(old, now)
	c.schema(old, now, "input", true)
	c.schema(old, now, "output", false)
}

// quoteShort shows the beginning of a text.
func quoteShort(s string) string {
	if s == "" {
		return "empty"
	}
	const most = 120
	shown, _ := reveal(oneLine(s))
	if r := []rune(shown); len(r) > most {
		shown = string(r[:most]) + "…"
	}
	return `"` + shown + `"`
}

// annotations are hints about effects. A tool that says that it does more than before breaks what people decided.
func (c *comparison) annotations(old, now *Tool) {
	a, b := old.def.get("annotations"), now.def.get("annotations")
	// Unsaid hints have the meaning that the protocol gives them.
	for _, hint := range []struct {
		name   string
		unsaid bool
		worse  bool // the value that allows more
	}{{"readOnlyHint", false, false}, {"destructiveHint", true, true}, {"idempotentHint", false, false}, {"openWorldHint", true, true}} {
		value := func(n *node) bool {
			if v := n.get(hint.name); v != nil && v.kind == 'b' {
				return v.isTrue()
			}
			return hint.unsaid
		}
		if x, y := value(a), value(b); x != y {
			c.say(now.Name, y == hint.worse, fmt.Sprintf("%s was %v and is %v", hint.name, x, y))
		}
	}
	if x, y := a.get("title").str(), b.get("title").str(); x != y {
		c.say(now.Name, false, "its title was "+quoteShort(x)+" and is "+quoteShort(y))
	}
}

// schema compares the types that two schemas mean, and then whether what the types do not show has changed.
func (c *comparison) schema(old, now *Tool, what string, in bool) {
	part := what + "Schema"
	a, b := old.def.get(part), now.def.get(part)
	if string(canonicalOf(a)) == string(canonicalOf(b)) {
		return
	}
	count := len(c.list)
	var before, after *schema.Type
	switch {
	case c.sql && in:
		before, _ = old.Types()
		after, _ = now.Types()
	case c.sql:
		_, before = old.Types()
		_, after = now.Types()
	case in:
		before, _ = old.input()
		after, _ = now.input()
	default:
		before, _ = old.output()
		after, _ = now.output()
	}
	switch {
	case before == nil:
		c.say(now.Name, true, "its result has a schema now: "+after.String())
	case after == nil:
		c.say(now.Name, true, "its result has no schema any more")
	default:
		(&types{c, now.Name, in}).compare(what, before, after)
	}
	if len(c.list) > count {
		return
	}
	if string(canonicalOf(bare(a))) == string(canonicalOf(bare(b))) {
		c.say(now.Name, false, "a description in its "+what+" schema changed"+firstText(a, b))
		return
	}
	c.say(now.Name, true, "its "+what+" schema changed in something that types do not show")
}

func canonicalOf(n *node) []byte {
	if n == nil {
		return nil
	}
	return n.canonical(nil)
}

// prose are the keywords that say nothing about values.
var prose = []string{"description", "title", "examples", "$comment", "$schema", "$id"}

// bare is a schema without them. Properties may be called like keywords.
func bare(n *node) *node {
	if n == nil || n.kind != '{' && n.kind != '[' {
		return n
	}
	out := &node{kind: n.kind}
	for i, it := range n.items {
		if n.kind == '[' {
			out.items = append(out.items, bare(it))
			continue
		}
		name := n.keys[i].name
		switch {
		case slices.Contains(prose, name) && it.kind != '{':
			continue
		case (name == "properties" || name == "$defs" || name == "definitions") && it.kind == '{':
			props := &node{kind: '{', keys: it.keys}
			for _, p := range it.items {
				props.items = append(props.items, bare(p))
			}
			it = props
		case name == "default" || name == "const" || name == "enum":
		default:
			it = bare(it)
		}
		out.keys, out.items = append(out.keys, n.keys[i]), append(out.items, it)
	}
	return out
}

// firstText shows the first text that differs between two values of the same shape.
func firstText(a, b *node) string {
	if a == nil || b == nil || a.kind != b.kind {
		return ""
	}
	if a.kind == '"' && a.text != b.text {
		return ": it was " + quoteShort(a.text) + " and is " + quoteShort(b.text)
	}
	for i := range min(len(a.items), len(b.items)) {
		if s := firstText(a.items[i], b.items[i]); s != "" {
			return s
		}
	}
	return ""
}

// types compares the types of a tool's input or output.
type types struct {
	*comparison
	name string
	in   bool
}

func (t *types) note(breaking bool, format string, args ...any) {
	t.say(t.name, breaking, fmt.Sprintf(format, args...))
}

func (t *types) compare(at string, old, now *schema.Type) {
	switch {
	case old.Kind == schema.Struct && now.Kind == schema.Struct:
		t.fields(at, old, now)
	case old.Kind == now.Kind && old.Elem != nil && now.Elem != nil:
		inside := at
		if old.Kind != schema.Opt {
			inside += "[]"
		}
		t.compare(inside, old.Elem, now.Elem)
	case schema.Equal(old, now):
	default:
		// What workflows send must fit the new input; the new output must fit what they expect.
		fits := schema.Assignable(old, now)
		if !t.in {
			fits = schema.Assignable(now, old)
		}
		t.note(!fits, "%s was %s and is %s", at, old, now)
	}
}

func (t *types) fields(at string, old, now *schema.Type) {
	for _, f := range old.Fields {
		g := now.Field(f.Name)
		name := at + "." + diag.Printable(f.Name)
		if g == nil {
			what := name + " is gone"
			if near := diag.Nearest(f.Name, now.FieldNames()); near != "" && diag.Close(f.Name, near) && old.Field(near) == nil {
				what += "; there is a new " + diag.Printable(near)
			}
			t.note(true, "%s", what)
			continue
		}
		t.field(name, f, g)
	}
	for _, g := range now.Fields {
		if old.Field(g.Name) != nil {
			continue
		}
		if t.in && g.Required() {
			t.note(true, "%s.%s is new, and required", at, diag.Printable(g.Name))
		} else {
			t.note(false, "%s.%s is new", at, diag.Printable(g.Name))
		}
	}
}

func (t *types) field(name string, f, g *schema.Field) {
	a, b := f.Type, g.Type
	switch {
	case !t.in && f.Required() && !g.Required() && !g.Omit:
		t.note(true, "%s may be null now", name)
		a, b = a.Present(), b.Present()
	case !t.in && !f.Required() && g.Required() && !f.Omit:
		t.note(false, "%s is never null now", name)
		a, b = a.Present(), b.Present()
	case f.Required() && !g.Required():
		t.note(!t.in, "%s may be left out now", name)
		a, b = a.Present(), b.Present()
	case !f.Required() && g.Required():
		t.note(t.in, "%s is required now", name)
		a, b = a.Present(), b.Present()
	case f.Omit || g.Omit || f.Default != nil || g.Default != nil:
		a, b = a.Present(), b.Present()
	}
	t.compare(name, a, b)
	if x, y := defaultOf(f), defaultOf(g); x != y {
		t.note(false, "the default of %s was %s and is %s", name, x, y)
	}
	narrower := !equalBound(f.Min, g.Min) && (g.Min != nil && (f.Min == nil || *g.Min > *f.Min)) ||
		!equalBound(f.Max, g.Max) && (g.Max != nil && (f.Max == nil || *g.Max < *f.Max))
	wider := !narrower && (!equalBound(f.Min, g.Min) || !equalBound(f.Max, g.Max))
	switch {
	case narrower:
		t.note(t.in, "the bounds of %s are narrower", name)
	case wider:
		t.note(!t.in, "the bounds of %s are wider", name)
	}
	if f.Pattern != g.Pattern {
		t.note(true, "the pattern of %s changed", name)
	}
}

func equalBound(a, b *float64) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

func defaultOf(f *schema.Field) string {
	if f.Default == nil {
		return "none"
	}
	return diag.Printable(f.Default.JSON)
}

// Breaking tells whether any change is.
func Breaking(list []Change) bool {
	return slices.ContainsFunc(list, func(c Change) bool { return c.Breaking })
}

// Summary counts changes in words.
func Summary(list []Change) string {
	breaking := 0
	for _, c := range list {
		if c.Breaking {
			breaking++
		}
	}
	var out []string
	if breaking > 0 {
		out = append(out, fmt.Sprintf("%d breaking", breaking))
	}
	if n := len(list) - breaking; n > 0 {
		out = append(out, fmt.Sprintf("%d compatible", n))
	}
	return strings.Join(out, ", ")
}
