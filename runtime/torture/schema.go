package torture

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// schema is what flowgen writes of JSON Schema, which is what models are given.
type schema struct {
	Type       string             `json:"type"`
	Enum       []json.RawMessage  `json:"enum"`
	AnyOf      []schema           `json:"anyOf"`
	OneOf      []schema           `json:"oneOf"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	More       json.RawMessage    `json:"additionalProperties"`
	Items      *schema            `json:"items"`
	Encoding   string             `json:"contentEncoding"`
	Format     string             `json:"format"`
	Pattern    string             `json:"pattern"`
	Minimum    *float64           `json:"minimum"`
	Maximum    *float64           `json:"maximum"`
	MinLength  *float64           `json:"minLength"`
	MaxLength  *float64           `json:"maxLength"`
	MinItems   *float64           `json:"minItems"`
	MaxItems   *float64           `json:"maxItems"`
	MinProps   *float64           `json:"minProperties"`
	MaxProps   *float64           `json:"maxProperties"`
	Ref        string             `json:"$ref"`
	Defs       map[string]*schema `json:"$defs"`
}

// fitting is JSON that fits a schema.
func (r *random) fitting(text json.RawMessage) string {
	var s schema
	if json.Unmarshal(text, &s) != nil {
		return "null"
	}
	b, err := json.Marshal(r.fit(&s, &refs{defs: s.Defs}, 0))
	if err != nil {
		return "null"
	}
	return string(b)
}

// refs are the schemas below $defs.
type refs struct {
	defs   map[string]*schema
	within []string // those that are being followed
}

// fit is a value that fits s. What refers to itself is any value.
func (r *random) fit(s *schema, d *refs, depth int) any {
	switch {
	case s == nil:
		return r.text()
	case s.Ref != "":
		to := d.defs[strings.TrimPrefix(s.Ref, "#/$defs/")]
		if to == nil || slices.Contains(d.within, s.Ref) {
			return r.value(depth)
		}
		d.within = append(d.within, s.Ref)
		defer func() { d.within = d.within[:len(d.within)-1] }()
		return r.fit(to, d, depth)
	case len(s.Enum) > 0:
		return s.Enum[r.n(len(s.Enum))]
	case len(s.OneOf) > 0:
		return r.fit(&s.OneOf[r.n(len(s.OneOf))], d, depth+1)
	case len(s.AnyOf) > 0:
		return r.fit(&s.AnyOf[r.n(len(s.AnyOf))], d, depth+1)
	}
	switch s.Type {
	case "null":
		return nil
	case "boolean":
		return r.one(2)
	case "integer":
		return r.within(r.int(), bounds{s.Minimum, s.Maximum})
	case "number":
		return r.inBounds(bounds{s.Minimum, s.Maximum})
	case "array":
		n := 0
		if depth < deepest {
			n = r.length(r.n(4), bounds{s.MinItems, s.MaxItems})
		}
		list := make([]any, n)
		for i := range list {
			list[i] = r.fit(s.Items, d, depth+1)
		}
		return list
	case "object":
		return r.object(s, d, depth)
	case "":
		return r.value(depth)
	}
	switch {
	case s.Encoding == "base64":
		return []byte(r.text())
	case s.Format == "date-time":
		return time.Unix(int64(r.n(1<<31-1)), 0).UTC()
	case s.Pattern != "":
		return r.matching(s.Pattern)
	}
	return r.sized(r.text(), bounds{s.MinLength, s.MaxLength})
}

func (r *random) object(s *schema, d *refs, depth int) any {
	m := map[string]any{}
	required := map[string]bool{}
	for _, name := range s.Required {
		required[name] = true
	}
	for _, name := range sorted(s.Properties) {
		if required[name] || depth < deepest && r.one(2) {
			m[name] = r.fit(s.Properties[name], d, depth+1)
		}
	}
	var more *schema
	if s.Properties == nil && json.Unmarshal(s.More, &more) == nil && depth < deepest {
		for i := range r.length(r.n(4), bounds{s.MinProps, s.MaxProps}) {
			m["key"+strconv.Itoa(i)] = r.fit(more, d, depth+1)
		}
	}
	return m
}
