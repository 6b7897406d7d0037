package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/insert"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// leastCallID is how much of a call_id must be given, in digits.
const leastCallID = 6

// recorded finds the last attempt of a call by its key, or by the beginning of its call_id. lister is the command that lists the calls.
func recorded(j *journal.Journal, run, name, lister string) (journal.Record, error) {
	var found *journal.Record
	all := j.Records()
	for _, byKey := range []bool{true, false} {
		for i := range all {
			r := &all[i]
			if byKey && r.Key != name || !byKey && (len(name) < leastCallID || !strings.HasPrefix(r.CallID, name)) {
				continue
			}
			if found != nil && found.Key != r.Key {
				return journal.Record{}, fmt.Errorf("%s is the beginning of several call_ids, of %s and %s among others", name, found.Key, r.Key)
			}
			found = r
		}
		if found != nil {
			return *found, nil
		}
	}
	keys := make([]string, len(all))
	for i := range all {
		keys[i] = all[i].Key
	}
	if near := diag.Nearest(name, keys); near != "" {
		return journal.Record{}, fmt.Errorf("run %s has no call %s; did you mean %s?", run, name, near)
	}
	return journal.Record{}, fmt.Errorf("run %s has no call %s; `%s` lists its calls", run, name, lister)
}

// pinned finds the call that a pin has selected: NODE.PIN, where NODE is the key of the agent's node.
func pinned(wf *ir.Workflow, j *journal.Journal, name string) (journal.Record, error) {
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 {
		return journal.Record{}, fmt.Errorf("a pin is named as NODE.PIN, not %q", name)
	}
	key, pinName := name[:dot], name[dot+1:]
	at, err := locate(wf, key)
	if err != nil {
		return journal.Record{}, err
	}
	agent, ok := at.node.Verb.(*ir.Agent)
	if !ok {
		return journal.Record{}, fmt.Errorf("node %s is not an agent: only agents have pins", at.node.ID.Name)
	}
	i := slices.IndexFunc(agent.Pins, func(p *ir.Pin) bool { return p.Name.Name == pinName })
	if i < 0 {
		return journal.Record{}, fmt.Errorf("node %s has no pin %s", at.node.ID.Name, pinName)
	}
	pin := agent.Pins[i]
	name, as := pin.Tool.Name, ""
	if i := slices.IndexFunc(agent.Tools, func(t *ir.AgentTool) bool { return t.As.Name == name }); i >= 0 {
		name, as = agent.Tools[i].Tool.Name, name
	}
	tool := toolNamed(at.workflow, name)
	if tool == nil {
		return journal.Record{}, fmt.Errorf("the workflow has no tool %s", pin.Tool.Name)
	}
	if pin.Strategy == "by_call_id" {
		return journal.Record{}, fmt.Errorf("pin %s selects by a call_id that the run computed; name that instead: materialize RUN CALL_ID", name)
	}
	return selected(j, key, tool.FullName(), as, pin)
}

// turnForm is what an agent's calls are called in its scope: [turn]/id#visit.
var turnForm = regexp.MustCompile(`^\[([0-9]{1,9})\]/([^/#]+)(?:#([0-9]{1,9}))?$`)

// selected applies a pin's strategy to the calls of an agent, in the order in which the model asked for them. as is what the
// model called the tool; empty: any name.
func selected(j *journal.Journal, key, tool, as string, pin *ir.Pin) (journal.Record, error) {
	type asked struct {
		journal.Record
		turn, visit int
	}
	last := map[string]asked{} // attempt of each call
	for _, r := range j.Records() {
		rest, ok := strings.CutPrefix(r.Key, key)
		m := turnForm.FindStringSubmatch(rest)
		if !ok || m == nil || r.Tool != tool || !r.Done || r.Cancelled != "" || as != "" && m[2] != as {
			continue
		}
		turn, _ := strconv.Atoi(m[1]) // digits only
		visit, _ := strconv.Atoi(cmp.Or(m[3], "1"))
		last[r.Key] = asked{r, turn, visit}
	}
	var calls []asked
	for _, c := range last {
		if pin.Strategy != "first_success" || c.Error == nil {
			calls = append(calls, c)
		}
	}
	if len(calls) == 0 {
		return journal.Record{}, fmt.Errorf("pin %s.%s has selected nothing: %s made no call of %s that it can select", key, pin.Name.Name, key, tool)
	}
	slices.SortFunc(calls, func(x, y asked) int { return cmp.Or(cmp.Compare(x.turn, y.turn), cmp.Compare(x.visit, y.visit)) })
	if pin.Strategy == "first_success" {
		return calls[0].Record, nil
	}
	c := calls[len(calls)-1]
	if c.Error != nil {
		return journal.Record{}, fmt.Errorf("pin %s.%s has selected nothing: the latest call of %s failed; name that call to write it all the same: %s", key, pin.Name.Name, tool, c.Key)
	}
	return c.Record, nil
}

// location is a node that makes calls.
type location struct {
	workflow   *ir.Workflow
	containers []string // maps and loops around it, in its workflow
	bodies     []*ir.Body
	node       *ir.Node
}

// locate finds the node that the call of a key belongs to.
func locate(wf *ir.Workflow, key string) (*location, error) {
	at := &location{workflow: wf, bodies: []*ir.Body{&wf.Body}}
	for id := range strings.SplitSeq(journal.NodePath(key), "/") {
		if at.node != nil { // of the segment before
			switch v := at.node.Verb.(type) {
			case *ir.Flow:
				if v.Flow == nil {
					return nil, fmt.Errorf("node %s has no workflow", at.node.ID.Name)
				}
				*at = location{workflow: v.Flow, bodies: []*ir.Body{&v.Flow.Body}}
			default:
				body := inside(at.node)
				if body == nil {
					return at, nil // an agent's calls are its own
				}
				at.containers, at.bodies = append(at.containers, at.node.ID.Name), append(at.bodies, body)
			}
		}
		if at.node = find(at.bodies[len(at.bodies)-1], id); at.node == nil {
			return nil, fmt.Errorf("the workflow has no node %s any more (call %s)", id, key)
		}
	}
	return at, nil
}

// inside is the body of a map, a loop or a function that runs nodes; nil for other nodes.
func inside(n *ir.Node) *ir.Body {
	if n == nil {
		return nil
	}
	if v, ok := n.Verb.(*ir.Perform); ok {
		return v.Inside
	}
	return ir.BodyOf(n.Verb)
}

func find(body *ir.Body, id string) *ir.Node {
	for _, n := range body.Nodes {
		if n.ID.Name == id {
			return n
		}
	}
	return nil
}

// toolNamed finds a tool by what a workflow calls it.
func toolNamed(wf *ir.Workflow, name string) *ir.Tool {
	var found *ir.Tool
	for _, t := range wf.Tools {
		switch name {
		case t.FullName():
			return t
		case t.Key.Name, t.Name.Name:
			found = t
		}
	}
	return found
}

// material is a call that becomes a node.
type material struct {
	file       *source.File
	containers []string
	after      string // the node that it is behind
	edges      bool   // the body has written edges
	id         string
	tool       *ir.Tool
	with       []insert.Field
	alike      []insert.Field // timeout, retry and the like, as the call had them
}

// newMaterial decides what is written for a call, and where.
func newMaterial(wf *ir.Workflow, r journal.Record) (*material, error) {
	at, err := locate(wf, r.Key)
	if err != nil {
		return nil, err
	}
	m := &material{file: at.workflow.File, containers: at.containers, after: at.node.ID.Name}
	if r.Broken != "" {
		return nil, fmt.Errorf("the input of call %s was not recorded: %s", r.Key, r.Broken)
	}
	if m.tool = toolNamed(at.workflow, r.Tool); m.tool == nil || m.tool.FullName() != r.Tool {
		return nil, noSuchTool(at.workflow, r)
	}
	if err := m.sameCare(at); err != nil {
		return nil, err
	}
	if at.node.Inline { // its body is not a list of nodes
		last := len(m.containers) - 1
		m.after, m.containers = m.containers[last], m.containers[:last]
	}
	body := at.bodies[len(m.containers)]
	m.edges = body.EdgesWritten
	m.id = freeID(at.workflow, m.tool)
	input, err := value.Parse(r.Input)
	if err != nil {
		return nil, fmt.Errorf("the input of call %s cannot be read: %w", r.Key, err)
	}
	if m.with, err = arguments(input, m.tool.In); err != nil {
		return nil, fmt.Errorf("call %s: %w", r.Key, err)
	}
	return m, nil
}

// sameCare takes over how the call was made: the node's own timeout and retries, or that it was not repeated, because an
// agent does not repeat calls.
func (m *material) sameCare(at *location) (err error) {
	switch at.node.Verb.(type) {
	case *ir.ToolCall, *ir.ToolChoice:
		id := at.node.ID.Name
		if at.node.Inline {
			id = ""
		}
		m.alike, err = insert.NodeFields(m.file.Text, at.containers, id, "timeout", "retry", "on_in_doubt")
	case *ir.Agent:
		if r := at.workflow.Defaults.Retry; r != nil && r.Attempts > 1 {
			m.alike = []insert.Field{{Name: "retry", Value: "{attempts: 1}"}}
		}
	}
	return err
}

// noSuchTool says why a record's tool cannot be a node's.
func noSuchTool(wf *ir.Workflow, r journal.Record) error {
	name, _ := engine.SplitTool(r.Tool)
	switch t := toolNamed(wf, name); {
	case t != nil:
		return fmt.Errorf("call %s was one of %s; the workflow has %s now", r.Key, r.Tool, t.FullName())
	case r.Tool == engine.HumanTool || r.Metered || strings.Contains(r.Tool, ":"):
		return fmt.Errorf("call %s is one of %s, which a node cannot call: model calls and questions stay with their nodes", r.Key, r.Tool)
	}
	return fmt.Errorf("call %s was one of %s, which the workflow does not have", r.Key, r.Tool)
}

// notIDs are ids that no node can have.
var notIDs = []string{"start", "end", "error", "run", "now", "else", "index", "input", "state", "output", "in"}

var notID = regexp.MustCompile(`[^a-z0-9_]+`)

// freeID makes an id after the tool that no node of the workflow has.
func freeID(wf *ir.Workflow, t *ir.Tool) string {
	name := t.Name.Name[strings.LastIndexByte(t.Name.Name, '.')+1:]
	name = strings.Trim(notID.ReplaceAllString(strings.ToLower(name), "_"), "_")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "call_" + name
	}
	taken := map[string]bool{}
	for _, word := range notIDs {
		taken[word] = true
	}
	var walk func(b *ir.Body)
	walk = func(b *ir.Body) {
		for _, n := range b.Nodes {
			taken[n.ID.Name] = taken[n.ID.Name] || !n.Inline // nobody can name the single node of a body
			if m, ok := n.Verb.(*ir.Map); ok {
				taken[m.As.Name] = true
				if m.Index != nil {
					taken[m.Index.Name] = true
				}
			}
			if inner := inside(n); inner != nil {
				walk(inner)
			}
		}
	}
	walk(&wf.Body)
	for i, id := 2, name; ; i++ {
		if !taken[id] {
			return id
		}
		id = name + "_" + strconv.Itoa(i)
	}
}

// write returns the text of the file with the node.
func (m *material) write() (string, error) {
	fields := []insert.Field{{Name: "tool", Value: m.tool.FullName()}}
	if len(m.with) > 0 {
		fields = append(fields, insert.Field{Name: "with", Fields: m.with})
	}
	fields = append(fields, m.alike...)
	text, err := insert.Node(m.file.Text, m.containers, m.after, m.id, fields)
	if err != nil || !m.edges {
		return text, err
	}
	return insert.Edge(text, m.containers, m.after, m.id)
}

// arguments writes a recorded input as `with`.
func arguments(in value.Value, t *schema.Type) ([]insert.Field, error) {
	if in.IsNull() {
		return nil, nil
	}
	if in.Kind() != value.MapKind {
		return nil, fmt.Errorf("its input is %s and not an object", in.Kind())
	}
	var out []insert.Field
	for _, k := range in.Keys() {
		v, _ := in.Get(k)
		f := field(t, k)
		if v.IsNull() && (f == nil || f.Type.Kind == schema.Opt) {
			continue // absent
		}
		text, err := literal(k, v, typeOf(f))
		if err != nil {
			return nil, err
		}
		out = append(out, insert.Field{Name: insert.Key(k), Value: text})
	}
	return out, nil
}

// field is a field of a struct, nil when there is no such field or no struct.
func field(t *schema.Type, name string) *schema.Field {
	if t == nil {
		return nil
	}
	for _, f := range t.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

func typeOf(f *schema.Field) *schema.Type {
	if f == nil {
		return nil
	}
	return f.Type
}

var errSecret = errors.New("contained a secret, which the journal omits, so its exact value is unknown")

// literal writes a recorded value, as its type is written in a workflow, so that it can be used in brackets.
func literal(at string, v value.Value, t *schema.Type) (string, error) {
	for t != nil && t.Kind == schema.Opt {
		t = t.Elem
	}
	switch v.Kind() {
	case value.StringKind:
		if strings.Contains(v.String(), redact.Redacted) {
			return "", fmt.Errorf("field %s of its input %w", at, errSecret)
		}
		return insert.Text(v.String()), nil
	case value.IntKind:
		if t != nil && t.Kind == schema.Duration {
			return time.Duration(v.Int()).String(), nil
		}
	case value.ListKind:
		parts := make([]string, v.Len())
		for i := range parts {
			var err error
			if parts[i], err = literal(at+"["+strconv.Itoa(i)+"]", v.Index(i), elem(t)); err != nil {
				return "", err
			}
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	case value.MapKind:
		var parts []string
		for _, k := range v.Keys() {
			inner, _ := v.Get(k)
			below := elem(t)
			if f := field(t, k); f != nil {
				if below = f.Type; inner.IsNull() && below.Kind == schema.Opt {
					continue
				}
			}
			if strings.Contains(k, redact.Redacted) {
				return "", fmt.Errorf("field %s of its input %w", at, errSecret)
			}
			text, err := literal(at+"."+k, inner, below)
			if err != nil {
				return "", err
			}
			parts = append(parts, insert.Key(k)+": "+text)
		}
		return "{" + strings.Join(parts, ", ") + "}", nil
	}
	b, err := v.MarshalJSON() // null, numbers and truth values are written as in JSON
	return string(b), err
}

// elem is the type of what a list or a map holds.
func elem(t *schema.Type) *schema.Type {
	if t == nil || t.Kind != schema.List && t.Kind != schema.Map {
		return nil
	}
	return t.Elem
}
