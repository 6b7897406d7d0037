package native

import (
	"slices"
	"strings"
	"sync"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// A Shape is one mapping of the language: its keys, and the wrong keys people write instead. Shapes are data: the
// parser reads mappings through them, and a JSON Schema can be written from them.
type Shape struct {
	Name string // unique: "node", "node.map", "tool.command"
	What string // how messages call it: "a node", "a workflow file"
	Doc  string // one line
	Keys []Key

	// Instead explains keys that do not exist but that people coming from elsewhere write; Hint what else an unknown
	// key may be about.
	Instead map[string]string
	Hint    string

	// Renamed are keys of earlier versions that have another name now, Removed those that are gone, with what to write.
	Renamed, Removed map[string]string
}

// A Key is one key of a mapping.
type Key struct {
	Name     string
	Value    Form
	Required bool
	Doc      string // one line
}

// A Form says what may stand as a value. The zero Form is anything.
type Form struct {
	Kind  FormKind
	Words []string // FormWord: the words allowed
	Shape string   // FormShape: the name of the shape
	Elem  *Form    // FormList, FormMap: the elements
	Any   []Form   // FormOneOf: the alternatives
}

// FormKind is the kind of a value.
type FormKind uint8

// The kinds of values. The comments say how they are written.
const (
	FormAny      FormKind = iota // whatever YAML can hold
	FormText                     // literal text
	FormTemplate                 // text with {{ }}
	FormExpr                     // an expression, `$` optional
	FormValue                    // a literal, an expression, a template, or a list or mapping of these
	FormConst                    // a value without expressions
	FormID                       // a name made of a-z 0-9 _
	FormRef                      // the name of something declared elsewhere
	FormPath                     // a file, relative to the one that names it
	FormGo                       // import/path.Name
	FormType                     // a type
	FormField                    // a type, or {type, description, default, min, max, pattern}
	FormCount                    // an integer from 1
	FormNumber                   // a number
	FormDuration                 // 30s, 1h30m, 2d
	FormSize                     // 2MiB
	FormMoney                    // 0.50
	FormWord                     // one of Words
	FormShape                    // a mapping of Shape
	FormList                     // a list of Elem
	FormMap                      // a mapping from free names to Elem
	FormOneOf                    // one of Any
)

// nullable reports whether null is a value here.
func (f Form) nullable() bool {
	return f.Kind == FormAny || f.Kind == FormConst || f.Kind == FormValue || slices.Contains(f.Words, "null")
}

func (s *Shape) key(name string) *Key {
	for i := range s.Keys {
		if s.Keys[i].Name == name {
			return &s.Keys[i]
		}
	}
	return nil
}

func (s *Shape) names() []string {
	out := make([]string, len(s.Keys))
	for i, k := range s.Keys {
		out[i] = k.Name
	}
	return out
}

// A mapping is a YAML mapping read through a shape: known keys only.
type mapping struct {
	node   *yamlnode.Node
	shape  *Shape
	values map[string]*yamlnode.Node
	keys   map[string]*yamlnode.Node
	astray bool // a key was reported that may have been meant for any other
}

// get is the value of a key; nil when it was not written, or is null where null says nothing.
func (m mapping) get(name string) *yamlnode.Node { return m.values[name] }

// has reports whether the key was written.
func (m mapping) has(name string) bool { return m.keys[name] != nil }

// mapping reads n as a mapping of shape s and reports unknown and missing keys. ok is false when n is not a mapping.
func (p *parser) mapping(n *yamlnode.Node, s *Shape) (m mapping, ok bool) {
	m = mapping{node: n, shape: s, values: map[string]*yamlnode.Node{}, keys: map[string]*yamlnode.Node{}}
	if n == nil || n.Kind != yamlnode.Mapping {
		help := ""
		if len(s.Keys) <= 8 {
			help = "its keys are " + list(quoted(s.names()), "and")
		}
		p.wrongShape(n, s.What+" is a mapping", help)
		return m, false
	}
	p.readKeys(&m, nil)
	p.missingKeys(m, "")
	return m, true
}

// missingKeys reports required keys that are not there, unless an unknown key may be one of them. The key except was
// looked for before.
func (p *parser) missingKeys(m mapping, except string) {
	for _, k := range m.shape.Keys {
		if k.Required && !m.astray && !m.has(k.Name) && k.Name != except {
			p.missingKey(m.node, m.shape, k.Name)
		}
	}
}

// readKeys files the entries of m under the keys of its shape. An unknown key that is nearly a known and unused one
// counts as that one, so that what follows from the misspelling is not reported too.
func (p *parser) readKeys(m *mapping, unknown func(key *yamlnode.Node) bool) {
	for _, e := range m.node.Entries {
		name, ok := p.keyName(e.Key)
		if !ok || p.isCut(e.Key) {
			continue
		}
		p.cutBy(e.Value)
		if m.shape.key(name) == nil {
			if unknown != nil && unknown(e.Key) {
				continue
			}
			if name = p.unknownKey(m, e.Key, name); name == "" {
				continue
			}
		}
		if m.keys[name] != nil {
			continue // a duplicate: reported with the YAML
		}
		m.keys[name] = e.Key
		switch {
		case e.Value == nil || isNull(e.Value) && !m.shape.key(name).Value.nullable() && oldWords["`"+name+"`"]["null"] == "":
			p.report(diag.MissingKey, e.Key.Span, "`"+name+"`: "+m.shape.key(name).Doc, "`%s` has no value", name)
		default:
			m.values[name] = e.Value
		}
	}
}

// unknownKey reports a key that the shape does not have and returns the one that was probably meant, or "".
func (p *parser) unknownKey(m *mapping, key *yamlnode.Node, name string) string {
	if now := m.shape.Renamed[name]; now != "" && m.node.Get(now) == nil {
		p.old(key.Span, name, now)
		return now
	}
	if help := m.shape.Removed[name]; help != "" {
		p.report(diag.OldSpelling, key.Span, help+"; "+migrates, "`%s` is gone", name)
		return ""
	}
	d := yamlnode.UnknownKey(key.Span, name, m.shape.What)
	if word, _, bracket := strings.Cut(name, "{"); bracket && slices.Contains(m.shape.names(), strings.TrimSpace(word)) {
		m.astray = true
		word = strings.TrimSpace(word)
		d.Message, d.Help = "a `:` is missing after `"+word+"`", "write `"+word+": {`"
		p.say(d)
		return ""
	}
	if help, ok := m.shape.Instead[name]; ok {
		m.astray = true
		p.wrongKey(key.Span, name, m.shape.What, help)
		return ""
	}
	near := p.nearest(name, m.shape.names())
	if near == "" || m.node.Get(near) != nil || len(name) > 60 {
		m.astray = true
		d.Help = "the keys of " + m.shape.What + " are " + list(quoted(m.shape.names()), "and")
		if len(m.shape.Keys) == 1 {
			d.Help = "the only key of " + m.shape.What + " is `" + m.shape.Keys[0].Name + "`"
		}
		if m.shape.Hint != "" {
			d.Help += "; " + m.shape.Hint
		}
		if at := homes()[name]; len(at) > 0 && len(at) <= maxHomes {
			p.wrongKey(key.Span, name, m.shape.What, "`"+name+"` belongs in "+list(at, "or")+"; "+d.Help)
			return ""
		}
		p.say(d)
		return ""
	}
	if e := m.node.Entry(name); !likely(name, near) || e != nil && !m.shape.key(near).Value.takes(e.Value) {
		m.astray = true
		d.Help = "`" + near + "` is the nearest key of " + m.shape.What
		p.say(d)
		return ""
	}
	d.Message, d.Help = "misspelled key `"+name+"` in "+m.shape.What, "replace with `"+near+"`"
	d.Fixes = []diag.Fix{diag.Replace(key.Span, near)}
	p.say(d)
	return near
}

// wrongKey reports a key that people write who think of something else: one that the language has in another place, or that other
// languages have.
func (p *parser) wrongKey(at source.Span, name, what, help string) {
	d := yamlnode.UnknownKey(at, name, what)
	d.Message, d.Help = "flowgen has no key `"+name+"`", help
	if homes()[name] != nil {
		d.Message = "misplaced key `" + name + "` in " + what
	}
	p.say(d)
}

// maxHomes is how many places of a key are worth naming: one that is at home in many is seldom meant for any of them.
const maxHomes = 3

// homes are the mappings that have a key, by key.
var homes = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for _, s := range slices.Concat(Shapes(), []*Shape{shapePromptFile}) {
		for _, k := range s.Keys {
			if !slices.Contains(out[k.Name], s.What) {
				out[k.Name] = append(out[k.Name], s.What)
			}
		}
	}
	return out
})

// likely reports whether there is no doubt which word was meant: two slips in a long one, or one in a short one, or capitals.
func likely(name, near string) bool {
	return len(near) >= 5 || strings.EqualFold(name, near) || diag.Close(name, near)
}

// takes reports whether a value has the shape that is asked for, a mapping, a list or a scalar. What it says is looked at later.
func (f Form) takes(n *yamlnode.Node) bool {
	if n == nil || n.Kind == yamlnode.Null {
		return true
	}
	switch f.Kind {
	case FormAny, FormValue, FormConst, FormType, FormField:
		return true
	case FormShape, FormMap:
		return n.Kind == yamlnode.Mapping
	case FormList:
		return n.Kind != yamlnode.Mapping
	case FormOneOf:
		return slices.ContainsFunc(f.Any, func(f Form) bool { return f.takes(n) })
	}
	return n.Kind == yamlnode.Scalar
}

func (p *parser) missingKey(n *yamlnode.Node, s *Shape, key string) {
	k := s.key(key)
	p.say(yamlnode.MissingKey(headSpan(n), s.What, key, k.Doc))
}

// keyName is the text of a key; keys that are not text are reported.
func (p *parser) keyName(key *yamlnode.Node) (string, bool) {
	if key == nil || key.Kind != yamlnode.Scalar && key.Kind != yamlnode.Null {
		p.wrongShape(key, "a key is a word", "")
		return "", false
	}
	if key.Kind == yamlnode.Null {
		return key.Span.Text(), true
	}
	return key.Text.Value, true
}

// quoted puts names between backticks.
func quoted(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = "`" + n + "`"
	}
	return out
}

// list joins words as people do: a, b and c.
func list(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " " + last + " " + words[n]
}

// sortedKeys returns the keys of m in order.
func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
