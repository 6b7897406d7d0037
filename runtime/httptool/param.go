package httptool

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Optional returns a parameter or a header with the text form of v, and none when v is nil.
func Optional[T any](name string, v *T) []Field {
	if v == nil {
		return nil
	}
	return []Field{{name, text(*v)}}
}

// Repeated returns one parameter of that name for each value, in their order.
func Repeated[T any](name string, list []T) []Field {
	out := make([]Field, len(list))
	for i, v := range list {
		out[i] = Field{name, text(v)}
	}
	return out
}

// OptionalList is Repeated, and none when the list is nil.
func OptionalList[T any](name string, list *[]T) []Field {
	if list == nil {
		return nil
	}
	return Repeated(name, *list)
}

// Joined returns one parameter with the text forms of all values and sep between them, and none for an empty list.
func Joined[T any](name, sep string, list []T) []Field {
	if len(list) == 0 {
		return nil
	}
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = text(v)
	}
	return []Field{{name, strings.Join(texts, sep)}}
}

// OptionalJoined is Joined, and none when the list is nil.
func OptionalJoined[T any](name, sep string, list *[]T) []Field {
	if list == nil {
		return nil
	}
	return Joined(name, sep, *list)
}

// text is the text form of a value that has one.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return value.FormatFloat(v)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	}
	return fmt.Sprint(v) // durations, bools, integers of Go and named strings
}
