package schema

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CheckJSON says what keeps a JSON constant from being a value of the type; "" when nothing does.
func CheckJSON(data []byte, t *Type) string {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return "it is not valid JSON"
	}
	return checkJSON(v, t, "")
}

func checkJSON(v any, t *Type, path string) string {
	at := func(format string, args ...any) string {
		s := fmt.Sprintf(format, args...)
		if path != "" {
			return strings.TrimPrefix(path, ".") + ": " + s
		}
		return s
	}
	wrong := func() string { return at("%s is needed, and this is %s", t, jsonKind(v)) }
	if v == nil && t.Kind != Any && t.Kind != Opt && t.Kind != Null && t.Kind != Invalid {
		return wrong()
	}
	switch t.Kind {
	case Bool:
		if _, ok := v.(bool); !ok {
			return wrong()
		}
	case Int:
		n, ok := v.(json.Number)
		if !ok {
			return wrong()
		}
		if _, err := strconv.ParseInt(n.String(), 10, 64); err != nil {
			return at("%s is not an int", n)
		}
	case Float:
		if _, ok := v.(json.Number); !ok {
			return wrong()
		}
	case String, Bytes, Time, Duration, Enum:
		s, ok := v.(string)
		if !ok {
			return wrong()
		}
		return prefix(at, checkText(s, t))
	case Union:
		m, ok := v.(map[string]any)
		if !ok {
			return wrong()
		}
		tag, _ := m[t.By].(string)
		x := t.Variant(tag)
		if x == nil {
			return at("`%s` must be one of %s", t.By, strings.Join(t.Tags(), ", "))
		}
		return checkJSON(v, x.Type, path)
	case Opt:
		if v != nil {
			return checkJSON(v, t.Elem, path)
		}
	case List:
		xs, ok := v.([]any)
		if !ok {
			return wrong()
		}
		for i, x := range xs {
			if p := checkJSON(x, t.Elem, fmt.Sprintf("%s[%d]", path, i)); p != "" {
				return p
			}
		}
	case Map, Struct:
		m, ok := v.(map[string]any)
		if !ok {
			return wrong()
		}
		return checkMembers(m, t, path, at)
	}
	return ""
}

func checkMembers(m map[string]any, t *Type, path string, at func(string, ...any) string) string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		elem := t.Elem
		if t.Kind == Struct {
			f := t.Field(k)
			if f == nil {
				return at("%s has no field %q", t, k)
			}
			elem = f.Type
		}
		if p := checkJSON(m[k], elem, path+"."+k); p != "" {
			return p
		}
	}
	for _, f := range t.Fields {
		if _, ok := m[f.Name]; !ok && f.Required() {
			return at("field %q is missing", f.Name)
		}
	}
	return ""
}

func checkText(s string, t *Type) string {
	switch t.Kind {
	case Bytes:
		if _, err := base64.StdEncoding.DecodeString(s); err != nil {
			return "it is not base64, the text form of bytes"
		}
	case Time:
		if _, err := time.Parse(time.RFC3339Nano, s); err != nil {
			return fmt.Sprintf("%q is not a time such as 2026-01-31T12:00:00Z", s)
		}
	case Duration:
		if _, err := time.ParseDuration(s); err != nil {
			return fmt.Sprintf("%q is not a duration such as 1h30m or 500ms", s)
		}
	case Enum:
		if !slices.Contains(t.Values, s) {
			return fmt.Sprintf("%q is not a value of %s", s, t)
		}
	}
	return ""
}

func prefix(at func(string, ...any) string, s string) string {
	if s == "" {
		return ""
	}
	return at("%s", s)
}

func jsonKind(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "bool"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "float"
		}
		return "int"
	case string:
		return "text"
	case []any:
		return "a list"
	}
	return "a mapping"
}
