package sirenspec

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// making is what placeholders stand for inside of a factory.
type making struct {
	bound []string // names of its inputs
	own   string   // the factory's name, by which a synthesis knows the swarm that it belongs to; empty: none
}

// value is what a placeholder stands for in an instance; nil: what it stands for elsewhere.
func (m *making) value(r *dialect.Reference) *expr.Node {
	if m == nil {
		return nil
	}
	switch r.Root {
	case "item", "index", "total":
		return expr.Read("each", r.Root)
	case "inputs":
		if slices.Contains(m.bound, r.Path[0]) {
			return expr.Read("each", "inputs")
		}
	}
	return nil
}

// place is a field of the context, and the path that is left below it; nil when nothing has that name.
func (l *lowering) place(bucket string, path []string) (*expr.Node, []string) {
	if bucket == "memory" {
		return expr.Read("memory"), path
	}
	if len(path) == 0 {
		return nil, path
	}
	if l.making != nil && bucket == "working" && path[0] == l.making.own {
		return expr.Read("own"), path[1:]
	}
	if l.tree.StateField(bucket+"."+path[0]) == nil {
		return nil, path
	}
	return expr.Read("state", bucket, path[0]), path[1:]
}

// own is where the result of a node stands.
func (l *lowering) own(n *Node) *expr.Node {
	f, _ := l.place("working", []string{n.ID.Name})
	return f
}

// input is an input of the workflow. The first one is the message.
func (l *lowering) input(path []string) *expr.Node {
	for _, f := range l.wf.Input {
		if f.Name == path[0] {
			return expr.Read("input", path[0])
		}
	}
	return dialect.Absent()
}

// template is text with placeholders.
func (l *lowering) template(m *dialect.Mixed) *expr.Node {
	return &expr.Node{Op: expr.ListLit, Kids: l.parts(m)}
}

func (l *lowering) parts(m *dialect.Mixed) []*expr.Node {
	var out []*expr.Node
	for _, s := range m.Segments {
		if s.Ref == nil {
			out = append(out, expr.Invoke(fnLit, expr.Const(s.Lit)))
			continue
		}
		out = append(out, l.part(s.Ref))
	}
	return out
}

// part is a placeholder.
func (l *lowering) part(r *dialect.Reference) *expr.Node {
	if r.Root == "env" {
		if r.Filter != "" {
			return expr.Invoke(fnEnvOr, expr.Const(r.Path[0]), expr.Const(r.Default))
		}
		return expr.Invoke(fnEnv, expr.Const(r.Path[0]))
	}
	part, as := l.ref(r)
	switch r.Filter {
	case "":
		if as != "" {
			part = expr.Invoke(fnAs, part, expr.Const(as))
		}
	case "default":
		part = expr.Invoke(fnOr, part, expr.Const(r.Default))
	case "json_or_default":
		part = expr.Invoke(fnOrJSON, part, expr.Const(r.Default))
	}
	return part
}

// ref is a placeholder without its filter, and how it is written where that is not its path.
func (l *lowering) ref(r *dialect.Reference) (part *expr.Node, as string) {
	names := r.Path
	if r.Root != "working" {
		names = append([]string{r.Root}, names...)
	}
	path, as := expr.Const(strings.Join(names, ".")), r.Text.Value
	if r.Root == "nothing" || slices.EqualFunc(strings.Split(r.Text.Value, "."), names, func(written, name string) bool { return strings.TrimSpace(written) == name }) {
		path, as = expr.Const(r.Text.Value), "" // with its spaces, which messages show
	}
	own := l.making.value(r)
	if r.Root == "inputs" && own != nil {
		return expr.Invoke(fnInstanceGiven, expr.Read("each"), path), as
	}
	f := own
	switch {
	case own != nil:
	case r.Root == "inputs":
		f = l.input(r.Path)
	case r.Root == "memory":
		f = expr.Read("memory")
	default:
		if f, _ = l.place("working", r.Path); f == nil {
			f = dialect.Absent()
		}
	}
	if r.Root == "inputs" && l.opts.Child {
		return expr.Invoke(fnGiven, path, f), as
	}
	return expr.Invoke(fnRef, path, f), as
}

// content is a value of the file, whose texts may have placeholders.
func (l *lowering) content(v ir.Value) *expr.Node {
	references := false
	dialect.ValueReferences(v, func(*dialect.Reference) { references = true })
	switch v := v.(type) {
	case *dialect.Mixed:
		if references {
			return expr.Invoke(fnFilled, l.parts(v)...)
		}
	case *ir.List:
		var items []*expr.Node
		for _, x := range v.Items {
			items = append(items, l.content(x))
		}
		return expr.Invoke(fnList, items...)
	case *ir.Object:
		return expr.Invoke(fnMap, l.arguments(v)...)
	}
	return expr.Invoke(fnConst, dialect.Constant(v))
}

// arguments are named values.
func (l *lowering) arguments(o *ir.Object) []*expr.Node {
	var out []*expr.Node
	if o == nil {
		return nil
	}
	for _, e := range o.Entries {
		out = append(out, expr.Struct(argType, expr.Put("name", expr.Const(e.Key.Name)), expr.Put("value", l.content(e.Value))))
	}
	return out
}
