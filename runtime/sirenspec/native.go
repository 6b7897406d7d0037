package sirenspec

import (
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// The guardrails as functions of a workflow of the native language, in which each is a `go` node:
// `go: github.com/flowgen-dev/flowgen/runtime/sirenspec.Uninjected`. They give the text that goes on; the error is a
// POLICY_DENIED.

// Uninjected is text that the injection guardrail lets pass.
func Uninjected(text string) (string, error) {
	return looked(func(text string, _ bool) (string, error) { return Injection(text, false) }, text)
}

// Shortened is an answer of so many characters at most, cut where it is longer.
func Shortened(text string, most int) (string, error) { return looked(Length(most), text) }

// Short is an answer of so many characters at most.
func Short(text string, most int) (string, error) { return looked(LengthOrFail(most), text) }

// Redacted is text without personal data of some kinds (email, phone, ssn, credit_card): instead stands for each.
func Redacted(text string, entities []string, instead string) (string, error) {
	return personal(PII{Entities: entities, Instead: instead}, text)
}

// Impersonal is text that has no personal data of some kinds.
func Impersonal(text string, entities []string) (string, error) {
	return personal(PII{Entities: entities, Action: Block}, text)
}

// Fitting is an answer that is JSON and fits a JSON Schema of draft 7.
func Fitting(text, schema string) (string, error) { return looked(Schema(schema), text) }

// looked is text as a guardrail lets it pass that is for an answer.
func looked(g Guard, text string) (string, error) {
	passed, err := g(text, true)
	if err != nil {
		return "", denied(err)
	}
	return passed, nil
}

// personal is text as the pii guardrail lets it pass.
func personal(p PII, text string) (string, error) {
	for _, e := range p.Entities {
		if finders[e] == nil {
			return "", value.Invalid("%q is no kind of personal data: there are email, phone, ssn and credit_card", e)
		}
	}
	if p.Entities == nil {
		p.Entities = []string{} // and not all of them
	}
	return looked(p.Guard(), text)
}

// The placeholders as functions of a workflow of the native language.

// PartText is what is at a path of a value, as Python writes it. What is missing is a VALIDATION_ERROR.
func PartText(v value.Value, path []string) (string, error) { return at(v, path).resolved() }

// PartOr is PartText with a text for what is missing or empty.
func PartOr(v value.Value, path []string, instead string) (string, error) {
	return at(v, path).Or(instead).resolved()
}

// JSONOr is PartText with a text for what is missing, empty or no JSON.
func JSONOr(v value.Value, path []string, instead string) (string, error) {
	return at(v, path).OrJSON(instead).resolved()
}

// at is the placeholder of a path of a value.
func at(v value.Value, path []string) Part {
	return Ref(strings.Join(append([]string{"value"}, path...), "."), dynamic.Of(v))
}
