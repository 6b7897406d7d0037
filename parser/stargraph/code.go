package stargraph

import (
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
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

// execCapability is what the engine's tool of that name needs.
const execCapability = "tools:std:exec"

// execute runs the program on its standard input for as many seconds as its argument says, and tells what it wrote and how it
// ended.
const execute = `import contextlib, io, json, signal, sys, traceback
class Late(BaseException):
    pass
def late(*_):
    raise Late
code, out, err, status, timed_out = sys.stdin.read(), io.StringIO(), io.StringIO(), 0, False
signal.signal(signal.SIGALRM, late)
try:
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            signal.setitimer(signal.ITIMER_REAL, max(1.0, min(float(sys.argv[1]), 600.0)), 1)
            exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
except Late:
    status, timed_out = -1, True
except SystemExit as e:
    status = e.code if isinstance(e.code, int) else 0 if e.code is None else 1
    if e.code is not None and not isinstance(e.code, int):
        err.write("%s\n" % (e.code,))
except BaseException:
    status = 1
    kind, what, at = sys.exc_info()
    err.write("".join(traceback.format_exception(kind, what, at and at.tb_next)))
out, err = out.getvalue(), err.getvalue()
print(json.dumps({"stdout": out[:65536], "stderr": err[:65536], "exit_code": status, "timed_out": timed_out, "truncated": len(out) > 65536 or len(err) > 65536}))
`

// runTool is the tool pythonExec.
func runTool(key ir.Ident) *ir.Tool {
	name, version, _ := strings.Cut(key.Name, "@")
	in := &schema.Type{Kind: schema.Struct, Fields: []*schema.Field{
		{Name: "code", Type: schema.StringType, Description: "a program of Python that prints its result"},
		{Name: "timeout_s", Type: schema.FloatType, Description: "how many seconds it may run", Default: &schema.Default{JSON: "30", Span: key.Span}},
	}}
	out := &schema.Type{Kind: schema.Struct, Fields: []*schema.Field{{Name: "stdout", Type: schema.StringType}, {Name: "stderr", Type: schema.StringType},
		{Name: "exit_code", Type: schema.IntType}, {Name: "timed_out", Type: schema.BoolType}, {Name: "truncated", Type: schema.BoolType}}}
	args := make([]*ir.Template, 0, 5)
	for _, s := range []string{"python3", "-I", "-c", execute} {
		args = append(args, mixed(source.Text{Span: key.Span, Opaque: true}, []segment{{lit: s}}))
	}
	return &ir.Tool{Name: ir.Ident{Name: name, Span: key.Span}, Version: version, Key: key, Description: "Runs a program of Python in a sandbox.", Effects: ir.EffectsReads, EffectsSpan: key.Span,
		In: in, Out: out, OutSpan: key.Span, Binding: &ir.CommandTool{Args: append(args, valueOf(key.Span, "timeout_s")), Stdin: valueOf(key.Span, "code"), Format: ir.FormatJSON, Span: key.Span},
		Permissions: []string{execCapability}, Sandbox: ir.Ident{Name: "process", Span: key.Span}, Replay: "recorded-result", File: key.Span.File, Span: key.Span}
}

// valueOf is the text of a parameter.
func valueOf(at source.Span, name string) *ir.Template {
	w := newWriter(at)
	w.value(nameNode(name), name, "")
	return w.template()
}

// codeNode reads a task that a model writes a program for, which runs in the sandbox.
func (p *parser) codeNode(x *node, m dialect.Mapping) {
	input := p.one(x, m, "task")
	at := x.kind.Span
	timeout := p.seconds(m.Get("timeout_s"), at)
	p.question(x, m, "Write a program in Python that does the task, prints the result and ends with the exit code 0. It has the standard library, no network and no files. Answer with the program alone.", input, []output{
		{name: "code", typ: schema.StringType, doc: "the program"}, {name: "explanation", typ: schema.StringType, doc: "what it does, in one sentence"},
	})
	key := ir.Ident{Name: pythonExec, Span: at}
	run := p.tool(&key)
	p.denied(key, run)
	code := p.result(ir.Ident{Name: "code", Span: at}, schema.StringType)
	told := p.result(ir.Ident{Name: "run_result", Span: at}, run.Out)
	p.keeps(told, run.Out)
	verdict := p.result(ir.Ident{Name: "verdict", Span: at}, schema.StringType)
	write := x.lower
	x.lower = func() []*ir.Node {
		f := runtimeFunc(at, runtimePackage, "Program", "takes a program out of its fences.", schema.StringType, param("text", schema.StringType))
		bare := &ir.Node{ID: p.part(x, "program"), Span: x.at.Span,
			Verb: &ir.GoCall{Func: f, With: &ir.With{Span: at, Entries: []*ir.Entry{{Key: ir.Ident{Name: "text", Span: at}, Value: resultField(at, x.id.Name, "code")}}}}}
		bare.Set = []*ir.Set{p.set(code, at, result(at, bare.ID.Name), schema.StringType)}
		id := p.part(x, "run")
		call := &ir.Node{ID: id, Span: x.at.Span, Verb: &ir.ToolCall{Name: key, With: &ir.With{Span: at, Entries: []*ir.Entry{
			{Key: ir.Ident{Name: "code", Span: at}, Value: result(at, bare.ID.Name)}, {Key: ir.Ident{Name: "timeout_s", Span: at}, Value: timeout}}}}}
		f = runtimeFunc(at, runtimePackage, "Verdict", "says whether a program succeeded.", schema.StringType, param("exit_code", schema.IntType), param("timed_out", schema.BoolType))
		f.Bind.Err = false
		says := &ir.Node{ID: p.part(x, "verdict"), Span: x.at.Span, Verb: &ir.GoCall{Func: f, With: &ir.With{Span: at, Entries: []*ir.Entry{
			{Key: ir.Ident{Name: "exit_code", Span: at}, Value: resultField(at, id.Name, "exit_code")}, {Key: ir.Ident{Name: "timed_out", Span: at}, Value: resultField(at, id.Name, "timed_out")}}}}}
		says.Set = []*ir.Set{p.set(told, at, result(at, id.Name), run.Out), p.set(verdict, at, result(at, says.ID.Name), schema.StringType)}
		return append(write(), bare, call, says)
	}
}

// seconds is how long a program may run, 30 seconds unless something else is written.
func (p *parser) seconds(n *yamlnode.Node, at source.Span) *ir.Scalar {
	s := &ir.Scalar{Text: source.Text{Value: "30", Span: at, Opaque: true}, Tag: "!!int"}
	if n == nil {
		return s
	}
	v, ok := p.value(n).(*ir.Scalar)
	if ok && (v.Tag == "!!int" || v.Tag == "!!float") {
		if f, err := strconv.ParseFloat(v.Text.Value, 64); err == nil && f > 0 && f <= 600 {
			return v
		}
	}
	p.Error(diag.BadLiteral, dialect.Head(n), "", "`timeout_s` is a number of seconds above 0, at most 600")
	return s
}

var notKey = lazyregexp.New(`[^A-Za-z0-9_]+`)

// mlNode reads a node that asks a model of machine learning, which a tool stands for that is bound to its name.
func (p *parser) mlNode(x *node, m dialect.Mapping) {
	id, ok := p.Text(m.Get("model_id"), "`model_id`")
	version, versioned := p.Text(m.Get("version"), "`version`")
	if n := m.Get("runtime"); n != nil {
		p.Word(n, "`runtime`", "sklearn", "xgboost", "onnx")
	}
	p.Flag(m.Get("allow_unsafe_pickle"), "`allow_unsafe_pickle`", false)
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
		p.Error(diag.NotSupported, x.kind.Span, "bind a function that asks the model in flowgen.bindings.yaml next to this file: `"+key.Name+": {python: \"module:function\", in: {x: any}, out: any, effects: none}`",
			"files of models are not loaded: the tool `%s` is to ask it", key.Name)
		return
	}
	out := ir.Ident{Name: "y", Span: x.kind.Span}
	if n, ok := p.Text(m.Get("output_field"), "`output_field`"); ok {
		out = n
	}
	p.call(x, key, tool, []*argument{input}, out)
}
