package doc

import "strings"

// Write is a document as YAML. What it looks like in detail is decided by the formatter, which comes after it.
func Write(header []string, doc *Mapping, foot []string) string {
	w := &writer{}
	for _, c := range header {
		w.line(c)
	}
	if len(header) > 0 {
		w.line("")
	}
	w.entries(doc.Entries, "")
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
func (w *writer) entries(list []*Entry, indent string) {
	for _, e := range list {
		for _, c := range e.Lead {
			w.line(indent + c)
		}
		w.value(indent+e.Key+":", e, indent+"  ")
	}
}

// items writes the elements of a block.
func (w *writer) items(list []*Entry, indent string) {
	for _, e := range list {
		for _, c := range e.Lead {
			w.line(indent + c)
		}
		w.value(indent+"-", e, indent+"  ")
	}
}

// value writes a value after what is before it on its line.
func (w *writer) value(start string, e *Entry, indent string) {
	if text, ok := inline(e.Value); ok {
		w.line(start + " " + text + comment(e.Line))
		return
	}
	switch v := e.Value.(type) {
	case block:
		w.block(start, string(v), e.Line, indent)
	case *Mapping:
		w.line(start + comment(e.Line))
		w.entries(v.Entries, indent)
	case *List:
		w.line(start + comment(e.Line))
		w.items(v.Items, indent)
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

// inline is a value on one line, if it can be there.
func inline(v Value) (string, bool) {
	if !v.simple() {
		switch v := v.(type) {
		case *Mapping:
			return "{}", len(v.Entries) == 0
		case *List:
			return "[]", len(v.Items) == 0
		}
		return "", false
	}
	var parts []string
	switch v := v.(type) {
	case Scalar:
		return string(v), true
	case *Mapping:
		for _, e := range v.Entries {
			text, _ := inline(e.Value)
			parts = append(parts, e.Key+": "+text)
		}
		return "{" + strings.Join(parts, ", ") + "}", true
	case *List:
		for _, e := range v.Items {
			text, _ := inline(e.Value)
			parts = append(parts, text)
		}
		return "[" + strings.Join(parts, ", ") + "]", true
	}
	return "", false
}
