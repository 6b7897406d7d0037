package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/index"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/insert"
	"github.com/flowgen-dev/flowgen/studio"
)

// What editAgent changes besides the tools of an agent.
const (
	pinSet     = "pin.set"
	pinRename  = "pin.rename" // with what reads it
	pinRemove  = "pin.remove"
	policyEdit = "policy"
)

// policyKeys are the limits of an agent that can be edited one by one.
var policyKeys = []string{"max_iterations", "max_tool_calls", "max_total_tokens", "max_cost_usd", "effects"}

// An agentFile is the node of an agent in the file that has it.
type agentFile struct {
	files  *disk
	before *compiled
	node   *ir.Node
	agent  *ir.Agent
	shared *ir.AgentDecl // that the node names; nil: none
	path   []string      // of the node, in the file
	text   string        // of the file
}

// agentIn finds the node of an agent that can be written.
func (a *app) agentIn(name, node string) (*agentFile, error) {
	e := &agentFile{files: newDisk()}
	if e.before = a.compile(e.files, name); e.before.program == nil {
		return nil, a.report(e.before.list, false)
	}
	if e.before.workflow.Public {
		return nil, fmt.Errorf("%s is not in flowgen's own language, which has pins and tools of agents: `flowgen convert %s` makes such a file", name, name)
	}
	containers, n, err := agentNode(&e.before.workflow.Body, node)
	if err != nil {
		return nil, err
	}
	a.cases(e.files, e.before)
	e.node, e.agent, e.text = n, n.Verb.(*ir.Agent), n.ID.Span.File.Text
	e.shared, e.path = declaredAgent(e.before.workflow, e.agent), insert.Path(containers, n.ID.Name)
	return e, nil
}

// at is where the agent has a key: in its node, or in the declaration that the node names.
func (e *agentFile) at(key string) []string {
	if e.shared != nil && !insert.Has(e.text, e.path, key) {
		if at := []string{"agents", e.shared.Name.Name}; insert.Has(e.text, at, key) {
			return at
		}
	}
	return e.path
}

// tried compiles the workflow with other texts. It is an error if it has mistakes then. Test cases that the edit breaks are only listed, when it
// is shown.
func (a *app) tried(e *agentFile, texts map[string]string, dry bool) (*compiled, error) {
	edited := newDisk()
	maps.Copy(edited.texts, e.files.texts)
	edited.names = append(edited.names, e.files.names...)
	for name, text := range texts {
		edited.texts[name] = []byte(text)
	}
	after := a.compile(edited, e.before.name)
	if err := a.report(newOnly(e.before.list, after.list), false); err != nil {
		fmt.Fprintln(a.stderr, "flowgen: the edited workflow would have mistakes; nothing was written")
		return nil, err
	}
	programs := len(after.list)
	a.cases(edited, after)
	if dry {
		_ = a.report(slices.DeleteFunc(slices.Clone(after.list[programs:]), func(d diag.Diagnostic) bool {
			return slices.ContainsFunc(e.before.list, func(b diag.Diagnostic) bool { return b.Code == d.Code && b.Message == d.Message })
		}), false)
	}
	return after, nil
}

// editAgent changes a pin or a limit of an agent: the smallest edit of the file, which is written only if the result passes `check`. dry
// writes nothing.
func (a *app) editAgent(op studio.Operation, dry bool) error {
	e, err := a.agentIn(op.File, op.Node)
	if err != nil {
		return err
	}
	file := e.node.ID.Span.File.Name
	texts := map[string]string{}
	switch op.Kind {
	case policyEdit:
		texts[file], err = e.limited(op.Name, op.Value)
	case pinSet:
		texts[file], err = e.pinned(op)
	case pinRemove:
		texts[file], err = e.unpinned(op.Pin)
	case pinRename:
		texts, err = e.renamed(op.Pin, op.Name)
	}
	if err != nil {
		return err
	}
	if texts[file] == e.text {
		return errors.New("the edit changes nothing")
	}
	after, err := a.tried(e, texts, dry)
	if err != nil {
		return err
	}
	if op.Kind == pinRename && !e.sameReaders(after, op) {
		return fmt.Errorf("%s has another meaning where the pin is read: choose another name", op.Name)
	}
	return a.writeEdited(e.files, texts, dry)
}

// sameReaders reports whether a pin is read at as many places after it was renamed.
func (e *agentFile) sameReaders(after *compiled, op studio.Operation) bool {
	_, n, err := agentNode(&after.workflow.Body, op.Node)
	if err != nil {
		return false
	}
	was, _, err := e.pin(op.Pin)
	if err != nil {
		return false
	}
	agent := n.Verb.(*ir.Agent)
	for _, p := range pinsOf(agent, declaredAgent(after.workflow, agent)) {
		if p.Name.Name == op.Name {
			return len(pinReaders(refsOf(after), p)) == len(pinReaders(refsOf(e.before), was))
		}
	}
	return false
}

// limited is the text with another limit of the agent; no value takes the limit away.
func (e *agentFile) limited(key, value string) (string, error) {
	if !slices.Contains(policyKeys, key) {
		return "", fmt.Errorf("the policy of an agent has no %q to edit here: there are %s", key, strings.Join(policyKeys, ", "))
	}
	at := e.at("policy")
	path := append(slices.Clone(at), "policy")
	value = strings.TrimSpace(value)
	switch {
	case value == "":
		return insert.Remove(e.text, path, key)
	case key == "effects":
		value = "[" + strings.Trim(value, "[]") + "]"
	case key == "max_cost_usd":
		value = insert.Quote(strings.Trim(value, `"`))
	}
	return insert.Put(e.text, path, key, value)
}

// pin finds a pin of the agent by its name.
func (e *agentFile) pin(name string) (*ir.Pin, []string, error) {
	var names []string
	for _, p := range pinsOf(e.agent, e.shared) {
		if p.Name.Name == name {
			return p, append(e.at("pins"), "pins"), nil
		}
		names = append(names, p.Name.Name)
	}
	return nil, nil, fmt.Errorf("node %s has no pin %s; it has %s", e.node.ID.Name, name, strings.Join(names, ", "))
}

// pinsOf are the pins of an agent, or of the declaration that it names.
func pinsOf(agent *ir.Agent, shared *ir.AgentDecl) []*ir.Pin {
	if len(agent.Pins) == 0 && shared != nil {
		return shared.Agent.Pins
	}
	return agent.Pins
}

// pinned is the text with another strategy or on_missing of a pin. What is the default is not written anew.
func (e *agentFile) pinned(op studio.Operation) (string, error) {
	p, path, err := e.pin(op.Pin)
	if err != nil {
		return "", err
	}
	path = append(path, op.Pin)
	text := e.text
	for _, f := range []struct {
		key, value, now string
		words           []string
	}{
		{"strategy", op.Strategy, p.Strategy, pinStrategies},
		{"on_missing", op.Missing, missingWord(p), pinMissing},
	} {
		if f.value == "" || f.value == f.now {
			continue
		}
		if !slices.Contains(f.words, f.value) || !slices.Contains(f.words, f.now) {
			return "", fmt.Errorf("`%s` of pin %s is %s and cannot become %s here: edit the file", f.key, op.Pin, f.now, f.value)
		}
		if text, err = insert.Put(text, path, f.key, f.value); err != nil {
			return "", err
		}
	}
	return text, nil
}

// missingWord is the `on_missing` of a pin as files write it.
func missingWord(p *ir.Pin) string {
	switch p.OnMissing {
	case "error":
		return "fail"
	case "stale_last_success":
		return "keep"
	case "default":
		return "default"
	}
	return pinMissing[0]
}

// unpinned is the text without a pin that nobody reads.
func (e *agentFile) unpinned(name string) (string, error) {
	p, path, err := e.pin(name)
	if err != nil {
		return "", err
	}
	if readers := pinReaders(refsOf(e.before), p); len(readers) > 0 {
		return "", fmt.Errorf("pin %s is read at %s: change its readers first", name, strings.Join(placesOfRefs(readers), ", "))
	}
	return insert.Remove(e.text, path, name)
}

// renamed are the texts of files with another name of a pin, where it is written and where it is read.
func (e *agentFile) renamed(name, to string) (map[string]string, error) {
	p, _, err := e.pin(name)
	if err != nil {
		return nil, err
	}
	if !idForm.MatchString(to) {
		return nil, fmt.Errorf("%q is not a valid pin name: use lower-case letters, digits and _, starting with a letter", to)
	}
	if slices.ContainsFunc(pinsOf(e.agent, e.shared), func(p *ir.Pin) bool { return p.Name.Name == to }) {
		return nil, fmt.Errorf("node %s has a pin %s already", e.node.ID.Name, to)
	}
	at := append(pinReaders(refsOf(e.before), p), index.Ref{At: p.Name.Span})
	texts := map[string]string{}
	slices.SortFunc(at, func(x, y index.Ref) int { return y.At.Lo - x.At.Lo }) // from the end, so that offsets stay
	for _, r := range at {
		file := r.At.File
		if file.Module != "" || r.At.Text() != name {
			return nil, fmt.Errorf("pin %s is written in another way at %s: rename it in an editor", name, placesOfRefs([]index.Ref{r})[0])
		}
		if _, ok := texts[file.Name]; !ok {
			texts[file.Name] = file.Text
		}
		texts[file.Name] = texts[file.Name][:r.At.Lo] + to + texts[file.Name][r.At.Hi:]
	}
	return texts, nil
}

// pinReaders are the places that read a pin: of nodes that share a declaration, the same pin.
func pinReaders(refs []index.Ref, p *ir.Pin) []index.Ref {
	var out []index.Ref
	for _, r := range refs {
		if !r.Declares && r.Name.Kind == index.Field && r.Name.Text == p.Name.Name && r.Name.At == p.Name.Span {
			out = append(out, r)
		}
	}
	return out
}

// refsOf are the places of a workflow and its tests that name something.
func refsOf(c *compiled) []index.Ref { return index.Build(c.workflow, c.caseFiles).Refs }

func placesOfRefs(refs []index.Ref) []string {
	var out []string
	for _, r := range refs {
		start := r.At.Start()
		out = append(out, r.At.File.Name+":"+strconv.Itoa(start.Line)+":"+strconv.Itoa(start.Col))
	}
	return out
}
