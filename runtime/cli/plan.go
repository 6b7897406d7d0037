package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// plan is what is read of the JSON form of a plan. The compiler writes it; flow.Info carries it.
type plan struct {
	Workflow, Source string
	Parts            []planPart
	Flows            []planFlow
	Needs            []string
	AtMost           struct {
		Calls []struct {
			Tool, Effects string
			AtMost        *int64 `json:"at_most"`
		}
		Total     *int64
		Time      *string
		MaxTime   string `json:"max_time"`
		Unbounded []string
		Cost      *planCost
	} `json:"at_most"`
	Servers []planServer
}

type planCost struct {
	USD                      *string
	Unbounded, Unknown, Free []string
}

// text is the cost in words.
func (c *planCost) text() string {
	switch {
	case c.USD != nil && len(c.Free) > 0:
		return "$" + safe(*c.USD) + ", without " + safe(strings.Join(c.Free, ", ")) + ", asked without a key or a price"
	case c.USD != nil:
		return "$" + safe(*c.USD)
	case len(c.Unknown) > 0:
		return "not known: " + safe(strings.Join(c.Unknown, "; "))
	}
	return unbounded + ": " + safe(strings.Join(c.Unbounded, "; "))
}

type planFlow struct {
	Workflow, Source string
	Parts            []planPart
}

// timeouts are the bounds of a call: of each attempt, and of all.
func (p *planPart) timeouts() []string {
	var words []string
	several := p.Attempts > 1 || p.Verb == "agent"
	add := func(bound, of string, many bool) {
		if bound == "" {
			return
		}
		if many {
			bound += of
		}
		words = append(words, "timeout "+safe(bound))
	}
	add(p.PerAttempt, " each", several || p.Timeout != "")
	for _, t := range p.PerCall {
		add(t, "", false)
	}
	add(p.Timeout, " in all", several || p.PerAttempt != "")
	return words
}

type planPart struct {
	Kind, Case, When, Node, Verb, Tool, Model, Flow, Effects, Sandbox, Timeout, Until, Every, For string

	PerAttempt         string   `json:"attempt_timeout"`
	PerCall            []string `json:"tool_timeouts"`
	Tools              []string // of a tool_call
	Fixed, Approve     []string
	Attempts, Parallel int
	MaxItems           json.RawMessage `json:"max_items"` // null: unbounded
	MaxIterations      json.RawMessage `json:"max_iterations"`
	MaxToolCalls       json.RawMessage `json:"max_tool_calls"`
	MaxCostUSD         string          `json:"max_cost_usd"`
	MaxTokens          *int64          `json:"max_total_tokens"`
	Catch              []struct{ Code, To string }
	OnError            string        `json:"on_error"`
	Follows            []planFollows // only where it was asked why
	Undo               *planPart
	After              []int
	Parts              []planPart
}

type planFollows struct {
	Node string
	Why  []string
}

// PlanText renders the JSON form of a plan for people.
func PlanText(data string) (string, error) {
	var p plan
	if err := json.Unmarshal([]byte(data), &p); err != nil {
		return "", fmt.Errorf("not a plan: %w", err)
	}
	w := &planWriter{}
	w.b.WriteString("plan of " + safe(p.Workflow) + " (" + safe(p.Source) + ")\n\n")
	w.parts(p.Parts, 1)
	for _, f := range p.Flows {
		w.b.WriteString("\nflow " + safe(f.Workflow) + " (" + safe(f.Source) + ")\n\n")
		w.parts(f.Parts, 1)
	}
	w.servers(p.Servers)
	w.worst(&p)
	return w.b.String(), nil
}

type planWriter struct{ b strings.Builder }

func (w *planWriter) line(depth int, text string) {
	w.b.WriteString(strings.Repeat("  ", depth) + text + "\n")
}

func (w *planWriter) parts(list []planPart, depth int) {
	if len(list) == 0 {
		w.line(depth, "nothing")
	}
	for i := range list {
		w.part(&list[i], depth)
	}
}

func (w *planWriter) part(p *planPart, depth int) {
	if p.Case != "" {
		w.line(depth, safe(p.Case)+":")
		depth++
	}
	switch p.Kind {
	case "step":
		w.line(depth, safe(p.Node)+": "+p.about())
		if p.Undo != nil {
			w.line(depth+1, "undo: "+p.Undo.about())
		}
		if len(p.Parts) > 0 {
			w.parts(p.Parts, depth+1)
		}
		return
	case "if":
		w.line(depth, "if "+safe(p.When))
	case "choose":
		text := "one of"
		if p.When != "" {
			text = "by " + safe(p.When)
		}
		w.line(depth, text)
	case "parallel":
		w.line(depth, "in parallel")
	case "scheduled":
		w.schedule(p, depth)
		return
	case "repeat":
		text := "repeat " + times(p.MaxIterations)
		if p.When != "" {
			text += ", again while " + safe(p.When)
		}
		w.line(depth, text)
	default:
		w.parts(p.Parts, depth)
		return
	}
	w.parts(p.Parts, depth+1)
}

// schedule names what each part comes after: the parts by their number.
func (w *planWriter) schedule(p *planPart, depth int) {
	w.line(depth, "each as soon as those it comes after have ended")
	for i := range p.Parts {
		text := "(" + strconv.Itoa(i+1) + ")"
		if after := p.Parts[i].After; len(after) > 0 {
			words := make([]string, len(after))
			for k, a := range after {
				words[k] = "(" + strconv.Itoa(a+1) + ")"
			}
			text += " after " + strings.Join(words, ", ")
		}
		w.line(depth+1, text)
		w.part(&p.Parts[i], depth+2)
	}
}

// about is a step in a line.
func (p *planPart) about() string {
	words := []string{safe(p.Verb)}
	switch {
	case p.Tool != "":
		words[0] += " " + safe(p.Tool)
	case p.Model != "":
		words[0] += " " + safe(p.Model)
	case p.Flow != "":
		words[0] += " " + safe(p.Flow)
	case p.Verb == "wait":
		words[0] += " for " + safe(p.For)
	}
	add := func(ok bool, text string) {
		if ok {
			words = append(words, text)
		}
	}
	add(p.Tool != "" || len(p.Tools) > 0, safe(p.Effects))
	add(p.Sandbox == "none", "not isolated")
	add(p.Sandbox != "" && p.Sandbox != "none" && p.Sandbox != "native", "in a sandbox ("+safe(p.Sandbox)+")")
	switch n := counted(p.MaxItems); {
	case p.MaxItems == nil:
	case n == unbounded:
		add(true, "any number of items")
	default:
		add(true, "at most "+n+" items")
	}
	add(p.Parallel > 0, strconv.Itoa(p.Parallel)+" at a time")
	tools := safe(strings.Join(p.Tools, ", "))
	if p.Verb == "agent" {
		add(true, atMost(p.MaxIterations, "answer"))
		add(len(p.Tools) > 0, atMost(p.MaxToolCalls, "call")+" of "+tools)
		for _, f := range p.Fixed {
			add(true, "fixed "+safe(f))
		}
		add(p.MaxCostUSD != "", "at most $"+safe(p.MaxCostUSD))
		if p.MaxTokens != nil {
			add(true, "at most "+strconv.FormatInt(*p.MaxTokens, 10)+" tokens")
		}
	} else {
		add(len(p.Tools) > 0, "one of "+tools)
		add(p.MaxIterations != nil, times(p.MaxIterations))
	}
	add(len(p.Approve) > 0, "asks a user before "+safe(strings.Join(p.Approve, ", ")))
	add(p.Every != "", "every "+safe(p.Every))
	add(p.For != "" && p.Verb != "wait", "for "+safe(p.For))
	add(p.Until != "", "until "+safe(p.Until))
	add(p.Attempts > 1, "up to "+strconv.Itoa(p.Attempts)+" attempts")
	words = append(words, p.timeouts()...)
	for _, c := range p.Catch {
		add(true, "on "+safe(c.Code)+" go to "+safe(c.To))
	}
	add(p.OnError == "skip", "skipped on errors")
	add(p.OnError == "default", "a default on errors")
	for i, f := range p.Follows {
		text := safe(f.Node) + " (" + safe(strings.Join(f.Why, ", ")) + ")"
		if i == 0 {
			text = "after " + text
		}
		add(true, text)
	}
	return strings.Join(words, ", ")
}

// repeats reports whether a call has several attempts.
func repeats(list []planPart) bool {
	return slices.ContainsFunc(list, func(p planPart) bool {
		return p.Attempts > 1 || p.Undo != nil && p.Undo.Attempts > 1 || repeats(p.Parts)
	})
}

const unbounded = "unbounded"

// counted is a number of the JSON form, where null means no bound.
func counted(n json.RawMessage) string {
	if string(n) == "null" {
		return unbounded
	}
	return safe(string(n))
}

func times(n json.RawMessage) string {
	switch t := counted(n); t {
	case unbounded:
		return "without bound"
	case "1":
		return "at most once"
	default:
		return "at most " + t + " times"
	}
}

// atMost is a bound of an agent: "at most 10 answers".
func atMost(n json.RawMessage, what string) string {
	switch t := counted(n); t {
	case "": // of a program that was generated before plans had it
		return what + "s"
	case unbounded:
		return what + "s without bound"
	case "1":
		return "at most 1 " + what
	default:
		return "at most " + t + " " + what + "s"
	}
}

func (w *planWriter) worst(p *plan) {
	w.b.WriteString("\nat most\n\n")
	number := func(n *int64) string {
		if n == nil {
			return unbounded
		}
		return strconv.FormatInt(*n, 10)
	}
	rows := make([][2]string, 0, len(p.AtMost.Calls)+2)
	for _, c := range p.AtMost.Calls {
		rows = append(rows, [2]string{"calls of " + safe(c.Tool), number(c.AtMost) + " (" + safe(c.Effects) + ")"})
	}
	rows = append(rows, [2]string{"calls in all", number(p.AtMost.Total)})
	if t := p.AtMost.Time; t != nil {
		text := safe(*t)
		if repeats(p.Parts) || slices.ContainsFunc(p.Flows, func(f planFlow) bool { return repeats(f.Parts) }) {
			text += ", and more if a server asks to wait longer between attempts"
		}
		rows = append(rows, [2]string{"time", text})
	} else {
		rows = append(rows, [2]string{"time", unbounded})
	}
	if most := p.AtMost.MaxTime; most != "" {
		rows = append(rows, [2]string{"max_time", safe(most) + ", without waiting for answers"})
	}
	if p.AtMost.Cost != nil {
		rows = append(rows, [2]string{"cost", p.AtMost.Cost.text()})
	}
	if len(p.Needs) > 0 {
		rows = append(rows, listed("needs", p.Needs))
	}
	table(&w.b, rows)
	if len(p.AtMost.Unbounded) == 0 {
		return
	}
	w.b.WriteString("\nunbounded because\n\n")
	for i, why := range p.AtMost.Unbounded {
		if i == 20 {
			w.line(1, "and "+strconv.Itoa(len(p.AtMost.Unbounded)-i)+" more")
			break
		}
		w.line(1, safe(why))
	}
}
