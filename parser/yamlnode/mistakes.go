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

// UnknownWord is a word that what cannot be.
func UnknownWord(at source.Span, word, what string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.UnknownWord, Span: at, Message: fmt.Sprintf("%s cannot be `%s`", what, Shorten(word))}
}

// WrongShape is a value of another kind than want says.
func WrongShape(at source.Span, n *Node, want string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.WrongShape, Span: at, Message: want + ", this is " + n.Describe()}
}

// NotWhole is text in the place of a whole number.
func NotWhole(at source.Span, text, what string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.BadLiteral, Span: at, Message: fmt.Sprintf("%s is a whole number, not `%s`", what, Shorten(text))}
}

// OutOfRange is a number beyond its bounds.
func OutOfRange[T int64 | float64](at source.Span, what string, least, most T) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.BadLiteral, Span: at, Message: fmt.Sprintf("%s is a number from %v to %v", what, least, most)}
}
