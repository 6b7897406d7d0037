package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// misfit says why JSON is no value of a type, without a word about types of Go.
func misfit(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	at := "it"
	if wrong.Field != "" {
		at = wrong.Field
	}
	kind, value, ok := strings.Cut(wrong.Value, " ")
	switch {
	case ok: // a number that is too large, or no whole one
		return fmt.Errorf("%s cannot be %s", at, value)
	case kind == "array":
		kind = "list"
	}
	return fmt.Errorf("%s cannot be %s %s", at, map[bool]string{true: "an", false: "a"}[kind == "object"], kind)
}
