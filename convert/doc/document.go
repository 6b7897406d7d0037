// Package doc is the YAML of a native workflow while it is written: mappings, lists and scalars, with the places they were
// made from, so that comments come along.
package doc

import "github.com/flowgen-dev/flowgen/ir/source"

// An Entry is an entry of a mapping, or an element of a list, whose key is empty then.
type Entry struct {
	Key   string
	Value Value
	From  source.Span // what it was made of, with the comments that come along; zero: nothing

	Lead []string // comments above it
	Line string   // comment on its line
}

// A Value is a scalar, a mapping or a list.
type Value interface{ simple() bool }

// A Scalar is text as YAML spells it.
type Scalar string

// A block is text of several lines.
type block string

// A Mapping has entries, in brackets if it is flow and nothing in it asks for lines of its own.
type Mapping struct {
	Entries []*Entry
	Flow    bool
}

// A List is a sequence.
type List struct {
	Items []*Entry
	Flow  bool
}

func (Scalar) simple() bool { return true }
func (block) simple() bool  { return false }

func (m *Mapping) simple() bool { return m.Flow && PlainEntries(m.Entries) }
func (l *List) simple() bool    { return l.Flow && PlainEntries(l.Items) }

// PlainEntries reports whether entries can be used in brackets.
func PlainEntries(list []*Entry) bool {
	for _, e := range list {
		if len(e.Lead) > 0 || e.Line != "" || !e.Value.simple() {
			return false
		}
	}
	return true
}

// Add appends an entry.
func (m *Mapping) Add(key string, v Value, from source.Span) *Entry {
	e := &Entry{Key: key, Value: v, From: from}
	m.Entries = append(m.Entries, e)
	return e
}

// AddUnlessEmpty appends a mapping or list that has something in it.
func (m *Mapping) AddUnlessEmpty(key string, v Value, from source.Span) {
	switch v := v.(type) {
	case *Mapping:
		if len(v.Entries) == 0 {
			return
		}
	case *List:
		if len(v.Items) == 0 {
			return
		}
	}
	m.Add(key, v, from)
}

func (l *List) Add(v Value, from source.Span) {
	l.Items = append(l.Items, &Entry{Value: v, From: from})
}

// Words is a list of texts in brackets.
func Words(words ...string) *List {
	l := &List{Flow: true}
	for _, w := range words {
		l.Add(Scalar(Quoted(w)), source.Span{})
	}
	return l
}

// Each calls f for every entry below a value, from outside to inside.
func Each(v Value, f func(*Entry)) {
	var list_ []*Entry
	switch v := v.(type) {
	case *Mapping:
		list_ = v.Entries
	case *List:
		list_ = v.Items
	}
	for _, e := range list_ {
		f(e)
		Each(e.Value, f)
	}
}

// Flow makes a mapping in brackets.
func Flow(entries ...*Entry) *Mapping { return &Mapping{Entries: entries, Flow: true} }

// Pair is an entry that nothing was made of.
func Pair(key string, v Value) *Entry { return &Entry{Key: key, Value: v} }
