package codegen

import (
	"fmt"
	goparser "go/parser"
	"go/token"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"
)

// jennifer writes what it is given: a name with a line break in it becomes two lines of Go. So whatever is not a constant
// passes one of the functions of this file, or those of quote.go and comments.go, on its way there; a test reads the
// package and finds the calls that do without. What these functions refuse is a fault of the generator, not of the
// workflow: the checks before it let nothing of the kind through.

// A refused is what a function here panics with. Generate returns it as an error.
type refused struct{ what, text string }

func (r refused) Error() string {
	return fmt.Sprintf("the generator cannot write %q as %s", r.text, r.what)
}

// recovered turns a refusal into an error.
func recovered(err *error) {
	switch r := recover().(type) {
	case nil:
	case refused:
		*err = r
	default:
		panic(r)
	}
}

// ident is a name: one identifier, no keyword.
func ident(name string) string {
	if !token.IsIdentifier(name) {
		panic(refused{"a name", name})
	}
	return name
}

var operators = map[string]bool{
	"!": true, "&&": true, "||": true, "==": true, "!=": true, "<": true, "<=": true, ">": true, ">=": true,
	"+": true, "-": true, "*": true, "/": true, "&": true, "=": true, ":=": true,
}

// operator is an operator of Go.
func operator(op string) string {
	if !operators[op] {
		panic(refused{"an operator", op})
	}
	return op
}

// numeral is a number, perhaps with a sign.
func numeral(text string) string {
	if _, err := strconv.ParseFloat(text, 64); err != nil || strings.Trim(text, "0123456789+-.e") != "" {
		panic(refused{"a number", text})
	}
	return text
}

func wholeNumber(n int64) *jen.Statement { return jen.Op(numeral(strconv.FormatInt(n, 10))) }

// expression is a piece of Go that was rendered before.
func expression(code string) string {
	if _, err := goparser.ParseExpr(code); err != nil {
		panic(refused{"an expression", code})
	}
	return code
}

// importPath is the path of a package that generated code may import; empty for its own.
func importPath(path string) string {
	if path == "C" || path == "unsafe" || strings.ContainsFunc(path, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune("!\"#$%&'()*,:;<=>?[\\]^`{|}", r)
	}) {
		panic(refused{"an import path", path})
	}
	return path
}
