package sirenspec

import (
	"encoding/json"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
)

// A Template is text with placeholders.
type Template []Part

// A Part is literal text or a placeholder.
type Part struct {
	text     string // literal; of a placeholder what stands in it
	kind     kind
	root     string
	value    dynamic.Field
	missing  string // the key that is not there
	fallback string
	filtered bool // there is a filter
	own      bool // the value is made of texts of the file, so that marks in it are none that data has forged
}

type kind uint8

const (
	literal kind = iota
	reference
	orDefault     // | default
	jsonOrDefault // | json_or_default
	variable      // of the environment
)

// Lit is literal text.
func Lit(text string) Part { return Part{text: text} }

// Ref is the placeholder expr: the value below a path of a field, which root is the namespace of.
func Ref(expr, root string, f dynamic.Field, path ...string) Part {
	p := Part{text: expr, kind: reference, root: root, value: f}
	if !f.Present() {
		name, rest, _ := strings.Cut(expr, ".")
		if root == "inputs" {
			name, _, _ = strings.Cut(rest, ".")
		}
		p.missing = strings.TrimSpace(name)
		return p
	}
	for _, key := range path {
		if p.value = p.value.At(key); !p.value.Present() {
			p.missing = key
			return p
		}
	}
	return p
}

// Given is Ref for what a factory or a workflow node binds to its inputs.
func Given(expr string, f dynamic.Field, path ...string) Part {
	p := Ref(expr, "inputs", f, path...)
	p.own = true
	return p
}

// Or is the placeholder with a text for a value that is missing or empty.
func (p Part) Or(fallback string) Part {
	p.kind, p.fallback, p.filtered = orDefault, fallback, true
	return p
}

// OrJSON is the placeholder with a text for a value that is missing, empty or no JSON.
func (p Part) OrJSON(fallback string) Part {
	p.kind, p.fallback, p.filtered = jsonOrDefault, fallback, true
	return p
}

// Env is a variable of the environment, which tools read when they run, so that it is not recorded.
func Env(name string) Part { return Part{text: name, kind: variable} }

// EnvOr is Env with a text for a variable that is not set or empty.
func EnvOr(name, fallback string) Part {
	return Part{text: name, kind: variable, fallback: fallback, filtered: true}
}

// resolved is what a part comes to.
func (p Part) resolved() (string, error) {
	if p.kind == literal {
		return p.text, nil
	}
	if !p.value.Present() {
		if p.kind != reference {
			return p.fallback, nil
		}
		if p.root == "item" || p.root == "index" || p.root == "total" {
			return "", interpolation(p.text, p.root, "Not inside a factory loop context")
		}
		return "", interpolation(p.text, p.root, "Key '"+p.missing+"' not found")
	}
	text := Text(p.value.Value())
	if !p.own {
		text = strings.ReplaceAll(text, mark, markPlain)
	}
	if p.kind != reference && text == "" || p.kind == jsonOrDefault && !json.Valid([]byte(text)) {
		return p.fallback, nil
	}
	return text, nil
}

// text is the whole text, with marks for variables of the environment.
func (t Template) text() (string, error) {
	var b strings.Builder
	for _, p := range t {
		if p.kind == variable {
			b.WriteString(p.marked())
			continue
		}
		s, err := p.resolved()
		if err != nil {
			return "", err
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// A Segment is a part of a text that a tool is called with: text, or a variable of the environment that the tool puts in.
type Segment struct {
	Text string `json:"text,omitempty"`
	Env  string `json:"env,omitempty"`
	Or   string `json:"or,omitempty"` // with Maybe: in place of a variable that is not set or empty

	Maybe bool `json:"maybe,omitempty"`
}

func (t Template) segments() ([]Segment, error) {
	text, err := t.text()
	if err != nil {
		return nil, err
	}
	var out []Segment
	for {
		before, rest, ok := strings.Cut(text, mark)
		if before != "" || len(t) == 1 && !ok && len(out) == 0 {
			out = append(out, Segment{Text: before})
		}
		if !ok {
			return out, nil
		}
		name, after, _ := strings.Cut(rest, markEnd)
		s := Segment{}
		s.Env, s.Or, s.Maybe = strings.Cut(name, markOr)
		out, text = append(out, s), after
	}
}
