package foreign

import (
	"slices"
	"strings"
	"unicode"

	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// maxEnum is how many values an enum may have, and maxWord how long one may be, before it is any string.
const (
	maxEnum = 200
	maxWord = 200
)

// usable is a type of a source as a workflow can hold it. An enum with a value that has no form in the language is a
// string, a struct with a field whose name Go cannot carry is any: less is said then, and nothing that is wrong.
func (f *filler) usable(t *schema.Type) *schema.Type {
	if done := f.clean[t]; done != nil {
		return done
	}
	c := *t
	f.clean[t] = &c // a type that is used twice stays one type
	switch t.Kind {
	case schema.List, schema.Map, schema.Opt:
		c.Elem = f.usable(t.Elem)
		if t.Kind == schema.Opt && (c.Elem.Kind == schema.Opt || c.Elem.Kind == schema.Null) {
			c = *c.Elem
		}
	case schema.Enum:
		if len(t.Values) > maxEnum || slices.ContainsFunc(t.Values, func(v string) bool { return !enumWord(v) }) {
			c = *schema.StringType
		}
	case schema.Struct:
		taken := map[string]bool{}
		c.Fields = nil
		for _, g := range t.Fields {
			name := goField(g.Name)
			if name == "" || taken[name] {
				c = *schema.AnyType
				break
			}
			taken[name] = true
			field := *g
			field.Type = f.usable(g.Type)
			field.Omit = g.Omit && field.Type.Kind == schema.Opt
			c.Fields = append(c.Fields, &field)
		}
	}
	return &c
}

// enumWord reports whether a value can stand in enum<...> and in the tag of a Go field.
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
