package lsp

import (
	"fmt"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// supply offers to add what a diagnostic says is missing, where a person has to agree to it: a secret, a pin, a bound of what a model
// costs, or of how long a call takes.
func (s *server) supply(r *root, x diag.Diagnostic) (out []refactoring) {
	wf := r.result.Workflow
	if x.Span.File != wf.File {
		return nil
	}
	offer := func(title string, e insertion, to int) {
		out = append(out, refactoring{root: r, title: title, kind: kindFix, change: func() ([]Rewrite, error) {
			text := wf.File.Text
			return []Rewrite{{File: nameOfFile(wf.File.Name), Old: text, New: text[:e.at] + e.text + text[max(e.at, to):]}}, nil
		}})
	}
	switch x.Code {
	case diag.UnknownName, diag.ModelKey:
		if name := missingSecret(wf, x); name != "" {
			if e, ok := declareSecret(wf, name); ok {
				offer("declare the secret "+name, e, 0)
			}
		}
	case diag.LongBound:
		for _, d := range []string{"1m", "10m", "1h"} {
			offer("change to "+d, insertion{x.Span.Lo, d}, x.Span.Hi)
		}
	case diag.CostUnknown:
		if e, ok := beside(wf.File.Text, x.Span, "model", "max_tokens: 1000"); ok && strings.HasPrefix(x.Message, "the cost of model ") {
			offer("add max_tokens: 1000", e, 0)
		}
	case diag.UnknownField:
		for _, n := range wf.Body.Nodes {
			a, ok := n.Verb.(*ir.Agent)
			if lead := wf.File.Text[:x.Span.Lo]; !ok || !strings.HasSuffix(lead, n.ID.Name+".") || word(lead[:len(lead)-1]) != len(lead)-1-len(n.ID.Name) {
				continue
			}
			for _, t := range a.Tools[:min(len(a.Tools), maxChoices)] {
				pin := fmt.Sprintf("%s: {tool: %s}", x.Span.Text(), t.Tool.Name)
				if e, ok := addPin(wf.File, a, pin); ok {
					offer(fmt.Sprintf("pin the last call of %s as %s", t.Tool.Name, x.Span.Text()), e, 0)
				}
			}
		}
	}
	return out
}

// missingSecret is the secret that a diagnostic says is not declared; "" when it says something else.
func missingSecret(wf *ir.Workflow, x diag.Diagnostic) string {
	if x.Code == diag.UnknownName {
		if strings.HasPrefix(x.Message, "secret ") {
			return strings.Trim(x.Span.Text(), `"'`)
		}
		return ""
	}
	for _, m := range wf.Models {
		if p := m.Provider(); m.Model.Span == x.Span && p != nil && check.ModelKey(wf, m) == "" {
			return p.Key
		}
	}
	return ""
}

// declareSecret adds a secret to those of a file.
func declareSecret(wf *ir.Workflow, name string) (insertion, bool) {
	text := wf.File.Text
	if n := len(wf.Secrets); n > 0 {
		last := wf.Secrets[n-1].Name.Span
		if last.File != wf.File {
			return insertion{}, false
		}
		lead := text[lineStart(text, last.Lo):last.Lo]
		if indent, ok := strings.CutSuffix(lead, "- "); ok && strings.TrimSpace(indent) == "" {
			return insertion{last.Hi, "\n" + lead + name}, true
		}
		return insertion{last.Hi, ", " + name}, strings.Contains(lead, "[")
	}
	at := wf.Name.Span
	if at.File != wf.File || at.Lo >= at.Hi {
		return insertion{}, false
	}
	end := at.Hi
	for end < len(text) && text[end] != '\n' && text[end] != '\r' {
		end++
	}
	return insertion{end, "\nsecrets: [" + name + "]"}, strings.HasPrefix(text[lineStart(text, at.Lo):], "name:")
}

// beside adds an entry to the mapping in which a value is that of a key.
func beside(text string, value source.Span, key, entry string) (insertion, bool) {
	if lo, hi := value.Lo, value.Hi; lo > 0 && hi < len(text) && strings.ContainsAny(text[hi:hi+1], `"'`) && text[lo-1] == text[hi] {
		value.Lo, value.Hi = lo-1, hi+1
	}
	lead := text[lineStart(text, value.Lo):value.Lo]
	before, ok := strings.CutSuffix(strings.TrimRight(lead, " "), key+":")
	switch {
	case !ok:
		return insertion{}, false
	case strings.Contains(before, "{"):
		return insertion{value.Hi, ", " + entry}, true
	case strings.TrimSpace(before) != "":
		return insertion{}, false
	}
	end := value.Hi
	for end < len(text) && text[end] != '\n' && text[end] != '\r' {
		end++
	}
	return insertion{end, "\n" + before + entry}, true
}

// addPin adds a pin to those of an agent.
func addPin(f *source.File, a *ir.Agent, pin string) (insertion, bool) {
	if len(a.Pins) > 0 {
		at := a.Pins[0].Name.Span
		if at.File != f {
			return insertion{}, false
		}
		if lead := f.Text[lineStart(f.Text, at.Lo):at.Lo]; strings.TrimSpace(lead) == "" {
			return insertion{at.Lo, pin + "\n" + lead}, true
		}
		return insertion{at.Lo, pin + ", "}, true
	}
	at := a.Agent.Span
	if at.File == nil {
		at = a.Model.Span
	}
	if at.File != f {
		return insertion{}, false
	}
	return beside(f.Text, at, "agent", "pins: {"+pin+"}")
}
