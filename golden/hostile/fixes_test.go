package hostile

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// asJSON writes a file of YAML as JSON; ok is false when it has something that JSON has not.
func asJSON(name, text string) (out string, ok bool) {
	root, problems := yamlnode.Parse(source.NewFile(name, text))
	if root == nil || len(problems) > 0 {
		return "", false
	}
	var b strings.Builder
	var write func(n *yamlnode.Node)
	write = func(n *yamlnode.Node) {
		switch n.Kind {
		case yamlnode.Mapping:
			b.WriteString("{")
			for i, e := range n.Entries {
				if i > 0 {
					b.WriteString(",")
				}
				b.WriteString("\n" + jsonText(e.Key.Text.Value) + ": ")
				write(e.Value)
			}
			b.WriteString("}")
		case yamlnode.Sequence:
			b.WriteString("[")
			for i, x := range n.Items {
				if i > 0 {
					b.WriteString(", ")
				}
				write(x)
			}
			b.WriteString("]")
		case yamlnode.Null:
			b.WriteString("null")
		default:
			if plain := n.Text.Value; n.Style == yamlnode.Plain && n.Tag != "!!str" && json.Valid([]byte(plain)) {
				b.WriteString(plain)
			} else {
				b.WriteString(jsonText(n.Text.Value))
			}
		}
	}
	write(root)
	return b.String() + "\n", json.Valid([]byte(b.String()))
}

func jsonText(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // text always has JSON
	return strings.TrimSuffix(b.String(), "\n")
}

// inJSON is the project with its workflows written as JSON.
func (p *project) inJSON() (*project, bool) {
	files := maps.Clone(p.files)
	for _, name := range p.sources() {
		if text, ok := asJSON(name, files[name]); ok {
			files[name] = text
		} else if name == p.main {
			return nil, false
		}
	}
	return &project{name: p.name, main: p.main, files: files, dir: p.dir, inside: p.inside, overlay: p.overlay, language: p.language, compat: p.compat, path: p.path, cache: p.cache}, true
}

// mistakes counts messages by what they say.
func mistakes(list []diag.Diagnostic) map[string]int {
	out := map[string]int{}
	for _, d := range list {
		if d.Severity != diag.Note {
			out[string(d.Code)+" "+d.Message]++
		}
	}
	return out
}

// saidAt reports whether a list has the message of d where d has it.
func saidAt(list []diag.Diagnostic, d diag.Diagnostic) bool {
	return slices.ContainsFunc(list, func(o diag.Diagnostic) bool {
		return o.Code == d.Code && o.Message == d.Message && !o.Span.IsZero() && !d.Span.IsZero() && o.Span.Lo == d.Span.Lo && o.Span.File.Name == d.Span.File.Name
	})
}

// hidden are the second mistakes that goldens have at the place of a first one, which keeps the compiler from looking further:
// they come up when it is fixed.
var hidden = map[string][]string{
	"go_references":           {`needs inputs`},
	"llm_wrong":               {`needs a key`, `string is needed here`},
	"position_block":          {`has no text form`},
	"switch_cases":            {`has no case`},
	"wasm_wrong":              {`is unknown`},
	"words":                   {`may be done up to 2 times`},
	"sirenspec/shapes_wrong":  {`not an http or https URL`, "needs the key `config`", "needs the key `tool`"},
	"stargraph/wrong_page":    {"needs the key `tool`"},
	"yamlgraph/wrong_prompts": {"`temperature` is a number"},
	"yamlgraph/wrong_tools":   {"needs the variable `"},
}

func hides(p *project, message string) bool {
	return slices.ContainsFunc(hidden[p.name], func(s string) bool { return strings.Contains(message, s) })
}

// judgeFixes applies each fix of a project by itself, up to most of them (all when that is negative): its file stays readable
// in its format, the message is gone, and there is no other one. In a mutant, which has more than one mistake, another one
// may come up.
func judgeFixes(p *project, files memory, list []diag.Diagnostic, most int) (tried, revealed int, wrong []string) {
	had := mistakes(list)
	for _, d := range list {
		for _, f := range d.Fixes {
			if d.Severity == diag.Note || tried == most || !strings.HasSuffix(f.Edits[0].Span.File.Name, ".yaml") {
				continue
			}
			tried++
			fixed, applied := diag.ApplyFixes([]diag.Diagnostic{{Fixes: []diag.Fix{f}}})
			where := fmt.Sprintf("%s: %s: %s %s @%q", p.name, f.Title, d.Code, d.Message, d.Span.Text())
			if applied != 1 {
				wrong = append(wrong, where+": it cannot be applied")
				continue
			}
			next := maps.Clone(files)
			var texts string
			for _, one := range fixed {
				if json.Valid([]byte(one.File.Text)) && !json.Valid([]byte(one.Text)) {
					wrong = append(wrong, where+": it is JSON no longer")
				}
				next[one.File.Name] = one.Text
				texts += one.Text
			}
			after := p.compileFiles(next).list
			has := mistakes(after)
			key := string(d.Code) + " " + d.Message
			if has[key] >= had[key] && (most < 0 || saidAt(after, d)) { // a mutant may have the same mistake twice, and one message
				wrong = append(wrong, where+": it is still said\n"+texts)
			}
			for _, k := range sortedKeys(has) {
				if has[k] > had[k] && !hides(p, k) {
					revealed++
					if most < 0 {
						wrong = append(wrong, where+": now "+k+"\n"+texts)
					}
					break
				}
			}
		}
	}
	return tried, revealed, wrong
}

// TestFixes tries every fix that is offered for a golden, for a case of a dialect and for an example, as it is and as JSON,
// and those of mutants: FIXES is how many mutants, FIXES_SEED the first.
func TestFixes(t *testing.T) {
	slowUnderRace(t)
	s := breeding(t)
	all := slices.Concat(corpus(t), dialectProjects(t))
	total := map[string]int{}
	report := func(kind string, tried int, wrong []string) {
		total[kind] += tried
		for _, w := range wrong {
			t.Errorf("%s: %s", kind, w)
		}
	}
	for _, p := range all {
		if p.slow {
			continue
		}
		tried, _, wrong := judgeFixes(p, p.files, p.compile("", "").list, -1)
		report("yaml", tried, wrong)
		if j, ok := p.inJSON(); ok {
			tried, _, wrong := judgeFixes(j, j.files, j.compile("", "").list, -1)
			report("json", tried, wrong)
		}
	}
	withoutGo(t)
	first, want := setting("FIXES_SEED", 1), setting("FIXES", pick(20, 60, 60))
	for seed := first; total["mutants"] < want; seed++ {
		m := s.mutant(uint64(seed))
		p := m.of
		if p.slow {
			continue
		}
		files := maps.Clone(p.files)
		files[m.file] = m.text
		if j, ok := asJSON(m.file, m.text); ok && rand.New(rand.NewPCG(uint64(seed), 7)).IntN(3) == 0 {
			files[m.file] = j
		}
		tried, revealed, wrong := judgeFixes(p, files, p.compileFiles(files).list, 3)
		total["mutants in which another mistake came up"] += revealed
		for i := range wrong {
			wrong[i] = fmt.Sprintf("seed %d: %s", seed, wrong[i])
		}
		report("mutants", tried, wrong)
	}
	t.Log(total)
	if total["yaml"] < 40 || total["json"] < 30 {
		t.Errorf("too few fixes: %v", total)
	}
}
