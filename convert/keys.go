package convert

import (
	"regexp"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
)

// ObjectKeys are the keys of the object literal at the beginning of a text.
func ObjectKeys(text string) (keys []string, ok bool) {
	keys, _, ok = ObjectLiteral(text)
	return keys, ok
}

// ObjectLiteral are the keys of the object literal at the beginning of a text, and what follows it.
func ObjectLiteral(text string) (keys []string, rest string, ok bool) {
	depth, start, key := 0, true, regexp.MustCompile(`^\s*(?:([A-Za-z_$][\w$]*)|"([^"\\]*)")\s*[:,}]`)
	ok = true
	for i := 0; i < len(text); i++ {
		if depth == 1 && start {
			start = false
			rest := text[i:]
			switch found := key.FindStringSubmatch(rest); {
			case found != nil:
				keys = append(keys, found[1]+found[2])
			case strings.HasPrefix(strings.TrimSpace(rest), "}"):
			default:
				ok = false
			}
		}
		switch text[i] {
		case '{', '[', '(':
			if depth++; depth == 1 {
				start = true
			}
		case '}', ']', ')':
			if depth--; depth == 0 {
				return keys, text[i+1:], ok
			}
		case ',':
			start = depth == 1
		case '"', '\'', '`':
			end := closing(text, i)
			if end < 0 {
				return keys, "", false
			}
			i = end
		}
	}
	return keys, "", false
}

// closing is where the text that begins at a quote ends; -1 when it does not.
func closing(text string, at int) int {
	for i := at + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == text[at]:
			return i
		}
	}
	return -1
}

// pyWorld finds code of Python that looks at the environment or at its own file.
var pyWorld = lazyregexp.New(`\bos\.environ\b|\bgetenv\b|\b__file__\b|\benviron\b`)

// LooksAround is the first file of a function of Python that looks at the environment or at its own place; empty: none does.
func LooksAround(t *ir.Tool) string {
	for _, f := range t.Def.Files {
		if pyWorld.MatchString(f.Text) {
			return f.Name
		}
	}
	return ""
}

// PythonWorld refuses such a function.
func (c *Converter) PythonWorld(t *ir.Tool) {
	if name := LooksAround(t); name != "" {
		c.Refuse(t.Span, "pass it as an argument, or as a secret", "the module %s looks at the environment or its own place, which a tool of the native language does not see", name)
	}
}

// Keywords reports whether the function of a tool takes arguments of any name.
func Keywords(t *ir.Tool) bool {
	b, python := t.Binding.(*ir.PythonTool)
	if !python || t.Def == nil {
		return false
	}
	_, name, _ := strings.Cut(b.Ref.Name, ":")
	head := regexp.MustCompile(`(?ms)^(?:async[ \t]+)?def[ \t]+` + regexp.QuoteMeta(name) + `[ \t]*\((.*?)\)[^\n]*:[ \t]*(?:#[^\n]*)?$`)
	return slices.ContainsFunc(t.Def.Files, func(f ir.SourceFile) bool {
		m := head.FindStringSubmatch(f.Text)
		return m != nil && strings.Contains(m[1], "**")
	})
}
