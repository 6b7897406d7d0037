package plain

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Misfit says why JSON does not fit a type, without a word about types of Go.
func Misfit(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return misfit(wrong)
	}
	if wrong, ok := errors.AsType[*time.ParseError](err); ok {
		return fmt.Errorf("%s is not a time of RFC 3339", Line(wrong.Value, 60))
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || err.Error() == "unexpected end of JSON input" {
		return errors.New("the JSON ends too early")
	}
	if strings.HasPrefix(err.Error(), "Time.UnmarshalJSON: ") {
		return errors.New("a time is a string of RFC 3339")
	}
	if text, ok := strings.CutPrefix(err.Error(), "json: "); ok { // json: unknown field "x"
		return errors.New(text)
	}
	return err
}

func misfit(wrong *json.UnmarshalTypeError) error {
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
