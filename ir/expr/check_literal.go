package expr

import (
	"fmt"
	"math"
	"slices"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// index types xs[i] and m[key]: absent when there is none, and when the receiver is.
func (c *checker) index(n *Node, facts Facts, lenient bool, whole *Node) *schema.Type {
	recv, key := n.Kids[0], n.Kids[1]
	c.receiver(recv, facts, lenient, whole)
	c.check(key, facts, nil)
	if recv.Type.Kind == schema.Null {
		c.need(recv)
		return nil
	}
	switch t := recv.Type.Present(); t.Kind {
	case schema.Invalid:
		return nil
	case schema.List:
		return c.item(n, t)
	case schema.Map:
		if k := c.need(key); k.Kind != schema.Invalid && !isText(k) {
			c.report(diag.Operands, key.Lo, key.Hi, "", "the keys of a map are strings, this is %s", brief(k))
			return nil
		}
		if name, ok := key.Value.(string); ok && key.Op == Lit {
			return schema.OptOf(t.Elem, fmt.Sprintf("the map may have no key %q", name))
		}
		return schema.OptOf(t.Elem, "the map may have no such key")
	case schema.Any:
		c.anyOperand(recv)
		return nil
	case schema.Struct:
		return c.indexedField(n, t)
	default:
		help := ""
		if isText(t) {
			help = "take it apart: `" + receiver(recv) + ".split(\"...\")`"
		}
		return c.notIndexed(recv, t, help)
	}
}

// notIndexed reports a receiver that has neither items nor keys.
func (c *checker) notIndexed(recv *Node, t *schema.Type, help string) *schema.Type {
	c.report(diag.Operands, recv.Lo, recv.Hi, help, "`[]` needs a list or a map, this is %s", brief(t))
	return nil
}

// item types xs[i], of which xs is a list of type t.
func (c *checker) item(n *Node, t *schema.Type) *schema.Type {
	recv, key := n.Kids[0], n.Kids[1]
	k := c.need(key)
	if k.Kind != schema.Invalid && k.Kind != schema.Int {
		c.report(diag.Operands, key.Lo, key.Hi, "", "the index of a list is an int, this is %s", brief(k))
		return nil
	}
	if v, ok := key.Value.(int64); ok && key.Op == Lit && v < 0 {
		last := "size(" + recv.String() + ")"
		c.report(diag.Operands, key.Lo, key.Hi, fmt.Sprintf("count from the start: `%s[%s - %d]`", receiver(recv), last, uint64(-v)), "an index does not count from the end")
		return nil
	}
	if v, ok := key.Value.(int64); ok && key.Op == Lit && v > math.MaxInt32 {
		c.report(diag.Operands, key.Lo, key.Hi, "", "the index is beyond the maximum length of a list")
		return nil
	}
	return schema.OptOf(t.Elem, "the list may have no item "+key.String())
}

// indexedField reports s["f"], as other languages write s.f.
func (c *checker) indexedField(n *Node, t *schema.Type) *schema.Type {
	recv, key := n.Kids[0], n.Kids[1]
	name, ok := key.Value.(string)
	if key.Op != Lit || !ok || !isName(name) {
		return c.notIndexed(recv, t, "read a field of it: `"+receiver(recv)+".name`")
	}
	if t.Field(name) == nil {
		f := &Node{Op: Field, Text: name, Kids: n.Kids, Lo: n.Lo, Hi: n.Hi, NameLo: n.NameLo, NameHi: n.NameHi}
		had := len(c.probs)
		c.fieldOf(f, t)
		for i := range c.probs[had:] {
			if p := &c.probs[had+i]; p.Replace != nil {
				dot := "." + *p.Replace
				p.Help, p.Replace = "replace with `"+dot+"`", &dot
			}
		}
		return schema.InvalidType
	}
	dot := "." + name
	p := c.report(diag.ExprSpelling, n.NameLo, n.NameHi, "replace with `"+dot+"`", "fields are read with a dot")
	p.Replace = &dot
	return schema.InvalidType
}

// taggedLit is the variant whose tag a literal writes, nil when it writes none.
func taggedLit(n *Node, t *schema.Type) *schema.Type {
	for i, k := range n.Keys {
		if tag, ok := n.Kids[i].Value.(string); ok && k == t.By && n.Kids[i].Op == Lit {
			if v := t.Variant(tag); v != nil {
				return v.Type
			}
		}
	}
	return nil
}

// mapping types {"key": value}: a struct or a map, as the place asks for.
func (c *checker) mapping(n *Node, facts Facts, want *schema.Type) *schema.Type {
	if want != nil {
		switch t := want.Present(); t.Kind {
		case schema.Union:
			if v := taggedLit(n, t); v != nil {
				return c.structLit(n, facts, v)
			}
		case schema.Struct:
			if !t.Open {
				return c.structLit(n, facts, t)
			}
		case schema.Map:
			for i, k := range n.Kids {
				c.repeated(n, i)
				c.check(k, facts, t.Elem)
				c.fits(k, t.Elem)
			}
			return t
		case schema.Invalid:
			return poison(n)
		}
	}
	poison(n)
	c.report(diag.EmptyList, n.Lo, n.Hi, "write it as a YAML mapping, or where a struct or a map is asked for: in a list next to others, as a default, as an argument",
		"the type of this literal cannot be inferred")
	return schema.InvalidType
}

// structLit types the fields of a struct of type t.
func (c *checker) structLit(n *Node, facts Facts, t *schema.Type) *schema.Type {
	meant := map[string]bool{} // fields that a misspelled key stands for
	for i, k := range n.Kids {
		f := t.Field(n.Keys[i])
		if f == nil {
			poison(k)
			at := &Node{Op: Field, Text: n.Keys[i], NameLo: n.KeyAt[i][0], NameHi: n.KeyAt[i][1], Kids: []*Node{{Op: Name, Text: brief(t)}}}
			p := c.noField(at)
			p.suggest(n.Keys[i], slices.DeleteFunc(t.FieldNames(), func(name string) bool { return slices.Contains(n.Keys, name) }))
			if p.Replace != nil {
				meant[*p.Replace] = true
				text := quoted(*p.Replace)
				p.Help, p.Replace = "replace with `"+text+"`", &text
			}
			continue
		}
		c.repeated(n, i)
		c.check(k, facts, f.Type)
		c.fits(k, f.Type)
	}
	for _, f := range t.Fields {
		if f.Required() && !meant[f.Name] && !slices.Contains(n.Keys, f.Name) {
			c.report(diag.MissingField, n.Lo, n.Hi, "", "%s needs field %q", brief(t), f.Name)
		}
	}
	return t
}

// repeated reports a key that is in a literal twice.
func (c *checker) repeated(n *Node, i int) {
	if slices.Contains(n.Keys[:i], n.Keys[i]) {
		c.report(diag.YAMLDuplicate, n.KeyAt[i][0], n.KeyAt[i][1], "remove one of them", "the key %q appears here twice", n.Keys[i])
	}
}

// asked is the type of a list that a place asks for, as a wish for its literals.
func asked(want *schema.Type) *schema.Type {
	if want == nil {
		return nil
	}
	switch t := want.Present(); t.Kind {
	case schema.List, schema.Invalid: // of a place that is reported already
		return t
	}
	return nil
}
