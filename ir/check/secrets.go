package check

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Secrets have no type that a value could have: they are named where they are used, and nowhere else.

const secretHelp = "a secret reaches what needs it by name: `auth` of a tool, `env` of a command or a server, `key` of a model; Go functions read it with tool.Auth"

func (c *checker) isSecret(name string) bool {
	return slices.ContainsFunc(c.wf.Secrets, func(s *ir.Secret) bool { return s.Name.Name == name })
}

// secretSymbol is what an expression sees that names a secret, or all of them; nil when name is none.
func (c *checker) secretSymbol(name string) *expr.Symbol {
	what := "\"" + name + "\" is a secret: it cannot be used as a value"
	switch {
	case c.isSecret(name):
	case name == "secrets" || name == "secret":
		what = "a secret cannot be used as a value"
	default:
		return nil
	}
	return &expr.Symbol{Name: name, Type: schema.InvalidType, Problem: &expr.Problem{
		Code: diag.SecretFlow, Message: what + ", because it could reach a prompt, state, an output or a log",
		Help: secretHelp,
	}}
}

// secretText warns about text that is the name of a secret where that means nothing.
func (c *checker) secretText(text string, at source.Span) {
	if c.isSecret(text) {
		c.warn(diag.Diagnostic{Code: diag.SecretText, Span: at, Message: "this is the text \"" + text + "\", not the secret of that name", Help: secretHelp})
	}
}
