package llm

import (
	"encoding/json"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// words writes those of an enum in an answer as the schema does: models put them in other case, or a full stop after them. It
// reports whether it changed one. A word that may be two of them stays.
func words(text string, schema *Schema) (string, bool) {
	if schema == nil {
		return "", false
	}
	var shape wordShape
	v, err := value.Parse([]byte(text))
	if err != nil || json.Unmarshal(schema.JSON, &shape) != nil {
		return "", false
	}
	changed := false
	v = shape.write(v, &changed)
	out, err := v.MarshalJSON()
	return string(out), err == nil && changed
}

// A wordShape is what of a JSON Schema leads to enums of text.
type wordShape struct {
	Enum       []any
	Properties map[string]*wordShape
	Items      *wordShape
}

func (s *wordShape) write(v value.Value, changed *bool) value.Value {
	switch {
	case s == nil:
	case v.Kind() == value.StringKind && s.Enum != nil:
		if w, ok := s.word(v.String()); ok {
			*changed = true
			return value.String(w)
		}
	case v.Kind() == value.MapKind && s.Properties != nil:
		return value.MapOf(v.Len(), func(i int) (string, value.Value, bool) {
			key := v.Key(i)
			field, _ := v.Get(key)
			return key, s.Properties[key].write(field, changed), true
		})
	case v.Kind() == value.ListKind && s.Items != nil:
		items := make([]value.Value, v.Len())
		for i := range items {
			items[i] = s.Items.write(v.Index(i), changed)
		}
		return value.List(items...)
	}
	return v
}

// word is the one of the enum that differs from text in case, spaces around it and full stops after it; ok is false when there is
// none, or several, or text is one.
func (s *wordShape) word(text string) (found string, ok bool) {
	plain := strings.TrimRight(strings.TrimSpace(text), ".")
	for _, e := range s.Enum {
		w, isText := e.(string)
		if !isText || !strings.EqualFold(w, plain) {
			continue
		}
		if ok || w == text {
			return "", false
		}
		found, ok = w, true
	}
	return found, ok
}
