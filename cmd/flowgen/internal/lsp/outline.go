package lsp

import (
	"bytes"
	"strings"

	"github.com/flowgen-dev/flowgen/parser"
)

// A spot is where a cursor is in the structure of a YAML file. It is found in the text before the cursor alone, line by line, so
// that there is one in files that are not YAML yet.
type spot struct {
	steps  []parser.Step // into the mapping or list of the cursor, and its own key at a value
	beside []string      // keys written before the cursor in its mapping
	value  bool          // behind a key, or an item of a list
	word   string        // what of the key or value is written
	key    string        // whose value it is
}

// A level is a mapping or a list that is open at the cursor.
type level struct {
	indent int  // of block style; -1: in brackets
	list   bool // its items have no keys
	key    string
	keys   []string
}

type outliner struct {
	stack  []level
	block  int  // indentation of the key of a block scalar that is open; -1: none
	value  bool // a key was read on this line, and not its value's end
	word   []byte
	begun  bool // the word is more than white space
	quoted byte
}

// add appends to the word.
func (o *outliner) add(c byte) {
	o.word = append(o.word, c)
	o.begun = o.begun || c != ' ' && c != '\t'
}

// next begins another word.
func (o *outliner) next() { o.word, o.begun = o.word[:0], false }

// outline finds the spot of an offset.
func outline(text string, off int) spot {
	o := outliner{block: -1}
	for line := range strings.Lines(text[:off]) {
		o.line(strings.TrimRight(line, "\r\n"), strings.HasSuffix(line, "\n"))
	}
	if off == 0 || text[off-1] == '\n' {
		o.line("", false)
	}
	return o.spot()
}

func (o *outliner) spot() spot {
	s := spot{value: o.value, word: strings.TrimLeft(string(o.word), " ")}
	for i, l := range o.stack {
		last := i == len(o.stack)-1
		switch {
		case l.list:
			s.steps = append(s.steps, parser.Step{Key: "-"})
			s.value = s.value || last
		case !last || o.value:
			s.steps = append(s.steps, parser.Step{Key: l.key, Beside: l.keys})
			s.key = l.key
		default:
			s.beside = l.keys
		}
	}
	return s
}

// line reads a line; ended is false for that of the cursor.
func (o *outliner) line(line string, ended bool) {
	rest := strings.TrimLeft(line, " ")
	indent := len(line) - len(rest)
	if o.block >= 0 {
		if rest == "" && ended || indent > o.block {
			o.next()
			o.value, o.word = true, append(o.word, rest...)
			return
		}
		o.block = -1
	}
	brackets := len(o.stack) > 0 && o.stack[len(o.stack)-1].indent < 0
	if brackets {
		o.scan(rest, 0)
		return
	}
	if ended && (rest == "" || rest[0] == '#') {
		return
	}
	o.value = false
	o.next()
	for len(o.stack) > 0 && (o.stack[len(o.stack)-1].indent > indent || o.stack[len(o.stack)-1].list && o.stack[len(o.stack)-1].indent >= indent && !strings.HasPrefix(rest, "-")) {
		o.stack = o.stack[:len(o.stack)-1]
	}
	for rest == "-" || strings.HasPrefix(rest, "- ") {
		for len(o.stack) > 0 && o.stack[len(o.stack)-1].indent > indent {
			o.stack = o.stack[:len(o.stack)-1]
		}
		if len(o.stack) == 0 || !o.stack[len(o.stack)-1].list || o.stack[len(o.stack)-1].indent < indent {
			o.stack = append(o.stack, level{indent: indent, list: true})
		}
		after := strings.TrimLeft(rest[1:], " ")
		indent += len(rest) - len(after)
		rest = after
	}
	o.scan(rest, indent)
}

// scan reads the rest of a line, which begins at a column.
func (o *outliner) scan(s string, indent int) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		top := len(o.stack) - 1
		flow := top >= 0 && o.stack[top].indent < 0
		switch {
		case o.quoted != 0:
			o.add(c)
			if c == '\\' && o.quoted == '"' && i+1 < len(s) {
				i++
				o.add(s[i])
			} else if c == o.quoted {
				o.quoted = 0
			}
		case c == '#' && (i == 0 || s[i-1] == ' '):
			return
		case (c == '"' || c == '\'') && !o.begun:
			o.next()
			o.add(c)
			o.quoted = c
		case c == '{' && !o.begun:
			o.enter(level{indent: -1})
		case c == '[' && !o.begun:
			o.enter(level{indent: -1, list: true})
		case flow && (c == '}' || c == ']'):
			o.stack, o.value = o.stack[:top], true
			o.next()
		case flow && c == ',':
			o.value = false
			o.next()
		case c == ':' && (i+1 == len(s) || s[i+1] == ' ') && !o.value && !(flow && o.stack[top].list):
			o.open(strings.Trim(strings.TrimSpace(string(o.word)), `"'`), indent, flow)
		default:
			o.add(c)
		}
	}
	if w := bytes.TrimSpace(o.word); o.value && len(w) > 0 && (w[0] == '|' || w[0] == '>') && len(o.stack) > 0 && o.stack[len(o.stack)-1].indent >= 0 {
		o.block = o.stack[len(o.stack)-1].indent
		o.next()
	}
	if o.quoted == 0 && len(o.stack) > 0 && o.stack[len(o.stack)-1].indent >= 0 && !o.value && !o.stack[len(o.stack)-1].list && o.stack[len(o.stack)-1].indent < indent {
		o.stack = append(o.stack, level{indent: indent}) // a key that is being written, in a mapping of its own
	} else if len(o.stack) == 0 && !o.value {
		o.stack = append(o.stack, level{indent: indent})
	} else if n := len(o.stack); n > 0 && o.stack[n-1].list && o.stack[n-1].indent >= 0 && !o.value && s == "" && indent > o.stack[n-1].indent+1 {
		return
	}
}

// open begins the value of a key.
func (o *outliner) open(key string, indent int, flow bool) {
	if !flow {
		if n := len(o.stack); n == 0 || o.stack[n-1].list || o.stack[n-1].indent < indent {
			o.stack = append(o.stack, level{indent: indent})
		}
	}
	top := &o.stack[len(o.stack)-1]
	top.key = key
	top.keys = append(top.keys, key)
	o.value = true
	o.next()
}

// maxOpen bounds the brackets that are open at once; inside of more nothing is offered.
const maxOpen = 1000

// enter opens a bracket.
func (o *outliner) enter(l level) {
	o.value = false
	o.next()
	if len(o.stack) < maxOpen {
		o.stack = append(o.stack, l)
	}
}
