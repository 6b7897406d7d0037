package openapisource

import (
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// bounded is a type that workflows can hold: one with too many fields is any from that level on on which it has too many.
func (d *Document) bounded(t *schema.Type) (_ *schema.Type, levels int) {
	if nodes(t) <= foreign.MaxFields {
		return t, 0
	}
	if c := d.cut[t]; c.typ != nil {
		return c.typ, c.levels
	}
	c := cut{schema.AnyType, 0}
	for levels := maxDepth; levels > 0; levels-- {
		if s := shorten(t, levels, map[level]*schema.Type{}); nodes(s) <= foreign.MaxFields {
			c = cut{s, levels}
			break
		}
	}
	d.cut[t] = c
	return c.typ, c.levels
}

// A cut is what is left of a type that is too large.
type cut struct {
	typ    *schema.Type
	levels int
}

// nodes counts the types that a type consists of, and the words of its enums; no further than foreign.MaxFields+1.
func nodes(t *schema.Type) int {
	const word = 64 // bytes that count as a type
	left := foreign.MaxFields
	var walk func(t *schema.Type) bool
	walk = func(t *schema.Type) bool {
		if t == nil {
			return true
		}
		left--
		for _, v := range t.Values {
			left -= (len(v) + word) / word
		}
		for _, f := range t.Fields {
			if left < 0 || !walk(f.Type) {
				return false
			}
		}
		for _, v := range t.Variants {
			if left < 0 || !walk(v.Type) {
				return false
			}
		}
		return left >= 0 && walk(t.Elem)
	}
	walk(t)
	return foreign.MaxFields - left
}

type level struct {
	typ  *schema.Type
	left int
}

// shorten is a type with any below a number of levels.
func shorten(t *schema.Type, left int, done map[level]*schema.Type) *schema.Type {
	key := level{t, left}
	if s := done[key]; s != nil {
		return s
	}
	c := *t
	switch t.Kind {
	case schema.List, schema.Map:
		c.Elem = shorten(t.Elem, left, done)
	case schema.Opt:
		if c.Elem = shorten(t.Elem, left, done); c.Elem.Kind == schema.Opt {
			return c.Elem
		}
	case schema.Struct:
		if left == 0 {
			return schema.AnyType
		}
		c.Fields = make([]*schema.Field, len(t.Fields))
		for i, f := range t.Fields {
			g := *f
			g.Type = shorten(f.Type, left-1, done)
			c.Fields[i] = &g
		}
	case schema.Union:
		if left == 0 {
			return schema.AnyType
		}
		c.Variants = make([]*schema.Variant, len(t.Variants))
		for i, v := range t.Variants {
			c.Variants[i] = &schema.Variant{Tag: v.Tag, Type: shorten(v.Type, left, done)}
		}
	default:
		return t
	}
	done[key] = &c
	return &c
}
