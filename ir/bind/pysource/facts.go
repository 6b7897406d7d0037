package pysource

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/source"
)

// facts is what the probe says about one source: either an error or the statements at the top of the module.
type facts struct {
	Error   string       `json:"error"`
	Line    int          `json:"line"`
	Col     int          `json:"col"` // in characters, from 1
	Body    []*statement `json:"body"`
	Imports []imported   `json:"imports"` // all, also those inside of functions
}

// A statement gives a name a meaning.
type statement struct {
	Kind string `json:"k"` // def, class, value, import, from
	Name string `json:"name"`
	Weak bool   `json:"weak"` // in an else or except: it counts when nothing else has the name
	At   spot   `json:"p"`
	Doc  string `json:"doc"`

	Params []*param `json:"params"` // of a def; of a class its members
	Rest   bool     `json:"rest"`   // **kwargs
	Async  bool     `json:"async"`
	Yields bool     `json:"yields"`
	Type   *node    `json:"type"`  // of a def: what it returns
	Marks  []*node  `json:"marks"` // decorators

	Bases []*node   `json:"bases"` // of a class
	Words []keyword `json:"words"`

	Methods []*method `json:"methods"`

	Value *node `json:"x"` // of a value

	Module string `json:"module"` // of an import
	Level  int    `json:"level"`
	Member string `json:"member"`
}

// A method of a class, with what it does with its first parameter after self.
type method struct {
	Name   string   `json:"name"`
	At     spot     `json:"p"`
	Async  bool     `json:"async"`
	Reads  []string `json:"reads"`  // attributes of the parameter
	All    bool     `json:"all"`    // it is used in other ways, too
	Writes []string `json:"writes"` // keys of the mappings that are returned; "self.x" is an attribute
	Any    bool     `json:"any"`    // other values are returned, too

	Abstract bool              `json:"abstract"`
	Params   []*param          `json:"params"` // of __init__, without self
	Rest     bool              `json:"rest"`   // it takes any keyword
	Keeps    map[string]string `json:"keeps"`  // the attributes that are parameters
}

type param struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"` // positional, keyword, or "" for both
	At      spot   `json:"p"`
	Type    *node  `json:"type"`
	Default *node  `json:"default"`
}

type keyword struct {
	Name string `json:"name"`
	X    *node  `json:"x"`
}

type imported struct {
	Module string   `json:"module"`
	Level  int      `json:"level"`
	Names  []string `json:"names"`
}

// A node is an expression.
type node struct {
	T  string    `json:"t"` // name, attr, sub, list, or, call, dict, none, bool, str, int, float; "" for anything else
	S  string    `json:"s"`
	X  *node     `json:"x"` // of a str: what it says as an expression
	E  []*node   `json:"e"`
	K  []keyword `json:"k"`
	At spot      `json:"p"`
}

// A spot is first line, column, last line, column; columns count bytes from 0.
type spot [4]int

// in is the span of a spot. A spot without extent is the word name, that comes first there.
func (s spot) in(f *source.File, name string) source.Span {
	offset := func(line, col int) int {
		start := f.Offset(line, 1)
		return min(start+col, start+len(f.Line(line)))
	}
	lo, hi := offset(s[0], s[1]), offset(s[2], s[3])
	if lo != hi {
		return source.Span{File: f, Lo: lo, Hi: max(lo, hi)}
	}
	rest := f.Text[lo:]
	for at := 0; at < len(rest); { // def and async def come before the name, and no other word does
		i := strings.Index(rest[at:], name)
		if i < 0 {
			break
		}
		at += i
		before, after := rest[:at], rest[at+len(name):]
		if (before == "" || !wordByte(before[len(before)-1])) && (after == "" || !wordByte(after[0])) {
			return source.Span{File: f, Lo: lo + at, Hi: lo + at + len(name)}
		}
		at += len(name)
	}
	return source.Span{File: f, Lo: lo, Hi: lo}
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// lookup is what a name means at the end of the module: the last statement that gives it a meaning.
func (f *facts) lookup(name string) *statement {
	var weak *statement
	for _, s := range slices.Backward(f.Body) {
		switch {
		case s.Name != name:
		case !s.Weak:
			return s
		case weak == nil:
			weak = s
		}
	}
	return weak
}

// word is the value of a keyword, or nil.
func word(list []keyword, name string) *node {
	for _, k := range list {
		if k.Name == name {
			return k.X
		}
	}
	return nil
}
