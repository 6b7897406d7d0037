package wasmsource

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"
)

func leb(n uint64) string { return string(binary.AppendUvarint(nil, n)) }

func section(id byte, body string) string { return string(id) + leb(uint64(len(body))) + body }

const head = "\x00asm\x01\x00\x00\x00"

// TestHostileModules: a few bytes must not become gigabytes.
func TestHostileModules(t *testing.T) {
	types := section(1, leb(1)+"\x60\x00\x00")
	for name, tt := range map[string]struct{ text, want string }{
		"variables of a function": {types + section(3, leb(1)+"\x00") + section(10, leb(1)+leb(7)+leb(1)+leb(1<<28)+"\x7f\x0b"), "section 10 is wrong: too many variables"},
		"variables of many": {types + section(3, leb(200)+strings.Repeat("\x00", 200)) + section(10, leb(200)+strings.Repeat("\x05\x01\x90\x4e\x7f\x0b", 200)),
			"section 10 is wrong: too many variables"},
		"functions": {types + section(3, leb(1<<31)+"\x00"), "section 3 is wrong: more than 100000 parts"},
		"exports":   {section(7, leb(1)+"\x01a\x00\x05"), "section 7 is wrong: no function 5"},
		"order":     {section(3, "\x00") + section(1, "\x00"), "section 1 is out of order"},
		"twice":     {section(1, "\x00") + section(1, "\x00"), "section 1 is out of order"},
		"unknown":   {section(77, ""), "section 77 is out of order"},
		"more":      {section(1, "\x00\x00"), "section 1 is wrong: it has trailing data"},
		"shared":    {section(5, "\x01\x03\x01\x01"), "section 5 is wrong: shared memory and memory of 64 bits are not supported"},
		"name":      {section(7, "\x01\x01\xff\x00\x00"), "section 7 is wrong: a name is not UTF-8"},
		"too long":  {"\x01\xff\xff\xff\xff\x0f", "section 1 is wrong: it ends too early"},
	} {
		if _, err := parseModule(head + tt.text); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}

// FuzzModule reads pieces and mixtures of modules: no panic, no more memory than the text has.
func FuzzModule(f *testing.F) {
	for _, name := range []string{"attacks", "echo", "flood"} {
		text, err := os.ReadFile("../../../runtime/wasmtool/testdata/" + name + ".wasm")
		if err != nil {
			f.Fatal(err)
		}
		if _, err := parseModule(string(text)); err != nil {
			f.Errorf("%s: %v", name, err)
		}
		for i := len(head); i <= len(text); i += 7 {
			f.Add(text[:i])
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) < len(head) {
			return
		}
		m, err := parseModule(string(text))
		if err == nil && len(m.types)+len(m.funcs)+len(m.imports)+len(m.exports) > len(text) {
			t.Errorf("%d bytes became %+v", len(text), m)
		}
	})
}
