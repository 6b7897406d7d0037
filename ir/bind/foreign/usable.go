package foreign

import (
	"slices"
	"strings"
	"unicode"

	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// MaxEnum is how many values an enum may have, and maxWord how long one may be, before it is any string.
const (
	MaxEnum = 200
	maxWord = 200
)

// usable is a type of a source as a workflow can hold it. An enum with a value that has no form in the language is a
// string, a struct with a field whose name Go cannot carry is any: less is said then, and nothing that is wrong.
// What is usable as it is stays the same type, so that types that sources share are shared in Go, too.
func (f *filler) usable(t *schema.Type) *schema.Type {
	if done := f.clean[t]; done != nil {
		return done
	}
	out := t
	switch t.Kind {
	case schema.Null: // a value of no other type than null is any, so that it can be passed on
		out = schema.AnyType
	case schema.List, schema.Map, schema.Opt:
		out = f.around(t)
	case schema.Enum:
		if len(t.Values) > MaxEnum || slices.ContainsFunc(t.Values, func(v string) bool { return !enumWord(v) }) {
			out = schema.StringType
		}
	case schema.Struct:
		out = f.object(t)
	case schema.Union:
		out = f.union(t)
	}
	f.clean[t] = out
	return out
}

// around is a list, a map or an optional of a usable type.
func (f *filler) around(t *schema.Type) *schema.Type {
	elem := f.usable(t.Elem)
	switch {
	case t.Kind == schema.Opt && elem.Kind == schema.Opt:
		return elem
	case elem == t.Elem:
		return t
	}
	c := *t
	c.Elem = elem
	return &c
}

func (f *filler) object(t *schema.Type) *schema.Type {
	c := *t
	c.Fields = nil
	taken, changed := map[string]bool{}, false
	for _, g := range t.Fields {
		name := goField(g.Name)
		if name == "" || taken[name] {
			return schema.AnyType
		}
		taken[name] = true
		field := *g
		field.Type = f.usable(g.Type)
		field.Omit = g.Omit && field.Type.Kind == schema.Opt
		changed = changed || field.Type != g.Type || field.Omit != g.Omit
		c.Fields = append(c.Fields, &field)
	}
	if !changed {
		return t
	}
	return &c
}

// union is a union of usable structs, whose tags make names in Go that differ; else any.
func (f *filler) union(t *schema.Type) *schema.Type {
	var list []*schema.Variant
	taken, changed := map[string]bool{}, false
	for _, v := range t.Variants {
		s, name := f.usable(v.Type), goname.Exported(v.Tag)
		if s.Kind != schema.Struct || !enumWord(v.Tag) || name == "" || taken[name] {
			return schema.AnyType
		}
		taken[name] = true
		changed = changed || s != v.Type
		list = append(list, &schema.Variant{Tag: v.Tag, Type: s})
	}
	if !changed {
		return t
	}
	return schema.UnionOf(t.By, list...)
}

// enumWord reports whether a value can be used in enum<...> and in the tag of a Go field.
func enumWord(v string) bool {
	return v != "" && len(v) <= maxWord && v == strings.TrimSpace(v) && !strings.ContainsAny(v, "<>|{}[],\"'`\\$") &&
		!strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsPrint(r) })
}

// goField is the Go name of a field, "" for a name that encoding/json does not take from a tag or that has no letter Go
// can start with.
func goField(name string) string {
	if name == "" || len(name) > maxWord || name == "-" {
		return ""
	}
	letters := false
	for _, r := range name {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			letters = true
		case r < unicode.MaxASCII && strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r):
		default:
			return ""
		}
	}
	if !letters {
		return ""
	}
	return goname.Exported(name)
}
