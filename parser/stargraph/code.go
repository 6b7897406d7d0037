package stargraph

import (
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

var (
	codeConfig = modelConfig("the config of a code node",
		dialect.Key{Name: "input", Doc: "the state field with the task"},
		dialect.Key{Name: "timeout_s", Doc: "how many seconds the program may run"},
	)
	mlConfig = &dialect.Shape{What: "the config of an ml node", Keys: []dialect.Key{
		{Name: "model_id", Required: true, Doc: "what the model is called"},
		{Name: "version", Required: true, Doc: "its version"},
		{Name: "runtime", Doc: "sklearn, xgboost or onnx"},
		{Name: "file_uri", Doc: "where the model is"},
		{Name: "allow_unsafe_pickle", Doc: "true: a pickle may be loaded"},
		{Name: "expected_sha256", Doc: "the hash of the model's file"},
		{Name: "input_field", Doc: "the state field that the model is given"},
		{Name: "output_field", Doc: "the state field that gets what it predicts"},
	}}
)

// pythonExec is the tool that runs a program of Python in the sandbox of processes: without network, without files but the
// interpreter's.
const pythonExec = "std.python_exec@1"

// execute runs the program on its standard input and says what it printed, or why it failed.
const execute = `import contextlib, io, json, sys
code, out, verdict = sys.stdin.read(), io.StringIO(), "pass"
try:
    with contextlib.redirect_stdout(out):
        exec(compile(code, "<code>", "exec"), {"__name__": "__main__"})
except SystemExit as e:
    if e.code not in (None, 0):
        verdict = "fail"
        out.write("SystemExit: %s" % (e.code,))
except BaseException as e:
    verdict = "fail"
    out.write("%s: %s" % (type(e).__name__, e))
print(json.dumps({"verdict": verdict, "run_result": out.getvalue()[:65536]}))
`

// runTool is the tool pythonExec.
func runTool(key ir.Ident) *ir.Tool {
	name, version, _ := strings.Cut(key.Name, "@")
	in := &schema.Type{Kind: schema.Struct, Fields: []*schema.Field{{Name: "code", Type: schema.StringType, Description: "a program of Python that prints its result"}}}
	out := &schema.Type{Kind: schema.Struct, Fields: []*schema.Field{{Name: "verdict", Type: schema.EnumOf("pass", "fail")}, {Name: "run_result", Type: schema.StringType}}}
	args := make([]*ir.Template, 0, 4)
	for _, s := range []string{"python3", "-I", "-c", execute} {
		args = append(args, mixed(source.Text{Span: key.Span, Opaque: true}, []segment{{lit: s}}))
	}
	stdin := newWriter(key.Span)
	tree, _ := expr.Parse("code")
	stdin.value(tree, "code", "")
	return &ir.Tool{Name: ir.Ident{Name: name, Span: key.Span}, Version: version, Key: key, Description: "Runs a program of Python in a sandbox.", Effects: ir.EffectsReads, EffectsSpan: key.Span,
		In: in, Out: out, OutSpan: key.Span, Binding: &ir.CommandTool{Args: args, Stdin: stdin.template(), Format: ir.FormatJSON, Span: key.Span},
		Sandbox: ir.Ident{Name: "process", Span: key.Span}, Replay: "recorded-result", File: key.Span.File, Span: key.Span}
}

// codeNode reads a task that a model writes a program for, which runs in the sandbox.
func (p *parser) codeNode(x *node, m dialect.Mapping) {
	input := p.one(x, m, "task")
	at := x.kind.Span
	var timeout *ir.Duration
	if n := m.Get("timeout_s"); n != nil {
		timeout = &ir.Duration{Value: time.Duration(p.Count(n, "`timeout_s`", 1, 24*60*60, 30)) * time.Second, Span: dialect.Head(n)}
	}
	p.question(x, m, "Write a program in Python that does the task and prints the result. It has no network and no files. Answer with the program alone.", input, []output{
		{name: "code", typ: schema.StringType, kept: schema.StringType, doc: "the program"}, {name: "explanation", typ: schema.StringType, doc: "what it does, in one sentence"},
	})
	key := ir.Ident{Name: pythonExec, Span: at}
	p.tool(&key)
	result := p.result(ir.Ident{Name: "run_result", Span: at}, schema.StringType)
	verdict := p.result(ir.Ident{Name: "verdict", Span: at}, schema.StringType)
	write := x.lower
	x.lower = func() []*ir.Node {
		id := p.part(x, "run")
		call := &ir.Node{ID: id, Verb: &ir.ToolCall{Name: key, With: &ir.With{Span: at, Entries: []*ir.Entry{{Key: ir.Ident{Name: "code", Span: at}, Value: resultField(at, x.id.Name, "code")}}}}, Timeout: timeout, Span: x.at.Span}
		call.Set = []*ir.Set{
			p.set(result, at, resultField(at, id.Name, "run_result"), schema.StringType),
			p.set(verdict, at, resultField(at, id.Name, "verdict"), schema.StringType),
		}
		return append(write(), call)
	}
}

var notKey = lazyregexp.New(`[^A-Za-z0-9_]+`)

// mlNode reads a node that asks a model of machine learning, which a tool stands for that is bound to its name.
func (p *parser) mlNode(x *node, m dialect.Mapping) {
	id, ok := p.Text(m.Get("model_id"), "`model_id`")
	version, versioned := p.Text(m.Get("version"), "`version`")
	if n := m.Get("runtime"); n != nil {
		p.Word(n, "`runtime`", "sklearn", "xgboost", "onnx")
	}
	p.flag(m.Get("allow_unsafe_pickle"), "`allow_unsafe_pickle`")
	input := p.operand(x, m.Get("input_field"), "`input_field`", "x", schema.AnyType)
	if !ok || !versioned || input == nil {
		return
	}
	input.key.Name = "x"
	key := ir.Ident{Name: "ml." + strings.ToLower(strings.Trim(notKey.ReplaceAllString(id.Name, "_"), "_")) + "@" + version.Name, Span: id.Span}
	var tool *ir.Tool
	for _, t := range p.wf.Tools {
		if t.FullName() == key.Name {
			tool = t
		}
	}
	if tool == nil {
		p.Error(diag.NotSupported, x.kind.Span, "bind a function that asks the model in flowgen.bindings.yaml beside this file: `"+key.Name+": {python: \"module:function\", in: {x: any}, out: any, effects: none}`",
			"files of models are not loaded: the tool `%s` is to ask it", key.Name)
		return
	}
	out := ir.Ident{Name: "y", Span: x.kind.Span}
	if n, ok := p.Text(m.Get("output_field"), "`output_field`"); ok {
		out = n
	}
	p.call(x, key, tool, []*argument{input}, out)
}

var ragConfig = modelConfig("the config of a rag node",
	dialect.Key{Name: "stores", Required: true, Doc: "where is looked: {provider, path, table_name}"},
	dialect.Key{Name: "query", Doc: "the state field with the question"},
	dialect.Key{Name: "k", Doc: "how many documents the model is told"},
)

// ragNode refuses nodes that look in stores of vectors: which embedding made them, their files do not say.
func (p *parser) ragNode(x *node, m dialect.Mapping) {
	p.Error(diag.NotSupported, x.kind.Span, "make it a tool node that searches, bound in flowgen.bindings.yaml, and a reason node behind it", "stores of vectors are not read")
}
