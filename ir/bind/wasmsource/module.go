package wasmsource

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// The parts of a module that say what it needs and offers. Function bodies are not looked into but for the number of their variables:
// the runtime validates them, before anything runs. Reading takes time and memory in proportion to the file.

const (
	maxModule    = 8 << 20   // bytes of a file, which the program embeds
	maxFunctions = 100_000   // of a module
	maxVariables = 10_000    // of a function
	allVariables = 1_000_000 // of a module; a few bytes can declare billions
)

// A signature is the type of a function.
type signature struct{ params, results string } // a byte for each value

const (
	i32 = "\x7f"
	i64 = "\x7e"
)

var valueTypes = map[byte]string{0x7f: "i32", 0x7e: "i64", 0x7d: "f32", 0x7c: "f64", 0x7b: "v128", 0x70: "funcref", 0x6f: "externref"}

// A callName is a function that a module imports.
type callName struct{ module, name string }

// content is what a module says about itself.
type content struct {
	types    []signature
	imports  []callName
	funcs    []uint32 // types of all functions, imported ones first
	memories []uint64 // pages that each has at first
	exports  map[string]signature
	memory   string // the name of an exported one

	importsMemory bool
}

var errTruncated = errors.New("it ends too early")

// parseModule reads a module of WebAssembly 1.
func parseModule(text string) (*content, error) {
	m := &content{exports: map[string]signature{}}
	r := &reader{b: text[8:]}
	last := -1
	for len(r.b) > 0 && r.err == nil {
		id, size := r.byte(), r.size()
		body := r.bytes(size)
		if id == 0 { // custom: names and the like
			continue
		}
		at := slices.Index([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 10, 11}, id) // the order in a file
		if r.err == nil && at <= last {
			return nil, fmt.Errorf("section %d is out of order", id)
		}
		last = at
		s := &reader{b: body}
		m.section(id, s)
		if r.err == nil && s.err == nil && len(s.b) > 0 && slices.Contains([]byte{1, 2, 3, 5, 7, 10}, id) {
			s.err = errors.New("it has trailing data")
		}
		if s.err != nil {
			return nil, fmt.Errorf("section %d is wrong: %w", id, s.err)
		}
	}
	return m, r.err
}

func (m *content) section(id byte, s *reader) {
	switch id {
	case 1:
		s.each(maxFunctions, func() {
			if s.byte() != 0x60 {
				s.fail(errors.New("not a function type"))
			}
			m.types = append(m.types, signature{s.bytes(s.size()), s.bytes(s.size())})
		})
	case 2:
		s.each(maxFunctions, func() { m.imported(s) })
	case 3:
		s.each(maxFunctions, func() { m.funcs = append(m.funcs, uint32(s.size())) })
	case 5:
		s.each(1, func() { m.memories = append(m.memories, s.limits()) })
	case 7:
		s.each(maxFunctions, func() { m.exported(s) })
	case 10:
		all := uint64(0)
		s.each(maxFunctions, func() {
			f, own := &reader{b: s.bytes(s.size())}, uint64(0)
			f.each(maxVariables, func() {
				own += uint64(f.size())
				f.byte()
			})
			if all += own; own > maxVariables || all > allVariables {
				f.fail(errors.New("too many variables"))
			}
			s.fail(f.err)
		})
	}
}

func (m *content) imported(s *reader) {
	c := callName{s.name(), s.name()}
	switch s.byte() {
	case 0:
		m.imports = append(m.imports, c)
		m.funcs = append(m.funcs, uint32(s.size()))
	case 1:
		s.byte()
		s.limits()
	case 2:
		m.importsMemory = true
		s.limits()
	case 3:
		s.bytes(2)
	default:
		s.fail(errors.New("an import of an unknown kind"))
	}
}

func (m *content) exported(s *reader) {
	name, kind, at := s.name(), s.byte(), s.size()
	switch kind {
	case 0:
		if at >= len(m.funcs) || int(m.funcs[at]) >= len(m.types) {
			s.fail(fmt.Errorf("no function %d", at))
			return
		}
		m.exports[name] = m.types[m.funcs[at]]
	case 2:
		m.memory = name
	}
}

// A reader reads what is left of a section. After an error it reads nothing.
type reader struct {
	b   string
	err error
}

func (r *reader) fail(err error) {
	if r.err == nil && err != nil {
		r.err, r.b = err, ""
	}
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail(errTruncated)
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *reader) bytes(n int) string {
	if n > len(r.b) {
		r.fail(errTruncated)
		return ""
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

// size reads a number of 32 bits.
func (r *reader) size() int {
	n, used := binary.Uvarint([]byte(r.b[:min(len(r.b), 5)]))
	if used <= 0 || n > 1<<32-1 {
		r.fail(errTruncated)
		return 0
	}
	r.b = r.b[used:]
	return int(n)
}

func (r *reader) name() string {
	s := r.bytes(r.size())
	if !utf8.ValidString(s) {
		r.fail(errors.New("a name is not UTF-8"))
	}
	return s
}

// limits reads the bounds of a memory or a table and returns the lower one.
func (r *reader) limits() uint64 {
	flags, least := r.byte(), r.size()
	switch flags {
	case 0:
	case 1:
		r.size()
	default:
		r.fail(errors.New("shared memory and memory of 64 bits are not supported"))
	}
	return uint64(least)
}

// each reads a list of at most limit parts.
func (r *reader) each(limit int, part func()) {
	n := r.size()
	if n > limit {
		r.fail(fmt.Errorf("more than %d parts", limit))
	}
	for range n {
		if r.err != nil {
			return
		}
		part()
	}
}
