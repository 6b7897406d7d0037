package codegen

import "testing"

func TestGoReads(t *testing.T) {
	for _, name := range []string{"a.go", "a/b.go", "A.GO", "a_amd64.s", "a.S", "a.c", "a.h", "a.cpp", "a.m", "a.f90", "a.syso", "a.swig", "go.mod", "x/go.work", "go.sum", "vendor/x.py", "a/vendor/b/c.mjs"} {
		if !GoReads(name) {
			t.Errorf("%s is read by the go command", name)
		}
	}
	for _, name := range []string{"a.py", "a_flow.fetch.mjs", "a.star", "a/b.md", "go.md", "vendored.py", "a.gopy", "Makefile"} {
		if GoReads(name) {
			t.Errorf("%s is not read by the go command", name)
		}
	}
}
