package cli

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// askers are the human nodes of a workflow, as its plan has them.
type askers struct {
	ids    map[string]bool
	beside map[string]bool // those whose questions can be open while another one is
	own    map[string]bool // among them those that can be open more than once at a time, as in a map
}

// askersOf reads the plan that a program carries.
func askersOf(data string) *askers {
	a := &askers{ids: map[string]bool{}, beside: map[string]bool{}, own: map[string]bool{}}
	var p plan
	if json.Unmarshal([]byte(data), &p) != nil {
		return a // programs by hand have none
	}
	w := &askerWalk{askers: a, flows: map[string][]planPart{}, known: map[string]map[string]bool{}}
	for _, f := range p.Flows {
		w.flows[f.Workflow] = f.Parts
	}
	w.list(p.Parts)
	return a
}

// askerWalk goes through a plan; each part gives the human nodes in it.
type askerWalk struct {
	*askers
	flows map[string][]planPart
	known map[string]map[string]bool // of flows that have been walked
}

// list is parts that run one after the other.
func (w *askerWalk) list(parts []planPart) map[string]bool {
	all := map[string]bool{}
	for i := range parts {
		maps.Copy(all, w.part(&parts[i]))
	}
	return all
}

func (w *askerWalk) part(p *planPart) map[string]bool {
	switch {
	case p.Kind == "parallel" || p.Kind == "scheduled":
		return w.arms(p.Parts)
	case p.Kind == "step" && p.Verb == "human":
		w.ids[p.Node] = true
		return map[string]bool{p.Node: true}
	case len(p.Approve) > 0: // the node is before it in the key
		const id = "approve"
		w.ids[id], w.own[id] = true, true
		if p.Verb == "agent" {
			w.beside[id] = true
		}
		return map[string]bool{id: true}
	}
	all := w.list(p.Parts)
	maps.Copy(all, w.flow(p.Flow))
	if p.Kind == "step" && p.Verb == "map" && p.Parallel != 1 {
		for id := range all {
			w.beside[id], w.own[id] = true, true
		}
	}
	return all
}

func (w *askerWalk) flow(name string) map[string]bool {
	all, ok := w.known[name]
	if !ok {
		w.known[name] = nil // flows do not run themselves
		all = w.list(w.flows[name])
		w.known[name] = all
	}
	return all
}

// arms is parts that run in parallel. Those of a schedule that come one after the other are not told apart: names do no
// harm there.
func (w *askerWalk) arms(parts []planPart) map[string]bool {
	all := map[string]bool{}
	for i := range parts {
		arm := w.part(&parts[i])
		for id := range arm {
			for other := range all {
				w.beside[id], w.beside[other] = true, true
				if id == other {
					w.own[id] = true
				}
			}
		}
		maps.Copy(all, arm)
	}
	return all
}

// named divides a line of answers: "ask: yes" and "each[2]/ask: yes" name a question, anything else is an answer alone.
// What can be before an answer is the key of a question, whose last part is the node's id.
func (a *askers) named(line string) (name, answer string) {
	key, answer, ok := strings.Cut(line, ":")
	if !ok || answer != "" && answer[0] != ' ' && answer[0] != '\t' {
		return "", line
	}
	parts := strings.Split(key, "/")
	for i, part := range parts {
		id, rest := word(part)
		rest = bracketed(rest, "#", "")
		if i < len(parts)-1 {
			rest = bracketed(rest, "[", "]")
		} else if !a.ids[id] {
			return "", line
		}
		if id == "" || rest != "" {
			return "", line
		}
	}
	return key, strings.TrimSpace(answer)
}

// word is the identifier that s begins with, and the rest.
func word(s string) (id, rest string) {
	n := 0
	for n < len(s) {
		c := s[n]
		if letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'; !letter && (n == 0 || c < '0' || c > '9') {
			break
		}
		n++
	}
	return s[:n], s[n:]
}

// bracketed is s without the number at its beginning that is between open and end; s itself when there is none.
func bracketed(s, open, end string) string {
	rest, ok := strings.CutPrefix(s, open)
	digits := strings.TrimLeft(rest, "0123456789")
	if !ok || len(digits) == len(rest) || !strings.HasPrefix(digits, end) {
		return s
	}
	return digits[len(end):]
}

// filed finds the answer to the question of a key among the lines of a file: the next that names the key, or else the
// node; or the next that names nothing, where only one question can be open at a time. Which question comes first must
// not say who gets which answer.
func (p *person) filed(ctx context.Context, key string) (string, error) {
	id := key[strings.LastIndexByte(key, '/')+1:]
	id, _, _ = strings.Cut(id, "#")
	for {
		if answer, ok := p.take(key); ok {
			return answer, nil
		}
		if !p.who.own[id] {
			if answer, ok := p.take(id); ok {
				return answer, nil
			}
		}
		line, err := p.line(ctx, p.lines)
		if err != nil {
			if ctx.Err() != nil { // another question has ended the run: its error is the one to report
				return "", ctx.Err()
			}
			if len(p.kept[id]) > 0 {
				return "", value.Invalid("the answers for %s do not say for which of its questions they are, which can be open at the same time; write `%s: ANSWER`", id, key)
			}
			return "", err
		}
		name, answer := p.who.named(line)
		switch {
		case name != "":
			p.kept[name] = append(p.kept[name], answer)
		case len(p.who.beside) > 0:
			return "", value.Invalid("questions can be open at the same time here (%s), so each answer has to say for which one it is; write `%s: ANSWER`",
				strings.Join(slices.Sorted(maps.Keys(p.who.beside)), ", "), key)
		default:
			return line, nil
		}
	}
}

// take removes the first answer that is kept for a name.
func (p *person) take(name string) (string, bool) {
	kept := p.kept[name]
	if len(kept) == 0 {
		return "", false
	}
	p.kept[name] = kept[1:]
	return kept[0], true
}
