package hostile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/ir/diag"
)

// A slip is one misspelling of a name.
type slip struct {
	kind string
	text string
}

var slipKinds = []string{"insert", "delete", "replace", "transpose"}

// slips are the misspellings of a name by one edit, with the letters given. Names stay names: what does not look like
// one is another mistake.
func slips(name, letters string) []slip {
	var out []slip
	add := func(kind, text string) {
		if text != name && text != "" && text != "null" && typeWord.FindString(text) == text && !slices.Contains(out, slip{kind, text}) {
			out = append(out, slip{kind, text})
		}
	}
	for i := range len(name) + 1 {
		for j := range len(letters) {
			add("insert", name[:i]+letters[j:j+1]+name[i:])
		}
	}
	for i := range len(name) {
		add("delete", name[:i]+name[i+1:])
		for j := range len(letters) {
			add("replace", name[:i]+letters[j:j+1]+name[i+1:])
		}
		if i > 0 {
			add("transpose", name[:i-1]+name[i:i+1]+name[i-1:i]+name[i+1:])
		}
	}
	return out
}

// sampled are a few of them, by a choice that depends on nothing but where the name stands; all of them in the full form,
// unless every compilation starts an interpreter.
func sampled(p *project, all []slip, where string, count int) []slip {
	if full() && !p.slow || len(all) <= count {
		return all
	}
	start := int(number(where) % uint64(len(slipKinds)))
	var out []slip
	for i := range count {
		kind := slipKinds[(start+i)%len(slipKinds)]
		of := slices.DeleteFunc(slices.Clone(all), func(s slip) bool { return s.kind != kind || slices.Contains(out, s) })
		if len(of) > 0 {
			out = append(out, of[number(fmt.Sprint(where, i))%uint64(len(of))])
		}
	}
	return out
}

// tally is what a campaign has seen.
type tally struct{ names, slips, reported, proposed, right int }

func (t *tally) String() string {
	return fmt.Sprintf("%d names, %d misspellings, %d reported, %d with a proposal, %d of them right (%.2f %%)",
		t.names, t.slips, t.reported, t.proposed, t.right, 100*float64(t.right)/float64(max(1, t.proposed)))
}

// TestMisspeltUses misspells every use of a name in every example and every valid golden. Each misspelling is one error,
// at the name, and what is proposed is the name that was there.
func TestMisspeltUses(t *testing.T) {
	roles := map[string]*tally{}
	total := &tally{}
	letters := "_aeinrstx0"
	for _, p := range valid(t) {
		clean := p.compile("", "")
		if clean.errors() > 0 {
			t.Errorf("%s does not compile", p.name)
			continue
		}
		all := namesOf(p, clean)
		taken := map[string]bool{}
		for _, o := range all {
			taken[o.name] = true
		}
		for _, o := range all {
			if o.def || p.leaves(fmt.Sprint(p.name, o.span.Lo)) {
				continue
			}
			if roles[o.role] == nil {
				roles[o.role] = &tally{}
			}
			role := roles[o.role]
			where := fmt.Sprintf("%s:%s:%d", p.name, o.span.File.Name, o.span.Lo)
			if number(where)%uint64(pick(2, 1, 1)) != 0 {
				continue
			}
			role.names++
			for _, s := range sampled(p, slips(o.name, letters), where, 1) {
				if taken[s.text] {
					continue // not a slip but another name
				}
				role.slips++
				misspelt(t, p, clean, o, s, role)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(roles)) {
		r := roles[name]
		t.Logf("%-14s %s", name, r)
		total.names, total.slips, total.reported = total.names+r.names, total.slips+r.slips, total.reported+r.reported
		total.proposed, total.right = total.proposed+r.proposed, total.right+r.right
	}
	t.Logf("%-14s %s", "all", total)
	if want := pick(1_200, 2_500, 300_000); total.slips < want {
		t.Errorf("%d misspellings are fewer than %d", total.slips, want)
	}
	if total.right*100 < total.proposed*95 {
		t.Error("less than 95 % of the proposals are right")
	}
}

// TestMisspeltDefinitions misspells names where they are declared. What is said then is said where they are used, each
// place once, and proposes the name that is declared now; or at the declaration, when that has to agree with something.
func TestMisspeltDefinitions(t *testing.T) {
	total := &tally{}
	silent, messages := 0, 0
	for _, p := range valid(t) {
		clean := p.compile("", "")
		all := namesOf(p, clean)
		taken := map[string]bool{}
		for _, o := range all {
			taken[o.name] = true
		}
		for _, o := range all {
			if !o.def || p.leaves(fmt.Sprint(p.name, o.span.Lo)) {
				continue
			}
			where := fmt.Sprintf("%s:%s:%d", p.name, o.span.File.Name, o.span.Lo)
			if number(where)%uint64(pick(2, 1, 1)) != 0 {
				continue
			}
			total.names++
			for _, s := range sampled(p, slips(o.name, "_aeinrstx0"), where, 1) {
				if taken[s.text] || strings.HasPrefix(s.text, "_") || strings.ToLower(s.text[:1]) != s.text[:1] && o.role != "type" {
					continue // another name, or one that cannot be declared
				}
				total.slips++
				fresh := slices.DeleteFunc(news(clean, p.compile(o.span.File.Name, edit(p, o, s))), func(d diag.Diagnostic) bool {
					return slices.ContainsFunc(clean.list, func(c diag.Diagnostic) bool { // the same as before, of the new name
						return c.Code == d.Code && c.Message == strings.ReplaceAll(d.Message, s.text, o.name)
					})
				})
				if len(fresh) == 0 {
					silent++
					continue
				}
				total.reported++
				messages += len(fresh)
				for _, d := range fresh {
					judgeDefinition(t, p, o, s, d, total)
				}
			}
		}
	}
	t.Logf("%s; %d of them say nothing (nobody uses the name), the others %d messages", total, silent, messages)
	if want := pick(400, 800, 80_000); total.slips < want {
		t.Errorf("%d misspellings are fewer than %d", total.slips, want)
	}
	if total.reported*2 < total.slips {
		t.Error("less than half of them are noticed")
	}
	if total.right*100 < total.proposed*95 {
		t.Error("less than 95 % of the proposals are right")
	}
}

func edit(p *project, o occurrence, s slip) string {
	text := p.files[o.span.File.Name]
	return text[:o.span.Lo] + s.text + text[o.span.Hi:]
}

func judgeDefinition(t *testing.T, p *project, o occurrence, s slip, d diag.Diagnostic, total *tally) {
	t.Helper()
	at := o.span.Start()
	where := fmt.Sprintf("%s:%d:%d: %s %s as %s\n\t%s %s @%q: %s (%s)", o.span.File.Name, at.Line, at.Col, o.role, o.name, s.text,
		d.Severity, d.Code, d.Span.Text(), d.Message, d.Help)
	text := strings.Trim(d.Span.Text(), `"'\`)
	if bare, _, ok := strings.Cut(text, "@"); ok {
		text = bare
	}
	here := d.Span.File != nil && d.Span.File.Name == o.span.File.Name && d.Span.Lo == o.span.Lo
	old, _, _ := strings.Cut(o.name, "@")
	fresh, _, _ := strings.Cut(s.text, "@")
	switch {
	case here && text == fresh: // it has to agree with something
	case d.Code == diag.TypeMismatch || text != old && (strings.Contains(d.Message, fresh) || strings.Contains(d.Message, old)):
		return // two types differ, or too little is allowed, and the message says which name it is about
	case d.Code == diag.GoNameClash: // it is another name's in Go
	case text != old:
		t.Errorf("not where the name is used: %s", where)
	}
	proposal, ok := proposed(d)
	if !ok {
		return
	}
	proposal, _, _ = strings.Cut(proposal, "@")
	total.proposed++
	if proposal == fresh || here && proposal == old {
		total.right++
	} else if testing.Verbose() {
		t.Logf("another name is proposed: %s", where)
	}
}

// misspelt compiles the project with one slip and judges what is said.
func misspelt(t *testing.T, p *project, clean *result, o occurrence, s slip, role *tally) {
	t.Helper()
	file := o.span.File.Name
	fresh := news(clean, p.compile(file, edit(p, o, s)))
	at := o.span.Start()
	describe := func() string {
		var b strings.Builder
		fmt.Fprintf(&b, "%s:%d:%d: %s %s as %s", file, at.Line, at.Col, o.role, o.name, s.text)
		for _, d := range fresh {
			fmt.Fprintf(&b, "\n\t%s %s @%q: %s (%s)", d.Severity, d.Code, d.Span.Text(), d.Message, d.Help)
		}
		return b.String()
	}
	switch {
	case len(fresh) == 0:
		t.Errorf("not reported: %s", describe())
		return
	case len(fresh) > 1:
		t.Errorf("%d messages: %s", len(fresh), describe())
	}
	role.reported++
	d := fresh[0]
	if d.Severity != diag.Error || d.Span.File == nil || d.Span.File.Name != file || !standsAt(d, o, s) {
		t.Errorf("not at the name: %s", describe())
	}
	proposal, ok := proposed(d)
	if !ok {
		return
	}
	role.proposed++
	if o.role == "tool" {
		proposal, _, _ = strings.Cut(proposal, "@")
	}
	if proposal == o.name {
		role.right++
	} else if testing.Verbose() {
		t.Logf("another name is proposed: %s", describe())
	}
}

// standsAt reports whether a message points at the misspelt name and nothing else; a string literal has its quotes, a tool
// its version.
func standsAt(d diag.Diagnostic, o occurrence, s slip) bool {
	lo, text := d.Span.Lo, d.Span.Text()
	if bare := strings.Trim(text, "{+}\"'\\"); len(bare) < len(text) {
		lo, text = lo+strings.Index(text, bare), bare
	}
	if o.role == "tool" {
		text, _, _ = strings.Cut(text, "@")
	}
	return lo == o.span.Lo && text == s.text
}

// news are the messages that the clean project does not have.
func news(clean, r *result) []diag.Diagnostic {
	had := map[string]int{}
	key := func(d diag.Diagnostic) string { return string(d.Code) + d.Message }
	for _, d := range clean.list {
		had[key(d)]++
	}
	var out []diag.Diagnostic
	for _, d := range r.list {
		if had[key(d)]--; had[key(d)] < 0 {
			out = append(out, d)
		}
	}
	return out
}

// proposed is the name that a message proposes first.
func proposed(d diag.Diagnostic) (string, bool) {
	if len(d.Fixes) > 0 && len(d.Fixes[0].Edits) == 1 && d.Fixes[0].Edits[0].Span == d.Span {
		return strings.Trim(d.Fixes[0].Edits[0].New, "\"'\\"), true
	}
	for _, before := range []string{"replace with `", "did you mean `", "expected one of "} {
		if _, rest, ok := strings.Cut(d.Help, before); ok {
			if strings.HasSuffix(before, "`") {
				name, _, ok := strings.Cut(rest, "`")
				return name, ok
			}
		}
	}
	return "", false
}
