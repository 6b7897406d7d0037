package wire

import (
	"encoding/json"
	"strings"
)

// WrongTypes is what Garbled says of fields that are not Sound, TextFields or CountFields.
const WrongTypes = "a field has another type than it should"

// A Field is what the libraries of providers keep of a field of JSON. Their decoders are lenient: they leave out values of the
// wrong type, and read numbers as texts. The checks of fields look at the JSON itself.
type Field interface {
	Raw() string // empty when the field is missing
	Valid() bool
}

func given(f Field) bool { return f.Raw() != "" && f.Raw() != "null" }

// Sound reports whether fields could be read.
func Sound[F Field](fields ...F) bool {
	for _, f := range fields {
		if !f.Valid() && given(f) {
			return false
		}
	}
	return true
}

// TextFields reports whether fields are texts, where they are given.
func TextFields[F Field](fields ...F) bool {
	for _, f := range fields {
		if given(f) && f.Raw()[0] != '"' {
			return false
		}
	}
	return Sound(fields...)
}

// CountFields reports whether fields are integers, where they are given.
func CountFields[F Field](fields ...F) bool {
	for _, f := range fields {
		if given(f) && strings.Trim(f.Raw(), "-0123456789") != "" {
			return false
		}
	}
	return Sound(fields...)
}

// UnmarshalObject is Unmarshal of an object, with a check of the syntax, which the decoders of libraries do not do in full.
func UnmarshalObject(host string, data []byte, v any) error {
	var raw json.RawMessage
	if err := Unmarshal(host, data, &raw); err != nil {
		return err
	}
	if len(raw) == 0 || raw[0] != '{' {
		return Garbled(host, "it is not an object")
	}
	return Unmarshal(host, data, v)
}
