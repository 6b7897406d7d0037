package convert

import "github.com/flowgen-dev/flowgen/ir/source"

// An entry is an entry of a mapping, or an element of a list, whose key is empty then.
type entry struct {
	key   string
	value value
	from  source.Span // what it was made of, with the comments that come along; zero: nothing

	lead []string // comments above it
	line string   // comment on its line
}

// A value is a scalar, a mapping or a list.
type value interface{ simple() bool }

// A scalar is text as YAML spells it.
type scalar string

// A block is text of several lines.
type block string

// A mapping has entries, in brackets if it is flow and nothing in it asks for lines of its own.
type mapping struct {
	entries []*entry
	flow    bool
}

// A list is a sequence.
type list struct {
	items []*entry
	flow  bool
}

func (scalar) simple() bool { return true }
func (block) simple() bool  { return false }

func (m *mapping) simple() bool { return m.flow && plainEntries(m.entries) }
func (l *list) simple() bool    { return l.flow && plainEntries(l.items) }

// plainEntries reports whether entries can stand in brackets.
func plainEntries(list []*entry) bool {
	for _, e := range list {
		if len(e.lead) > 0 || e.line != "" || !e.value.simple() {
			return false
		}
	}
	return true
}

// add appends an entry.
func (m *mapping) add(key string, v value, from source.Span) *entry {
	e := &entry{key: key, value: v, from: from}
	m.entries = append(m.entries, e)
	return e
}

// addUnlessEmpty appends a mapping or list that has something in it.
func (m *mapping) addUnlessEmpty(key string, v value, from source.Span) {
	switch v := v.(type) {
	case *mapping:
		if len(v.entries) == 0 {
			return
		}
	case *list:
		if len(v.items) == 0 {
			return
		}
	}
	m.add(key, v, from)
}

func (l *list) add(v value, from source.Span) {
	l.items = append(l.items, &entry{value: v, from: from})
}

// each calls f for every entry below a value, from outside to inside.
func each(v value, f func(*entry)) {
	var list_ []*entry
	switch v := v.(type) {
	case *mapping:
		list_ = v.entries
	case *list:
		list_ = v.items
	}
	for _, e := range list_ {
		f(e)
		each(e.value, f)
	}
}

// flow makes a mapping in brackets.
func flow(entries ...*entry) *mapping { return &mapping{entries: entries, flow: true} }

// pair is an entry that nothing was made of.
func pair(key string, v value) *entry { return &entry{key: key, value: v} }
