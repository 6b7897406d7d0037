package codegen

import (
	"bytes"
	"fmt"
	"go/format"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// unformatted is a file of several parts as the generator writes it, with texts and comments that look like declarations.
func unformatted() []byte {
	var b strings.Builder
	b.WriteString("// Code generated.\n\n// Package p is one.\npackage p\n\nimport (\nx \"x\"\n\"a\"\n)\n\nconst _ = x.Y // it's `here`\n\n// Nodes: (.\nvar (\n")
	for i := range 300 {
		fmt.Fprintf(&b, "n%dNode = x.Node{ID:\"n%d (\",Pos: '\\''}\n", i, i)
		if i%7 < 3 {
			fmt.Fprintf(&b, "wide%dNode = x.Node{\nID:\"\\\"{\",\nRetry:&x.Retry{Codes:[]int{\n1,\n2,\n}},\n// it's one more [\n}\n", i)
		}
	}
	b.WriteString(")\n\n// Texts are two.\nvar a, b = `\n\nfunc no() {\n`, /* \" { */ `\n)\n\nvar (\n`\nvar c = 1\n")
	for i := range 150 {
		fmt.Fprintf(&b, "\n// f%d isn't \"g\".\nfunc f%d(a int) (b string, err error) {\nif a>%d{\n\n\n// {\nreturn `\n\nvar x = '`,nil\n}\n\nreturn \"}\", nil}\n", i, i, i)
	}
	b.WriteString("type t struct{\nA int `json:\"a\"`\nLong string}\n\n\n// The end.\n")
	return []byte(b.String())
}

// inParts has short files formatted in parts, as on a machine of four processors.
func inParts(t *testing.T) {
	procs, least := runtime.GOMAXPROCS(4), leastPart
	leastPart = 1 << 10
	t.Cleanup(func() { runtime.GOMAXPROCS(procs); leastPart = least })
}

func TestFormatInParts(t *testing.T) {
	inParts(t)
	src := unformatted()
	inside, between := 0, 0
	parts := cut(src, max(leastPart, len(src)/16))
	for _, p := range parts {
		if p.more {
			inside++
		} else {
			between++
		}
	}
	if inside < 2 || between < 4 {
		t.Errorf("%d parts end in a declaration, %d with one", inside, between)
	}
	want, err := format.Source(src)
	if err != nil {
		t.Fatal(err)
	}
	got, err := formatGo(src, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
		for i := range min(len(g), len(w)) {
			if g[i] != w[i] {
				t.Fatalf("line %d is\n%s\nand not\n%s", i+1, g[i], w[i])
			}
		}
		t.Fatalf("%d lines instead of %d", len(g), len(w))
	}
	again, err := formatGo(got, nil)
	if err != nil || !bytes.Equal(again, want) {
		t.Errorf("formatted Go is formatted differently, or not at all: %v", err)
	}
	var places []string
	for i := 3; i < 300; i += 30 {
		places = append(places, fmt.Sprintf("ID: \"n%d (\",", i))
	}
	for _, what := range append(places, "wide2Node = x.Node{", "f7(a int) (", "f149(a int) (", "ID: \"n299 (\",") { // one place is changed, in each kind of part
		at := bytes.Index(got, []byte(what)) + len(what)
		changed := slices.Concat(got[:at], []byte("\n"), got[at:])
		want, err := format.Source(changed)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := formatGo(changed, []int{at}); err != nil || !bytes.Equal(again, want) {
			t.Errorf("with a line break behind %q it is not what gofmt makes of it: %v", what, err)
		}
	}
}

// What does not parse is reported at its place in the file.
func TestFormatInPartsRefuses(t *testing.T) {
	inParts(t)
	for _, end := range []string{"func (", "var x = `", "}", "/*", "'"} {
		src := append(unformatted(), end...)
		_, want := format.Source(src)
		if _, err := formatGo(src, nil); err == nil || want == nil || err.Error() != want.Error() {
			t.Errorf("%q: %v, want %v", end, err, want)
		}
	}
}
