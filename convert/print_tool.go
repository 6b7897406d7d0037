package convert

import (
	"strconv"

	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// tool is the declaration of a tool: on one line where a function says the rest itself.
func (c *Converter) tool(t *ir.Tool) *doc.Mapping {
	m := &doc.Mapping{}
	add := func(key string, v doc.Value) { m.AddUnlessEmpty(key, v, source.Span{}) }
	word := func(key, s string) {
		if s != "" {
			add(key, doc.Scalar(doc.Quoted(s)))
		}
	}
	var stdin *ir.Template
	command := &ir.CommandTool{}
	switch b := t.Binding.(type) {
	case *ir.GoTool:
		word("go", b.Func.Ref.Name)
		m.Flow = true
	case *ir.PythonTool:
		word("python", b.Ref.Name)
		m.Flow = true
	case *ir.JSTool:
		word("js", b.Path.Name)
	case *ir.CommandTool:
		args := &doc.List{}
		for _, a := range b.Args {
			args.Add(c.value(a), source.Span{})
		}
		switch {
		case !b.Shell:
			add("command", args)
		case len(args.Items) == 1:
			add("shell", args.Items[0].Value)
		default:
			add("shell", args)
		}
		stdin, command = b.Stdin, b
	case *ir.HTTPTool:
		add("http", c.request(b, NodeAt(c.Root, t.Span)))
	default:
		c.Refuse(t.Span, "declare it with `go`, `python` or `command` in the native file", "the tool %s is not converted", t.Key.Name)
	}
	if a := t.Auth; a != nil && a.Header != "" {
		add("auth", doc.Flow(doc.Pair("header", doc.Scalar(doc.Quoted(a.Header))), doc.Pair("secret", doc.Scalar(a.Secret.Name))))
	} else if a != nil {
		add("auth", doc.Flow(doc.Pair(a.Kind, doc.Scalar(a.Secret.Name))))
	}
	if t.Description != "" {
		add("description", doc.Spell(t.Description))
	}
	c.takes(m, t)
	if stdin != nil {
		add("stdin", c.value(stdin))
	}
	c.surroundings(command, add)
	if t.Out != nil {
		add("out", c.typ(t.Out, t.Span))
	}
	add("effects", doc.Scalar(t.Effects.String()))
	if t.Approve {
		add("approve", doc.Scalar("true"))
	}
	if t.InDoubt != nil && t.Idempotency {
		add("idempotency_key", doc.Scalar("call_id"))
		add("on_in_doubt", doc.Scalar(t.InDoubt.Policy))
	}
	if t.MaxOutput > 0 {
		add("max_output", doc.Scalar(strconv.FormatInt(t.MaxOutput>>20, 10)+"MiB"))
	}
	if t.Timeout != nil {
		add("timeout", doc.Scalar(doc.Duration(t.Timeout.Value)))
	}
	add("permissions", doc.Words(t.Permissions...))
	word("sandbox", t.Sandbox.Name)
	return m
}

// takes adds the input of a tool.
func (c *Converter) takes(m *doc.Mapping, t *ir.Tool) {
	switch _, js := t.Binding.(*ir.JSTool); {
	case t.In == nil:
	case t.In.Kind == schema.Any:
		m.Add("in", doc.Scalar("any"), source.Span{})
	case js: // a module does not say what it takes
		m.Add("in", c.structure(t.In), source.Span{})
	default:
		m.AddUnlessEmpty("in", c.structure(t.In), source.Span{})
	}
}

// surroundings are the folder of a command and its environment.
func (c *Converter) surroundings(b *ir.CommandTool, add func(key string, v doc.Value)) {
	if b.Dir != nil {
		add("dir", c.value(b.Dir))
	}
	env := doc.Flow()
	for _, v := range b.Env {
		env.Add(doc.Quoted(v.Name.Name), c.value(v.Value), source.Span{})
	}
	add("env", env)
}

// request is what an http tool sends. tree is what the file says about it.
func (c *Converter) request(b *ir.HTTPTool, tree *yamlnode.Node) doc.Value {
	m := &doc.Mapping{Flow: true}
	m.Add("method", doc.Scalar(doc.Quoted(b.Method)), c.at(tree, "method", "", source.Span{}))
	if b.Base.Name != "" {
		m.Add("base", doc.Scalar(b.Base.Name), source.Span{})
	}
	m.Add("url", doc.Scalar(doc.Quoted(b.URL.Text.Value)), c.at(tree, "url", "", source.Span{}))
	headers := doc.Flow()
	for _, h := range b.Headers {
		headers.Add(doc.Quoted(h.Name.Name), c.value(h.Value), Join(h.Name.Span, h.Value.Source()))
	}
	m.AddUnlessEmpty("headers", headers, c.at(tree, "headers", "", source.Span{}))
	if b.Body != nil {
		m.Add("body", c.value(b.Body), c.at(tree, "body", "", source.Span{}))
	}
	return m
}

// model is a model with its parameters.
func (c *Converter) model(x *ir.Model) doc.Value {
	c.Only(x.Span, "the model", x, "Name Model BaseURL BaseEnv Reach Key Span Params Unbounded Script Provided")
	m := doc.Flow(doc.Pair("model", doc.Scalar(doc.Quoted(x.Model.Name))))
	text := func(key, s string) {
		if s != "" {
			m.Add(key, doc.Scalar(doc.Quoted(s)), source.Span{})
		}
	}
	whole := func(key string, n *int64) {
		if n != nil {
			m.Add(key, doc.Scalar(strconv.FormatInt(*n, 10)), source.Span{})
		}
	}
	text("base_url", x.BaseURL.Name)
	text("base_env", x.BaseEnv)
	text("key", x.Key.Name)
	float(m, "temperature", x.Params.Temperature)
	float(m, "top_p", x.Params.TopP)
	whole("max_tokens", x.Params.MaxTokens)
	if x.Unbounded && x.Params.MaxTokens == nil {
		m.Add("max_tokens", doc.Scalar("unbounded"), source.Span{})
	}
	whole("seed", x.Params.Seed)
	m.AddUnlessEmpty("stop", doc.Words(x.Params.Stop...), source.Span{})
	return alone(m)
}

func float(m *doc.Mapping, key string, f *float64) {
	if f != nil {
		m.Add(key, doc.Scalar(strconv.FormatFloat(*f, 'f', -1, 64)), source.Span{})
	}
}
