package native

import (
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// maxAnswers bounds a file of answers: the first that fits is looked for, each time.
const maxAnswers = 1000

var answerStops = []string{"end", "calls", "length", "refusal"}

var (
	shapeAnswers = &Shape{
		Name: "answers", What: "a file of answers", Doc: "The answers of a scripted model.",
		Keys:    []Key{{Name: "answers", Value: listOf(shape(shapeAnswer)), Required: true, Doc: "the answers; the first that fits is given"}},
		Instead: map[string]string{"turns": "write `answers:`", "responses": "write `answers:`", "messages": "write `answers:`"},
	}

	shapeAnswer = &Shape{
		Name: "answer", What: "an answer", Doc: "One answer of a scripted model, and when it is given.",
		Keys: []Key{
			{Name: "prompt", Value: text, Doc: "the first message of the user contains this text"},
			{Name: "system", Value: text, Doc: "the system prompt contains this text"},
			{Name: "user", Value: text, Doc: "the last message of the user contains this text"},
			{Name: "tool", Value: text, Doc: "the last message has a result of this tool"},
			{Name: "result", Value: text, Doc: "a tool result in the last message contains this text"},
			{Name: "turn", Value: number, Doc: "the model has answered so many times in this conversation"},
			{Name: "text", Value: text, Doc: "the text of the answer"},
			{Name: "json", Value: Form{Kind: FormConst}, Doc: "a structured answer, for nodes with `out`"},
			{Name: "calls", Value: listOf(shape(shapeAnswerCall)), Doc: "the tools that an agent's model calls"},
			{Name: "stop", Value: word(answerStops...), Doc: "why the answer ends, when it is not its end"},
			{Name: "usage", Value: shape(shapeAnswerUsage), Doc: "the tokens that it takes; an estimate unless written"},
			{Name: "error", Value: oneOf(text, shape(shapeAnswerError)), Doc: "the call fails: a code, or code, message and times"},
		},
		Instead: map[string]string{"content": "write `text:`", "tool_calls": "write `calls:`", "when": "write `prompt:`, `user:`, `tool:` or `result:`", "contains": "write `prompt:` or `user:`", "out": "write `json:`"},
	}

	shapeAnswerCall = &Shape{
		Name: "answer.call", What: "a call", Doc: "A tool call that the model asks for.",
		Keys: []Key{
			{Name: "name", Value: text, Required: true, Doc: "the tool, as the agent names it"},
			{Name: "args", Value: Form{Kind: FormConst}, Doc: "its arguments; text is the model's raw output, even if it is not JSON"},
		},
		Instead: map[string]string{"tool": "write `name:`", "with": "write `args:`", "input": "write `args:`", "arguments": "write `args:`"},
	}

	shapeAnswerUsage = &Shape{
		Name: "answer.usage", What: "`usage`", Doc: "The tokens of a call.",
		Keys: []Key{
			{Name: "input", Value: number, Doc: "tokens of the conversation"},
			{Name: "cached", Value: number, Doc: "tokens of these that were cached"},
			{Name: "output", Value: number, Doc: "tokens of the answer"},
		},
	}

	shapeAnswerError = &Shape{
		Name: "answer.error", What: "`error`", Doc: "A failure of the provider.",
		Keys: []Key{
			{Name: "code", Value: text, Required: true, Doc: "one of the nine codes"},
			{Name: "message", Value: text, Doc: "what is wrong"},
			{Name: "times", Value: count, Doc: "how many attempts fail, before the answer next to it is given; all unless written"},
		},
	}
)

// scriptedModel is the provider of models that answer from a file.
const scriptedModel = "scripted"

// script reads the file of answers that the model names. It is never nil: what is wrong is reported, once for each file.
func (p *parser) script(model ir.Ident, file string) *ir.ModelScript {
	root, f := p.load.Answers(p.file, ir.Ident{Name: file, Span: model.Span})
	if f == nil {
		return &ir.ModelScript{}
	}
	p.wf.FileUses = append(p.wf.FileUses, ir.FileUse{At: model.Span, File: f})
	if s := p.scripts[f]; s != nil {
		return s
	}
	if p.scripts == nil {
		p.scripts = map[*source.File]*ir.ModelScript{}
	}
	s := &ir.ModelScript{File: f}
	p.scripts[f] = s
	p.wf.Includes = append(p.wf.Includes, f)
	outer := p.file
	p.file = f
	defer func() { p.file = outer }()
	if root == nil {
		return s
	}
	m, ok := p.mapping(root, shapeAnswers)
	list := m.get("answers")
	if !ok || list == nil {
		return s
	}
	switch {
	case list.Kind != yamlnode.Sequence:
		p.wrongShape(list, "`answers` is a list of answers", "write `answers: [{text: Hello}]`")
		return s
	case len(list.Items) == 0:
		p.report(diag.WrongShape, list.Place(), "write `answers: [{text: Hello}]`", "`answers` has no answer")
		return s
	case len(list.Items) > maxAnswers:
		p.report(diag.BadLiteral, list.Place(), "use several models with a file each", "a file has at most %d answers", maxAnswers)
		return s
	}
	var answers []string
	turns := map[string]int{} // of the answers that follow one another, by what they have in common
	for _, it := range list.Items {
		if m, ok := p.mapping(it, shapeAnswer); ok {
			answers = append(answers, p.scriptAnswer(m, turns))
		}
	}
	s.Answers = "{\"answers\": [\n" + strings.Join(answers, ",\n") + "\n]}\n"
	return s
}

// scriptAnswer is an answer as JSON, see runtime/llm/scripted. Answers about no certain turn follow one another.
func (p *parser) scriptAnswer(m mapping, turns map[string]int) string {
	x := &written{}
	for _, key := range []string{"prompt", "system", "user", "tool", "result", "text"} {
		if n := m.get(key); n != nil {
			x.text(key, p.str(n, "`"+key+"`"))
		}
	}
	if n := m.get("turn"); n != nil {
		if c, ok := p.count(n, "`turn`", 0); ok {
			x.raw("turn", strconv.FormatInt(c, 10))
		}
	} else if !m.has("user") && !m.has("tool") && !m.has("result") {
		about := p.optional(m, "prompt") + "\x00" + p.optional(m, "system")
		x.raw("turn", strconv.Itoa(turns[about]))
		turns[about]++
	}
	if m.has("json") {
		if m.has("text") {
			p.report(diag.Misplaced, m.keys["json"].Span, "leave out one of them", "an answer has `text` or `json`")
		}
		if c, ok := p.constant(m.values["json"], "`json`"); ok {
			x.raw("json", c.JSON)
		}
	}
	if n := m.get("calls"); n != nil {
		x.raw("calls", p.answerCalls(n))
	}
	if n := m.get("stop"); n != nil {
		x.text("stop", p.word(n, "`stop`", answerStops...))
	}
	if n := m.get("usage"); n != nil {
		x.raw("usage", p.answerUsage(n))
	}
	if n := m.get("error"); n != nil {
		x.raw("error", p.answerError(n))
	}
	if !m.astray && !m.has("text") && !m.has("json") && !m.has("calls") && !m.has("stop") && !m.has("error") {
		p.report(diag.WrongShape, m.node.Place(), "add `text`, `json`, `calls` or `error`", "this answer is empty")
	}
	return x.String()
}

func (p *parser) answerCalls(n *yamlnode.Node) string {
	if n.Kind != yamlnode.Sequence {
		p.wrongShape(n, "`calls` is a list", "write `calls: [{name: search, args: {q: text}}]`")
		return "[]"
	}
	var calls []string
	for _, it := range n.Items {
		c, ok := p.mapping(it, shapeAnswerCall)
		if !ok {
			continue
		}
		x := &written{}
		x.text("name", p.optional(c, "name"))
		if a := c.get("args"); a != nil {
			if a.Kind == yamlnode.Sequence {
				p.wrongShape(a, "`args` is a mapping, or the text that the model wrote", "")
			} else if v, ok := p.constant(a, "`args`"); ok {
				x.raw("args", v.JSON)
			}
		}
		calls = append(calls, x.String())
	}
	return "[" + strings.Join(calls, ",") + "]"
}

func (p *parser) answerUsage(n *yamlnode.Node) string {
	x := &written{}
	m, _ := p.mapping(n, shapeAnswerUsage)
	for _, k := range []struct{ key, name string }{{"input", "input_tokens"}, {"cached", "cached_input_tokens"}, {"output", "output_tokens"}} {
		if v := m.get(k.key); v != nil {
			if c, ok := p.count(v, "`"+k.key+"`", 0); ok {
				x.raw(k.name, strconv.FormatInt(c, 10))
			}
		}
	}
	return x.String()
}

func (p *parser) answerError(n *yamlnode.Node) string {
	x := &written{}
	if n.Kind == yamlnode.Scalar {
		x.text("code", p.word(n, "a code", schema.ErrorCodes...))
		return x.String()
	}
	m, _ := p.mapping(n, shapeAnswerError)
	if c := m.get("code"); c != nil {
		x.text("code", p.word(c, "a code", schema.ErrorCodes...))
	}
	if t := p.optional(m, "message"); t != "" {
		x.text("message", t)
	}
	if v := m.get("times"); v != nil {
		if c, ok := p.count(v, "`times`", 1); ok {
			x.raw("times", strconv.FormatInt(c, 10))
		}
	}
	return x.String()
}

// written is a JSON object as it is written.
type written struct{ strings.Builder }

func (x *written) raw(key, json string) {
	if x.Len() == 0 {
		x.WriteByte('{')
	} else {
		x.WriteByte(',')
	}
	writeString(&x.Builder, key)
	x.WriteByte(':')
	x.WriteString(json)
}

func (x *written) text(key, s string) {
	var b strings.Builder
	writeString(&b, s)
	x.raw(key, b.String())
}

func (x *written) String() string {
	if x.Len() == 0 {
		return "{}"
	}
	return x.Builder.String() + "}"
}
