package openexpertise

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// defaultModel and maxTokens are what the engine asks for.
const (
	defaultModel = "claude-sonnet-4-5"
	maxTokens    = 4096
)

// agent reads an agent node: a prompt file, whose answer becomes one field of the state or, with a schema, all those that
// it has.
func (p *parser) agent(m dialect.Mapping, out *Node) {
	file, ok := p.Text(m.Get("prompt"), "`prompt`")
	if !ok {
		return
	}
	if s := m.Get("schema"); s != nil {
		out.Schema = p.answerSchema(s)
		out.AnswerAs = "structured_output"
	} else if len(out.Writes) != 1 {
		p.Error(diag.WrongShape, m.Key("writes"), "", "an agent without a schema writes exactly one state field")
		return
	}
	model := p.model(m.Get("model"))
	f, ok := p.load.Text(p.File, file)
	if !ok || model == nil {
		return
	}
	p.wf.Includes = append(p.wf.Includes, f)
	out.Prompt = &dialect.Mixed{Text: source.Text{Value: f.Text, Span: source.Span{File: f, Hi: len(f.Text)}}}
	out.Verb = &ir.LLM{Model: model.Name, Span: out.Span}
}

// skill reads a skill node: its file without the front matter is what the model receives first.
func (p *parser) skill(m dialect.Mapping, out *Node) {
	file, ok := p.Text(m.Get("impl"), "`impl`")
	if !ok {
		return
	}
	for _, key := range []string{"inputs", "schema"} {
		if m.Get(key) != nil {
			p.Warn(diag.IgnoredKey, m.Key(key), "remove it; a skill reads `reads` and `args`", "the engine does not use `%s` of a skill", key)
		}
	}
	if len(out.Writes) != 1 {
		p.Error(diag.WrongShape, m.Key("writes"), "", "a skill writes exactly one state field")
		return
	}
	model := p.model(m.Get("model"))
	f, ok := p.load.Text(p.File, file)
	if !ok || model == nil {
		return
	}
	p.wf.Includes = append(p.wf.Includes, f)
	lo := 0
	if head := frontMatter.FindString(f.Text); head != "" {
		lo = len(head)
	}
	text := source.Text{Value: f.Text[lo:], Span: source.Span{File: f, Lo: lo, Hi: len(f.Text)}}
	out.System = &dialect.Mixed{Text: text, Segments: []dialect.MixedSegment{{Lit: text.Value}}}
	out.Verb = &ir.LLM{Model: model.Name, Span: out.Span}
}

var frontMatter = lazyregexp.New(`^---\r?\n(?s:.*?)\r?\n---\r?\n(\r?\n)*`)

// answerSchema is the JSON of a schema that is in the file.
func (p *parser) answerSchema(n *yamlnode.Node) string {
	if n.Kind == yamlnode.Scalar {
		f, ok := p.load.Text(p.File, ir.Ident{Name: n.Text.Value, Span: n.Span})
		if !ok {
			return ""
		}
		var b bytes.Buffer
		if err := json.Compact(&b, []byte(f.Text)); err != nil {
			p.Error(diag.WrongShape, n.Span, "", "%s is not JSON: %v", n.Text.Value, err)
			return ""
		}
		p.wf.Includes = append(p.wf.Includes, f)
		return b.String()
	}
	if n.Kind != yamlnode.Mapping {
		p.WrongShape(n, "the schema of an answer is a mapping, or the name of a file")
		return ""
	}
	v, ok := p.Value(n, nil).(*ir.Object)
	if !ok {
		return ""
	}
	return dialect.JSON(v)
}

// model declares the model that a node asks, and the secret that its provider takes.
func (p *parser) model(n *yamlnode.Node) *ir.Model {
	id := ir.Ident{Name: defaultModel, Span: p.start()}
	if n != nil {
		var ok bool
		if id, ok = p.Text(n, "`model`"); !ok {
			return nil
		}
	}
	full := id.Name
	if !strings.Contains(full, ":") {
		full = provider(full) + ":" + full
	}
	for _, m := range p.wf.Models {
		if m.Model.Name == full {
			return m
		}
	}
	most := int64(maxTokens)
	m := &ir.Model{Name: ir.Ident{Name: modelName.ReplaceAllString(strings.ToLower(id.Name), "_"), Span: id.Span}, Model: ir.Ident{Name: full, Span: id.Span}, Params: ir.ModelParams{MaxTokens: &most}, Span: id.Span}
	if pr := m.Provider(); pr != nil && pr.Key != "" {
		p.secret(ir.Ident{Name: pr.Key, Span: id.Span})
	}
	p.wf.Models = append(p.wf.Models, m)
	return m
}

var modelName = lazyregexp.New(`[^a-z0-9]+`)

// provider is who offers a model of a plain name.
func provider(name string) string {
	for prefix, who := range map[string]string{"gpt-": "openai", "o1": "openai", "o3": "openai", "o4": "openai", "chatgpt": "openai", "gemini": "gemini"} {
		if strings.HasPrefix(name, prefix) {
			return who
		}
	}
	return "anthropic"
}

func (p *parser) secret(id ir.Ident) {
	for _, s := range p.wf.Secrets {
		if s.Name.Name == id.Name {
			return
		}
	}
	p.wf.Secrets = append(p.wf.Secrets, &ir.Secret{Name: id})
}

// start is the beginning of the file: the place of what it does not say.
func (p *parser) start() source.Span { return p.wf.Name.Span }

// placeholders finds the names of prompts when all nodes are read.
func (p *parser) placeholders() {
	for _, n := range p.tree.Nodes {
		if m := n.Prompt; m != nil && m.Segments == nil {
			p.segments(n, m)
		}
	}
}

var (
	braces      = lazyregexp.New(`\{\{\s*([^{}\n]*?)\s*\}\}`)
	placeholder = lazyregexp.New(`^(\$?[A-Za-z_][A-Za-z0-9_]*)((?:\.[A-Za-z_][A-Za-z0-9_]*)*)\s*(?:\|\s*(length))?$`)
)

// segments splits a prompt. A plain name is what the engine substitutes; what people also write (paths, $item, | length)
// is substituted here, unless the engine's rule is asked for, and noted.
func (p *parser) segments(n *Node, m *dialect.Mixed) {
	text := m.Text.Value
	last := 0
	lit := func(hi int) {
		if hi > last {
			m.Segments = append(m.Segments, dialect.MixedSegment{Lit: text[last:hi]})
		}
	}
	for _, at := range braces.FindAllStringSubmatchIndex(text, -1) {
		whole := source.Text{Value: text[at[0]:at[1]], Span: m.Text.At(at[0], at[1])}
		parts := placeholder.FindStringSubmatch(text[at[2]:at[3]])
		if parts == nil {
			p.Warn(diag.IgnoredKey, whole.Span, "", "this is not a placeholder: the model receives it as written")
			continue
		}
		plain := parts[2] == "" && parts[3] == "" && parts[1][0] != '$'
		r := p.root(n, parts[1])
		if r == nil {
			p.unknownPlaceholder(n, whole.Span, parts[1])
			continue
		}
		if !plain {
			if p.opts.Upstream {
				p.Warn(diag.IgnoredKey, whole.Span, "", "the engine does not substitute this placeholder: the model receives it as written")
				continue
			}
			p.Differs(whole.Span, "", "the engine leaves this placeholder as it is; here it is substituted, as the examples mean it")
		}
		r.Text, r.Missing, r.Filter = whole, dialect.MissingKeep, parts[3]
		if parts[2] != "" {
			r.Path = append(r.Path, strings.Split(parts[2][1:], ".")...)
		}
		lit(at[0])
		m.Segments = append(m.Segments, dialect.MixedSegment{Ref: r})
		last = at[1]
	}
	lit(len(text))
}

// root is what a name in a prompt stands for: loop variables before args, then what nodes before it handed on, then what
// the node reads.
func (p *parser) root(n *Node, name string) *dialect.Reference {
	own := n.Args != nil && slices.ContainsFunc(n.Args.Entries, func(e *ir.Entry) bool { return e.Key.Name == name })
	if root := loopNames[name]; root != "" && (name[0] == '$' || !p.opts.Upstream) && (n.Each != nil || n.Times != 0) && (!own || p.given(n, root)) {
		return &dialect.Reference{Root: root}
	}
	if own {
		return &dialect.Reference{Root: "args", Path: []string{name}}
	}
	for _, r := range n.Routes {
		if r.From.Name == name {
			return &dialect.Reference{Root: "edges", Path: []string{name}}
		}
	}
	for _, id := range n.Reads {
		if id.Name == name {
			return &dialect.Reference{Root: "state", Path: []string{name}}
		}
	}
	return nil
}

// given reports whether what a node runs in has a loop variable: a list has items, and a loop rounds.
func (p *parser) given(n *Node, root string) bool {
	items := root == "item" || root == "index"
	if n.Each != nil && items {
		return true
	}
	return slices.ContainsFunc(p.tree.Phases, func(ph *Phase) bool {
		return slices.Contains(ph.Nodes, n) && (ph.Kind == PhasePipeline && (items || root == "pipeline") || ph.Kind == PhaseLoop && (root == "iter" || root == "loop"))
	})
}

var loopNames = map[string]string{"$item": "item", "_item": "item", "$index": "index", "_item_index": "index", "$iter": "iter", "$loop": "loop", "$pipeline": "pipeline"}

// unknownPlaceholder warns about a name that is nothing the node sees.
func (p *parser) unknownPlaceholder(n *Node, at source.Span, name string) {
	for _, s := range p.wf.State {
		if s.Name.Name == name {
			p.Warn(diag.UnknownName, at, "add `"+name+"` to `reads`", "node %q does not read the state field %q: the model receives the placeholder as written", n.ID.Name, name)
			return
		}
	}
	var names []string
	for _, id := range n.Reads {
		names = append(names, id.Name)
	}
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownName, Span: at, Message: "nothing that node \"" + n.ID.Name + "\" sees is called \"" + name + "\": the model receives the placeholder as written"}
	if len(name) < 100 {
		diag.Suggest(&d, name, names)
		d.Fixes = nil
	}
	p.Report(d)
}
