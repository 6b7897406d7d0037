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
	text     string // literal; of a placeholder what is in it
	path     string // of a placeholder, the names from the first on
	value    dynamic.Field
	fallback string
	kind     kind
	filtered bool  // there is a filter
	own      bool  // the value is made of texts of the file, so that marks in it are none that data has forged
	lost     int32 // the name of the path that is not there, by its place
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

// Ref is the placeholder of a path like `review.output.verdict`: what is below the field that its first name stands for. Of
// `inputs.topic` that is the input.
func Ref(path string, f dynamic.Field) Part {
	p := Part{text: path, path: path, kind: reference, value: f}
	root, below, more := strings.Cut(path, ".")
	if strings.TrimSpace(root) == "inputs" {
		p.lost++
		_, below, more = strings.Cut(below, ".")
	}
	for key := ""; more && p.value.Present(); {
		p.lost++
		key, below, more = strings.Cut(below, ".")
		p.value = p.value.At(strings.TrimSpace(key))
	}
	return p
}

// name is one of the path, by its place; empty where the path is over.
func (p Part) name(at int32) string {
	if names := strings.Split(p.path, "."); int(at) < len(names) {
		return strings.TrimSpace(names[at])
	}
	return ""
}

// Given is Ref for what a workflow node binds to the inputs of its workflow.
func Given(path string, f dynamic.Field) Part {
	p := Ref(path, f)
	p.own = true
	return p
}

// Given is Ref for what a factory binds to the inputs of an instance.
func (i Instance) Given(path string) Part {
	_, name, _ := strings.Cut(path, ".")
	name, _, _ = strings.Cut(name, ".")
	return Given(path, i.Inputs.At(strings.TrimSpace(name)))
}

// As is the placeholder as messages show it, where it is written in another way than its path.
func (p Part) As(written string) Part {
	p.text = written
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

// Env is an environment variable, which tools read when they run, so that it is not recorded.
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
		root := p.name(0)
		if root == "item" || root == "index" || root == "total" {
			return "", interpolation(p.text, root, "Not inside a factory loop context")
		}
		return "", interpolation(p.text, root, "Key '"+p.name(p.lost)+"' not found")
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

// text is the entire text, with marks for environment variables.
func (t Template) text() (string, error) {
	if len(t) == 1 && t[0].kind != variable {
		return t[0].resolved()
	}
	var b strings.Builder
	for i := range t {
		p := &t[i]
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

// A Segment is a part of a text that a tool is called with: text, or an environment variable that the tool puts in.
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
