package value

import "strings"

// Cast is a dynamic value as a T, read as strictly as Decode reads JSON. A value that is none is a VALIDATION_ERROR, which says
// what it is called.
func Cast[T any](name string, v Value) (T, error) {
	var out T
	b, err := v.MarshalJSON()
	if err == nil {
		err = Decode(b, &out)
	}
	if err == nil {
		return out, nil
	}
	te := ToolErrorOf(err)
	at, _ := te.Details.Get("path")
	if at.text != "" && at.text[0] != '[' {
		name += "."
	}
	e := Errorf(ValidationError, "%s%s: %s", name, at.text, strings.TrimPrefix(te.Message, at.text+": "))
	e.Details = te.Details
	var zero T
	return zero, e
}

// Present is the value that p points to. That there is none is a VALIDATION_ERROR, which says what it is called.
func Present[T any](name string, p *T) (T, error) {
	if p == nil {
		var zero T
		return zero, Errorf(ValidationError, "%s: nothing has written this field", name)
	}
	return *p, nil
}
