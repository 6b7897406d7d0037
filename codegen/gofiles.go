package codegen

import (
	"path"
	"slices"
	"strings"
)

// goEnds are how the names of files end that the go command compiles, links or hands to a C compiler.
var goEnds = []string{".go", ".s", ".sx", ".syso", ".c", ".cc", ".cpp", ".cxx", ".m", ".h", ".hh", ".hpp", ".hxx", ".f", ".for", ".f90", ".swig", ".swigcxx", ".o", ".a"}

// goNames are the files and folders with a meaning of their own to the go command.
var goNames = []string{"go.mod", "go.sum", "go.work", "go.work.sum", "vendor"}

// GoReads reports whether the go command takes a file of this slash-separated name for more than data. No file that
// flowgen copies for a workflow has such a name.
func GoReads(name string) bool {
	name = strings.ToLower(name) // file systems may not tell them apart
	return slices.Contains(goEnds, path.Ext(name)) || slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return slices.Contains(goNames, part)
	})
}
