package parser

import (
	"strings"

	"github.com/flowgen-dev/flowgen/parser/native"
)

// A Step leads from a mapping or a list of a file into it.
type Step = native.Step

// Place is what a file of flowgen's own language can have at a place: the keys of mappings, and the forms of values.
func Place(name string, steps []Step, beside []string) (keys []native.Key, forms []native.Form) {
	if strings.HasSuffix(name, CasesSuffix) {
		return native.CasesPlace(steps, beside)
	}
	return native.Place(steps, beside)
}

// TypeWords are the names of types that are built in, and those with parameters as they are written.
func TypeWords() []string { return native.TypeWords() }
