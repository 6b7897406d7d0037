package yamlnode

import (
	"fmt"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// The mistakes that the readers of all languages report. Readers add the help.

// UnknownKey is a key that what does not have.
func UnknownKey(at source.Span, name, what string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.UnknownKey, Span: at, Message: "unknown key `" + name + "` in " + what}
}

// MissingKey is a mapping without a key that it must have; doc says what the key is.
func MissingKey(at source.Span, what, key, doc string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.MissingKey, Span: at, Message: what + " needs the key `" + key + "`", Help: "add `" + key + "`: " + doc}
}

// NoNodes is a workflow without nodes.
func NoNodes(at source.Span) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.MissingKey, Span: at, Message: "the file has no nodes", Help: "add a node"}
}

// Duplicate is the second of two of a kind with one name; the first is declared at first.
func Duplicate(at source.Span, what, name string, first source.Span) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.DuplicateName, Span: at, Message: fmt.Sprintf("%s \"%s\" is declared twice", what, Shorten(name)),
		Related: []diag.Related{{Span: first, Message: "first declared here"}}}
}

// NoFileName is text that cannot name a file.
func NoFileName(at source.Span) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.CannotRead, Span: at, Message: "this is not the name of a file"}
}

// UnknownWord is a word that what cannot be.
func UnknownWord(at source.Span, word, what string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.UnknownWord, Span: at, Message: fmt.Sprintf("%s cannot be `%s`", what, Shorten(word))}
}

// WrongShape is a value of another kind than want says.
func WrongShape(at source.Span, n *Node, want string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.WrongShape, Span: at, Message: want + ", this is " + n.Describe()}
}

// NotWhole is text in the place of an integer.
func NotWhole(at source.Span, text, what string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.BadLiteral, Span: at, Message: fmt.Sprintf("%s is an integer, not `%s`", what, Shorten(text))}
}

// OutOfRange is a number beyond its bounds.
func OutOfRange[T int64 | float64](at source.Span, what string, least, most T) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.BadLiteral, Span: at, Message: fmt.Sprintf("%s is a number from %v to %v", what, least, most)}
}
