// Package yamlnode reads YAML into trees whose every byte knows where it came from.
//
// It is the only package that uses the YAML library. The library's own safeguards work when YAML is decoded into Go
// values, not when it is read as a tree, so duplicate keys, alias bombs, alias cycles, depth, size and characters are
// checked here. Nothing is coerced: a scalar is its text, and the reader of a field decides what it means.
package yamlnode

import "github.com/flowgen-dev/flowgen/ir/source"

// Kind is what a node is.
type Kind uint8

// The kinds. A Null is a value that is absent, ~ or null; a mapping key is always a Scalar.
const (
	Scalar Kind = iota
	Mapping
	Sequence
	Null
)

func (k Kind) String() string { return [...]string{"scalar", "mapping", "sequence", "null"}[k] }

// Style is how a node is written.
type Style uint8

// The five styles of scalars, and the two of mappings and sequences.
const (
	Plain Style = iota
	SingleQuoted
	DoubleQuoted
	Literal
	Folded
	Flow
	Block
)

func (s Style) String() string {
	return [...]string{"plain", "single-quoted", "double-quoted", "literal", "folded", "flow", "block"}[s]
}

// A Node is a node of the tree. Nodes are shared where the file has aliases and must not be changed. They are safe for
// concurrent use.
type Node struct {
	Kind     Kind
	Style    Style
	Explicit bool   // Tag is written in the file
	Tag      string // short form: !!str !!int !!float !!bool !!null !!binary !!timestamp !!map !!seq
	Anchor   string // the name after & where the node is defined; empty at its aliases

	// Text is the decoded value of a Scalar or Null and its byte-exact map to the file. Text.Span equals Span.
	Text source.Text

	// Span is the smallest range that holds the node: scalars with their quotes or block header, collections from the
	// first to the last byte of their content, brackets included. Tags, anchors and the line break that ends a block
	// scalar are outside. An absent value is an empty range.
	Span source.Span

	// Alias is where `*name` stands if the node was reached through an alias; Span is then the anchored original.
	Alias source.Span

	Entries []Entry // of a Mapping, in file order, keys unique
	Items   []*Node // of a Sequence
	Merges  []*Node // the mappings that its keys << bring, in file order; their entries are not among Entries

	// Comments as the author wrote them, # included. Those around a mapping entry are at its key.
	HeadComment, LineComment, FootComment string
}

// An Entry is a key of a mapping and its value. The key is always a Scalar.
type Entry struct{ Key, Value *Node }

// Get returns the value of a key, or nil if n is not a mapping or has no such key.
func (n *Node) Get(key string) *Node {
	if e := n.Entry(key); e != nil {
		return e.Value
	}
	return nil
}

// Entry returns the entry of a key, or nil if n is not a mapping or has no such key.
func (n *Node) Entry(key string) *Entry {
	if n == nil {
		return nil
	}
	for i := range n.Entries {
		if n.Entries[i].Key.Text.Value == key {
			return &n.Entries[i]
		}
	}
	return nil
}

// Place is where the node is in the text: the alias if it was reached through one, otherwise Span.
func (n *Node) Place() source.Span {
	if !n.Alias.IsZero() {
		return n.Alias
	}
	return n.Span
}
