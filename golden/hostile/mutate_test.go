package hostile

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// A branch is a node of a tree that can be changed and written again. Scalars keep the spelling of the file, those in
// several lines become quoted ones.
type branch struct {
	kind yamlnode.Kind
	text string    // of a scalar, on one line
	keys []string  // of a mapping, as they are written
	kids []*branch // values of a mapping, items of a sequence
}

// branchOf copies a tree. Aliases become what they stand for; more than limit nodes are too many.
func branchOf(n *yamlnode.Node, limit *int) *branch {
	if *limit--; n == nil || *limit < 0 {
		return &branch{text: "null"}
	}
	b := &branch{kind: n.Kind, text: written(n)}
	for _, e := range n.Entries {
		b.keys, b.kids = append(b.keys, written(e.Key)), append(b.kids, branchOf(e.Value, limit))
	}
	for _, x := range n.Items {
		b.kids = append(b.kids, branchOf(x, limit))
	}
	return b
}

func written(n *yamlnode.Node) string {
	switch text := n.Span.Text(); {
	case n.Kind == yamlnode.Null:
		return "null"
	case n.Kind != yamlnode.Scalar:
		return ""
	case n.Style == yamlnode.Plain && !strings.ContainsAny(text, "\n,[]{}#"):
		return text
	default:
		return yamlnode.Quote(n.Text.Value)
	}
}

// render writes a tree in block style.
func (b *branch) render(out *strings.Builder, indent int) {
	pad := strings.Repeat("  ", indent)
	for i, kid := range b.kids {
		if b.kind == yamlnode.Mapping {
			out.WriteString(pad + b.keys[i] + ":")
		} else {
			out.WriteString(pad + "-")
		}
		switch {
		case len(kid.kids) > 0:
			out.WriteString("\n")
			kid.render(out, indent+1)
		case kid.kind == yamlnode.Mapping:
			out.WriteString(" {}\n")
		case kid.kind == yamlnode.Sequence:
			out.WriteString(" []\n")
		default:
			out.WriteString(" " + kid.text + "\n")
		}
	}
}

func (b *branch) String() string {
	var out strings.Builder
	b.render(&out, 0)
	return out.String()
}

func (b *branch) clone() *branch {
	c := &branch{kind: b.kind, text: b.text, keys: slices.Clone(b.keys)}
	for _, kid := range b.kids {
		c.kids = append(c.kids, kid.clone())
	}
	return c
}

// A spot is a place in a tree: kid at of in, and the key that leads to in.
type spot struct {
	in  *branch
	at  int
	key string
}

func (b *branch) spots(key string, out []spot) []spot {
	for i, kid := range b.kids {
		out = append(out, spot{b, i, key})
		under := key + "[]"
		if b.kind == yamlnode.Mapping {
			under = b.keys[i]
		}
		out = kid.spots(under, out)
	}
	return out
}

// An entry is a key and its value, or an item, somewhere in the corpus.
type entry struct {
	key   string
	value *branch
}

// A breeder makes files out of others that somebody wrote: what a person, a model or an attacker would write next.
type breeder struct {
	entries map[string][]entry   // by language and the key above
	values  map[string][]*branch // by language and key
	often   map[string]int       // files that have a word
}

func newBreeder(projects []*project) *breeder {
	m := &breeder{entries: map[string][]entry{}, values: map[string][]*branch{}, often: map[string]int{}}
	for _, p := range projects {
		for _, name := range p.sources() {
			tree := treeOf(name, p.files[name])
			if tree == nil {
				continue
			}
			for _, s := range tree.spots("", nil) {
				e := entry{value: s.in.kids[s.at]}
				if s.in.kind == yamlnode.Mapping {
					e.key = s.in.keys[s.at]
					m.values[p.language+" "+e.key] = append(m.values[p.language+" "+e.key], e.value)
				}
				m.entries[p.language+" "+s.key] = append(m.entries[p.language+" "+s.key], e)
			}
			seen := map[string]bool{}
			for _, w := range word.FindAllString(p.files[name], -1) {
				if !seen[w] {
					seen[w] = true
					m.often[w]++
				}
			}
		}
	}
	return m
}

// sources are the files of YAML that a project is compiled from, its root first.
func (p *project) sources() []string {
	out := []string{p.main}
	for _, name := range sortedKeys(p.files) {
		if name != p.main && strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".test.yaml") {
			out = append(out, name)
		}
	}
	return out
}

func treeOf(name, text string) *branch {
	root, problems := yamlnode.Parse(source.NewFile(name, text))
	if root == nil || len(problems) > 0 {
		return nil
	}
	limit := 20_000
	return branchOf(root, &limit)
}

var (
	word  = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	digit = regexp.MustCompile(`[0-9]+`)
)

// constants are values that somebody writes in the wrong place, or for want of a better one.
var constants = []string{`""`, "null", "{}", "[]", "0", "-1", "1", "2", "1.5", "1e400", "9223372036854775808", "true", "no", "x", "a.b", "$x", `"{{ x }}"`, `"{x}"`, `" "`, "~", "[null]", "{a: 1}", "{a: {}}", "[[]]", `"\n"`, `"a\0b"`, "int", "string", "list", "any", "START", "END", "output", "input", "state"}

// goWords are names that mean something in Go, or in the Go that flowgen writes.
var goWords = strings.Fields(`type func range map go select var chan interface struct package import return default len string any nil true error append copy max min new make int iota float64 bool byte
	runtime context strings slices time json llm agent fmt embed dynamic schema errors regexp strconv math http sandbox exectool pytool
	in out err run w state item items i n v next node back done ok x rt args ctx result value key other text data list found index prompt answer end body input output
	Info New Workflow Input Output Run Body State String Error Node main init _ a b é init_ Err Ran Failures`)

// suffixes make of a name one that flowgen may make itself.
var suffixes = []string{"Err", "Ran", "Failures", "Node", "_node", "_err", "_ran", "_failures", "_back", "_2", "_", "2", "_chosen", "_out", "_in", "_item", "Input", "Output", "Flow", "_tool", "Tool", "_prompt", "_result", "_done", "_state", "_text"}

func one[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// breed changes a text once or some times, in its tree or in its letters.
func (m *breeder) breed(r *rand.Rand, language, name, text string) string {
	times := 1
	for times < 5 && r.IntN(3) == 0 {
		times++
	}
	for range times {
		switch r.IntN(6) {
		case 0:
			text = m.letters(r, text)
		case 1, 2:
			text = m.renamed(r, text)
		default:
			tree := treeOf(name, text)
			if tree == nil || len(tree.kids) == 0 {
				return text
			}
			m.graft(r, language, tree)
			text = tree.String()
		}
	}
	return text
}

// renamed gives something another name wherever that is written.
func (m *breeder) renamed(r *rand.Rand, text string) string {
	all := word.FindAllString(text, -1)
	if len(all) == 0 {
		return text
	}
	old := one(r, all)
	for range 20 {
		if m.often[old] <= 40 {
			break
		}
		old = one(r, all)
	}
	fresh := one(r, goWords)
	switch r.IntN(6) {
	case 0:
		fresh = one(r, all) + one(r, suffixes)
	case 1:
		fresh = one(r, all) + "_" + one(r, all)
	case 2:
		fresh = strings.ToUpper(old[:1]) + old[1:]
	case 3:
		fresh = one(r, all)
	}
	return word.ReplaceAllStringFunc(text, func(w string) string {
		if w == old {
			return fresh
		}
		return w
	})
}

// letters changes a text without looking at what it is.
func (m *breeder) letters(r *rand.Rand, text string) string {
	lines := strings.SplitAfter(text, "\n")
	at := r.IntN(len(lines))
	switch r.IntN(8) {
	case 0:
		lines = slices.Delete(lines, at, at+1)
	case 1:
		lines = slices.Insert(lines, at, lines[at])
	case 2:
		other := r.IntN(len(lines))
		lines[at], lines[other] = lines[other], lines[at]
	case 3:
		lines[at] = " " + lines[at]
	case 4:
		lines[at] = digit.ReplaceAllStringFunc(lines[at], func(string) string { return one(r, []string{"0", "1", "2", "3", "7", "1000000", "00", "0x1"}) })
	case 5:
		found := word.FindAllStringIndex(text, -1)
		if len(found) == 0 {
			break
		}
		w := one(r, found)
		return text[:w[0]] + one(r, append(goWords, word.FindAllString(text, -1)...)) + text[w[1]:]
	default:
		i := r.IntN(len(text) + 1)
		j := min(len(text), i+r.IntN(3))
		return text[:i] + one(r, []string{"", "", " ", ":", "-", ",", "?", "'", `"`, "{", "}", "[", "]", "#", "$", "!", ".", "|", "&", "*", "\\", "0", "a", "_", "\t", "{{ ", " }}"}) + text[j:]
	}
	return strings.Join(lines, "")
}

// graft changes a tree once.
func (m *breeder) graft(r *rand.Rand, language string, tree *branch) {
	spots := tree.spots("", nil)
	s := one(r, spots)
	key := ""
	if s.in.kind == yamlnode.Mapping {
		key = s.in.keys[s.at]
	}
	switch r.IntN(10) {
	case 0:
		s.in.remove(s.at)
	case 1:
		s.in.kids[s.at] = &branch{text: one(r, constants)}
	case 2: // what stands behind the same key elsewhere
		if other := m.values[language+" "+key]; key != "" && len(other) > 0 {
			s.in.kids[s.at] = one(r, other).clone()
		}
	case 3, 4, 5: // one more entry, or another item
		if other := m.entries[language+" "+s.key]; len(other) > 0 {
			e := one(r, other)
			s.in.add(e.key, e.value.clone())
		}
	case 6: // another value of this file
		other := one(r, spots)
		s.in.kids[s.at] = other.in.kids[other.at].clone()
	case 7: // another key, as another entry of the same kind has it
		if other := m.entries[language+" "+s.key]; key != "" && len(other) > 0 {
			if e := one(r, other); e.key != "" && !slices.Contains(s.in.keys, e.key) {
				s.in.keys[s.at] = e.key
			}
		}
	case 8: // the same twice, under another name
		if key != "" {
			s.in.add(strings.Trim(key, `"'`)+one(r, suffixes), s.in.kids[s.at].clone())
		} else {
			s.in.add("", s.in.kids[s.at].clone())
		}
	default: // another order
		other := r.IntN(len(s.in.kids))
		s.in.kids[s.at], s.in.kids[other] = s.in.kids[other], s.in.kids[s.at]
		if key != "" && r.IntN(2) == 0 {
			s.in.keys[s.at], s.in.keys[other] = s.in.keys[other], s.in.keys[s.at]
		}
	}
}

func (b *branch) remove(at int) {
	b.kids = slices.Delete(b.kids, at, at+1)
	if b.kind == yamlnode.Mapping {
		b.keys = slices.Delete(b.keys, at, at+1)
	}
}

// add puts an entry or an item at the end; of a key that is there already it changes the value.
func (b *branch) add(key string, value *branch) {
	if b.kind == yamlnode.Mapping {
		if key == "" {
			return
		}
		if at := slices.Index(b.keys, key); at >= 0 {
			b.kids[at] = value
			return
		}
		b.keys = append(b.keys, key)
	}
	b.kids = append(b.kids, value)
}
