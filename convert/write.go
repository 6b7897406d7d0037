package convert

import "strings"

// write is a document as YAML. What it looks like in detail is decided by the formatter, which comes after it.
func write(header []string, doc *mapping, foot []string) string {
	w := &writer{}
	for _, c := range header {
		w.line(c)
	}
	if len(header) > 0 {
		w.line("")
	}
	w.entries(doc.entries, "")
	for _, c := range foot {
		w.line(c)
	}
	return w.b.String()
}

type writer struct{ b strings.Builder }

func (w *writer) line(s string) { w.b.WriteString(s + "\n") }

func comment(s string) string {
	if s == "" {
		return ""
	}
	return "  " + s
}

// entries writes the entries of a block.
func (w *writer) entries(list []*entry, indent string) {
	for _, e := range list {
		for _, c := range e.lead {
			w.line(indent + c)
		}
		w.value(indent+e.key+":", e, indent+"  ")
	}
}

// items writes the elements of a block.
func (w *writer) items(list []*entry, indent string) {
	for _, e := range list {
		for _, c := range e.lead {
			w.line(indent + c)
		}
		w.value(indent+"-", e, indent+"  ")
	}
}

// value writes a value after what stands before it on its line.
func (w *writer) value(start string, e *entry, indent string) {
	if text, ok := inline(e.value); ok {
		w.line(start + " " + text + comment(e.line))
		return
	}
	switch v := e.value.(type) {
	case block:
		w.block(start, string(v), e.line, indent)
	case *mapping:
		w.line(start + comment(e.line))
		w.entries(v.entries, indent)
	case *list:
		w.line(start + comment(e.line))
		w.items(v.items, indent)
	}
}

// block writes a literal scalar.
func (w *writer) block(start, text, line, indent string) {
	head := "|"
	if body := strings.TrimRight(text, "\n"); len(text)-len(body) == 0 {
		head += "-"
	} else if len(text)-len(body) > 1 {
		head += "+"
	}
	w.line(start + " " + head + comment(line))
	for _, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if l != "" {
			l = indent + l
		}
		w.line(l)
	}
}

// inline is a value on one line, if it can stand there.
func inline(v value) (string, bool) {
	if !v.simple() {
		switch v := v.(type) {
		case *mapping:
			return "{}", len(v.entries) == 0
		case *list:
			return "[]", len(v.items) == 0
		}
		return "", false
	}
	var parts []string
	switch v := v.(type) {
	case scalar:
		return string(v), true
	case *mapping:
		for _, e := range v.entries {
			text, _ := inline(e.value)
			parts = append(parts, e.key+": "+text)
		}
		return "{" + strings.Join(parts, ", ") + "}", true
	case *list:
		for _, e := range v.items {
			text, _ := inline(e.value)
			parts = append(parts, text)
		}
		return "[" + strings.Join(parts, ", ") + "]", true
	}
	return "", false
}
