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
			return "", value.Invalid("%q is not a kind of personal data: expected email, phone, ssn or credit_card", e)
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

// GivenText is the text at a place of an input, as in inputs.topic.name, of which v is the whole. What is missing or null is a
// VALIDATION_ERROR.
func GivenText(v value.Value, place string) (string, error) { return given(v, place).resolved() }

// GivenOr is GivenText with a text for what is missing, null or empty.
func GivenOr(v value.Value, place, instead string) (string, error) {
	return given(v, place).Or(instead).resolved()
}

// given is the placeholder of an input: the native language knows no difference between one that is null and none.
func given(v value.Value, place string) Part {
	if v.IsNull() {
		return Ref(place, dynamic.Field{})
	}
	return Ref(place, dynamic.Of(v))
}

// ItemText is the text of an item of a factory. One that is null is a VALIDATION_ERROR.
func ItemText(v value.Value) (string, error) { return item(v).resolved() }

// ItemOr is ItemText with a text for one that is null or empty.
func ItemOr(v value.Value, instead string) (string, error) { return item(v).Or(instead).resolved() }

// item is the placeholder of an item, for which Python takes null for nothing.
func item(v value.Value) Part {
	if v.IsNull() {
		return Ref("item", dynamic.Field{})
	}
	return Ref("item", dynamic.Of(v))
}

// Lines is what is not empty of a list, one on a line.
func Lines(v value.Value) string {
	list, _ := dynamic.Of(v).Items()
	return lines(fields(list))
}

// ListOf is the list that is at a path of a value, or that its text is in JSON, also in a fence.
func ListOf(v value.Value, path []string) ([]value.Value, error) { return listed(at(v, path)) }

// ListOr is ListOf with a list in JSON for what is missing, empty or no JSON.
func ListOr(v value.Value, path []string, instead string) ([]value.Value, error) {
	return listed(at(v, path).OrJSON(instead))
}

func listed(p Part) ([]value.Value, error) {
	items, err := Each("for_each", p)()
	if err != nil {
		return nil, err
	}
	out := make([]value.Value, len(items))
	for i, it := range items {
		out[i] = it.Value()
	}
	return out, nil
}

// Instances is what the instances of a factory say: results of a `map` with `on_item_error: keep`. One that failed ends the
// run, or says nothing when the others go on, unless its texts could not be made.
func Instances(results value.Value, continued bool) (value.Value, error) {
	list, _ := dynamic.Of(results).Items()
	said := make([]dynamic.Field, len(list))
	var first error
	for i, r := range list {
		e, failed := r.Get("error")
		if !failed || e.IsNull() {
			v, _ := r.Get("value")
			said[i] = dynamic.Of(v)
			continue
		}
		said[i] = dynamic.Text("")
		code, _ := e.Get("code")
		message, _ := e.Get("message")
		err := value.Errorf(value.Code(code.String()), "%s", message.String())
		if strings.HasPrefix(message.String(), "InterpolationError") {
			return value.Value{}, err
		}
		if first == nil {
			first = err
		}
	}
	if first != nil && !continued {
		return value.Value{}, first
	}
	return dynamic.List(said...).Value(), nil
}

// Concluded is what a synthesis says, or the answers that it is about when it has failed.
func Concluded(text *string, answers []string) value.Value {
	if text != nil {
		return value.String(*text)
	}
	all := make([]value.Value, len(answers))
	for i, a := range answers {
		all[i] = value.String(a)
	}
	return value.List(all...)
}

// Written is what a workflow that a node runs has written: its output without what is null, as nothing has written that.
func Written(v value.Value) value.Value {
	var out []value.Entry
	for i, key := range v.Keys() {
		if x := v.Index(i); !x.IsNull() {
			out = append(out, value.Entry{Key: key, Value: x})
		}
	}
	return value.Map(out...)
}
