package openexpertise

import (
	"regexp"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
)

// A module is what the text of a JavaScript module says about the tool that it exports: which parts of its argument it can
// look at, and what it hands back. It is read as text, and for the worst: what cannot be read is everything.
type module struct {
	text  string
	whole bool     // it can see its argument as a whole
	names []string // else what it looks at
	takes []string // of those, what it takes out of its argument without a default
	body  string   // what comes after its parameters
	rest  bool     // and what is left of it

	world string // what it looks at besides its argument; empty: nothing
}

var (
	defaultExport = lazyregexp.New(`export\s*\{[^}]*?([A-Za-z_$][\w$]*) as default\b`)
	jsName        = lazyregexp.New(`[A-Za-z_$][\w$]*`)
	jsPattern     = lazyregexp.New(`(?s)\{([^{}]*)\}\s*=\s*$`)
	worlds        = []struct {
		form *regexp.Regexp
		what string
	}{
		{regexp.MustCompile(`\bprocess\b[^;]*\benv\b|\benv\b[^;]*\bprocess\b`), "the environment"},
		{regexp.MustCompile(`\bimport\.meta\b|\b__dirname\b|\b__filename\b`), "its own place"},
	}
)

// readModule reads a bundle.
func readModule(text string) *module {
	m := &module{text: text}
	for _, w := range worlds {
		if w.form.MatchString(text) {
			m.world = w.what
		}
	}
	params, ok := parameters(text)
	_, m.body, _ = strings.Cut(text, params)
	m.body, _, _ = strings.Cut(m.body, "\nexport {")
	switch {
	case !ok:
		m.whole = true
	case params == "":
		m.whole = strings.Contains(text, "arguments")
	case jsName.FindString(params) == params:
		m.named(params)
	case strings.HasPrefix(params, "{") && strings.HasSuffix(params, "}") && strings.Count(params, "{") == 1:
		m.pattern(params[1 : len(params)-1])
		for part := range strings.SplitSeq(params[1:len(params)-1], ",") {
			if name := jsName.FindString(part); name != "" && !strings.Contains(part, "=") && !strings.Contains(part, "...") {
				m.takes = append(m.takes, name)
			}
		}
	default:
		m.whole = true
	}
	for _, name := range []string{"_state", "_edge_inputs"} { // which the engine always adds
		m.whole = m.whole || m.rest && !slices.Contains(m.names, name)
	}
	return m
}

// parameters is the text between the parentheses of the function that is the default export.
func parameters(text string) (string, bool) {
	found := defaultExport.FindStringSubmatch(text)
	if found == nil {
		return "", false
	}
	name := regexp.QuoteMeta(found[1])
	at := regexp.MustCompile(`(?:function\s+` + name + `|(?:var|let|const)\s+` + name + `\s*=\s*(?:async\s+)?(?:function\s*[\w$]*)?)\s*\(`).FindStringIndex(text)
	if at == nil {
		return "", false
	}
	depth := 1
	for i := at[1]; i < len(text); i++ {
		switch text[i] {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			if depth--; depth == 0 {
				return strings.TrimSpace(text[at[1]:i]), true
			}
		case '"', '\'', '`', '/':
			return "", false
		}
	}
	return "", false
}

// named finds the fields that are read of a parameter: it is followed by one wherever it stands, or taken apart.
func (m *module) named(param string) {
	word := regexp.MustCompile(`[\w$]*` + regexp.QuoteMeta(param) + `[\w$]*`)
	for _, at := range word.FindAllStringIndex(m.text, -1) {
		before, after := m.text[:at[0]], m.text[at[1]:]
		switch {
		case m.text[at[0]:at[1]] != param, strings.HasSuffix(before, ".") && !strings.HasSuffix(before, "..."):
		case strings.HasSuffix(strings.TrimRight(before, " \n"), "(") && strings.HasPrefix(strings.TrimLeft(after, " \n"), ")") && m.declares(before):
		case fieldAfter(after) != "":
			m.add(fieldAfter(after))
		case jsPattern.MatchString(before):
			m.pattern(jsPattern.FindStringSubmatch(before)[1])
		default:
			m.whole = true
		}
	}
}

var declaration = lazyregexp.New(`(?:function\s*[\w$]*|=|async)\s*\(\s*$`)

// declares reports whether what is before a name and its parenthesis begins a function.
func (m *module) declares(before string) bool { return declaration.MatchString(before) }

var afterDot = lazyregexp.New(`^\s*(?:\?\.|\.)\s*([A-Za-z_$][\w$]*)`)

// fieldAfter is the field that is read of what is before a text.
func fieldAfter(after string) string {
	if f := afterDot.FindStringSubmatch(after); f != nil {
		return f[1]
	}
	return ""
}

// pattern reads what is taken out of an object.
func (m *module) pattern(inside string) {
	for _, part := range strings.Split(inside, ",") {
		part = strings.TrimSpace(part)
		switch name := jsName.FindString(part); {
		case part == "":
		case strings.HasPrefix(part, "...") && part[3:] == jsName.FindString(part):
			m.rest = true
		case name == "" || !strings.HasPrefix(part, name):
			m.whole = true // a name that is computed
		default:
			m.add(name)
		}
	}
}

func (m *module) add(name string) {
	if !slices.Contains(m.names, name) {
		m.names = append(m.names, name)
	}
}

// reads reports whether the module can see a field of its argument.
func (m *module) reads(name string) bool { return m.whole || slices.Contains(m.names, name) }

// A part is how a module looks into a field of its argument.
type part struct {
	whole  bool
	fields []string
	exact  map[string]bool // fields of which null and undefined may not be one
}

// guards reports whether the module asks first, wherever it looks at what it takes by a name, whether there is a value, or hands it on
// to nobody.
func (m *module) guards(name string, handsOn bool) bool {
	word := regexp.MustCompile(`[\w$]*` + regexp.QuoteMeta(name) + `[\w$]*`)
	for _, at := range word.FindAllStringIndex(m.body, -1) {
		if m.body[at[0]:at[1]] == name && !asked.MatchString(m.body[at[1]:]) && !strings.HasSuffix(m.body[:at[0]], "?? ") &&
			(handsOn || !strings.HasSuffix(m.body[:at[0]], "edge_output: ")) {
			return false
		}
	}
	return true
}

var (
	asked   = lazyregexp.New(`^\s*(\?\?|\|\||&&|\?)`)
	typeOf  = lazyregexp.New(`\btypeof\s+$`)
	guarded = lazyregexp.New(`^\s*(\?\?|\|\||&&|\?\.)`)
)

// looks finds what a module reads of a field of its argument, such as _state.
func (m *module) looks(name string) part {
	p := part{whole: m.whole, exact: map[string]bool{}}
	word := regexp.MustCompile(`[\w$]*` + regexp.QuoteMeta(name) + `[\w$]*`)
	inPattern := regexp.MustCompile(`^\s*[,}]`)
	for _, at := range word.FindAllStringIndex(m.text, -1) {
		before, after := m.text[:at[0]], m.text[at[1]:]
		f := fieldAfter(after)
		switch {
		case m.text[at[0]:at[1]] != name:
		case f == "" && typeOf.MatchString(before):
		case f != "":
			if !slices.Contains(p.fields, f) {
				p.fields = append(p.fields, f)
			}
			if !guarded.MatchString(after[len(afterDot.FindString(after)):]) {
				p.exact[f] = true
			}
		case inPattern.MatchString(after) && regexp.MustCompile(`[{,]\s*$`).MatchString(before) && slices.Contains(m.names, name):
		default:
			p.whole = true
		}
	}
	return p
}

var delta = lazyregexp.New(`\bstate_delta\b\s*:?\s*`)

// writes are the state fields that the module writes as far as that can be read: the keys of what it calls state_delta.
// known is false where it is not a list of keys.
func (m *module) writes() (fields []string, known bool) {
	known = true
	for _, at := range delta.FindAllStringIndex(m.text, -1) {
		rest := m.text[at[1]:]
		if !strings.HasPrefix(rest, "{") {
			known = false
			continue
		}
		keys, ok := convert.ObjectKeys(rest)
		known = known && ok
		for _, k := range keys {
			if !slices.Contains(fields, k) {
				fields = append(fields, k)
			}
		}
	}
	return fields, known
}

// says reports whether a word stands anywhere in the module.
func (m *module) says(word string) bool { return strings.Contains(m.text, word) }
