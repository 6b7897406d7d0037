package native

import (
	"slices"
	"strings"
	"unicode"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// tools reads the tools of all files, in the order of the includes.
func (p *parser) tools() {
	main := p.file
	for _, t := range p.pending {
		p.file = t.file
		p.each(t.node, "tools", naming{}, func(key ir.Ident, v *yamlnode.Node) {
			name, version, ok := p.toolName(key, t.namespace)
			tool := &ir.Tool{Name: name, Version: version, Key: key, File: t.file, Span: key.Span}
			if ok && !p.declare("tool", ir.Ident{Name: tool.FullName(), Span: key.Span}) {
				return
			}
			p.wf.Tools = append(p.wf.Tools, tool)
			p.tool(tool, v)
		})
	}
	p.file = main
}

// toolName splits a key: a bare one is <namespace>.<key>@1. ok is false when that was reported.
func (p *parser) toolName(key ir.Ident, namespace string) (name ir.Ident, version string, ok bool) {
	full, version, versioned := strings.Cut(key.Name, "@")
	if !versioned {
		version = "1"
	}
	if digits := strings.TrimLeft(version, "0"); versioned && digits != version && plainNumber.MatchString(version) {
		if digits == "" {
			digits = "0"
		}
		if digits != version {
			p.report(diag.BadName, key.Span, "write `"+full+"@"+digits+"`", "versions are compared as they are written, and `%s` reads like `%s`", version, digits)
			return ir.Ident{Name: full, Span: key.Span}, version, false
		}
	}
	if versioned && (!versionForm.MatchString(version) || len(version) > maxName) {
		p.report(diag.BadName, key.Span, "write the version as in `search@2`", "a version is made of letters, digits, `.`, `+` and `-`")
		return ir.Ident{Name: full, Span: key.Span}, version, false
	}
	for _, part := range strings.Split(full, ".") {
		if !idForm.MatchString(part) || len(full) > 2*maxName {
			help := "write it as in `search`, `acme.search` or `acme.search@2`"
			if better := toID(full); !strings.Contains(full, ".") && idForm.MatchString(better) {
				help = "rename it to `" + better + "`, here and where it is used"
			}
			p.report(diag.BadName, key.Span, help, "the name of a tool is made of %s", idRule)
			if !strings.Contains(full, ".") {
				full = namespace + "." + full
			}
			return ir.Ident{Name: full, Span: key.Span}, version, false
		}
	}
	if !strings.Contains(full, ".") {
		full = namespace + "." + full
	}
	return ir.Ident{Name: full, Span: key.Span}, version, true
}

var plainNumber = lazyregexp.New(`^[0-9]+$`)

// bindings are the keys that say what a tool runs as.
var bindings = []string{"go", "command", "shell", "http", "openapi", "sql", "python", "js", "mcp", "starlark", "wasm"}

func (p *parser) tool(t *ir.Tool, n *yamlnode.Node) {
	m, ok := p.mapping(n, shapeTool)
	if !ok {
		return
	}
	p.exactlyOne(m, t.Key, "tool", bindings...)
	kind := ""
	for _, k := range bindings {
		if m.has(k) {
			kind = k
			break
		}
	}
	p.belongs(m, kind)
	p.toolMeta(t, m)
	t.SandboxAt = insertion(n, "sandbox")
	if in := m.get("in"); in != nil {
		switch {
		case in.Kind == yamlnode.Mapping:
			rule := fieldID
			if m.get("js") != nil {
				rule = argumentID
			}
			t.In = &schema.Type{Kind: schema.Struct, Fields: p.fields(in, "in", rule)}
		case kind == "python" && in.Kind == yamlnode.Scalar && in.Text.Value == "any":
			t.In = schema.AnyType
		default:
			p.wrongShape(in, "`in` is a mapping of fields", "write `in: {q: string}`")
		}
	}
	if out := m.get("out"); out != nil {
		t.OutSpan = out.Span
		if kind != "command" && kind != "shell" {
			t.Out = p.typeOf(out)
		}
	}
	if v := m.get(kind); v != nil {
		p.binding(t, m, kind, v)
	}
}

// owners names the binding that a key of a tool goes with.
var owners = map[string][]string{
	"stdin": {"command", "shell"}, "env": {"command", "shell"}, "dir": {"command", "shell"},
	"engine": {"js"}, "venv": {"python"},
	"auth": {"go", "command", "shell", "http", "openapi", "python", "js", "mcp", "starlark"}, // a WebAssembly module reaches nothing that wants a secret
}

// belongs reports keys of another binding.
func (p *parser) belongs(m mapping, kind string) {
	if kind == "" {
		return
	}
	for _, e := range m.node.Entries {
		name := e.Key.Text.Value
		if with := owners[name]; with != nil && !slices.Contains(with, kind) {
			p.keyOf(with, e.Key.Span, name, "a `"+kind+"` tool")
			delete(m.values, name)
		}
	}
}

func (p *parser) toolMeta(t *ir.Tool, m mapping) {
	t.Description = p.prose(m.get("description"), "the description")
	if v := m.get("effects"); v != nil {
		t.Effects = effectKinds[p.word(v, "`effects`", effectWords...)]
		t.EffectsSpan = v.Span
	}
	if v := m.get("max_output"); v != nil {
		t.MaxOutput = p.size(v, "`max_output`")
	}
	if v := m.get("approve"); v != nil {
		t.Approve = p.word(v, "`approve`", "true", "false") == "true"
	}
	t.Timeout = p.timeout(m.get("timeout"))
	if v := m.get("status"); v != nil {
		t.State = p.word(v, "`status`", toolStates...)
	}
	if v := m.get("replay"); v != nil {
		t.Replay = p.word(v, "`replay`", replayWords...)
	}
	t.Permissions = p.capabilities(m.get("permissions"), "a permission", false)
	p.cache(t, m.get("cache"))
	if v := m.get("rate"); v != nil {
		t.Rate = p.rate(v, "`rate`")
	}
	t.Queue = p.queue(m.get("queue"))
	if v := m.get("cost_usd"); v != nil {
		t.CostUSD = p.money(v, "`cost_usd`")
	}
	p.idempotency(t, m.get("idempotency_key"))
	t.InDoubt = p.doubt(m.get("on_in_doubt"))
	p.examples(t, m.get("examples"))
	if v := m.get("category"); v != nil {
		t.Category = p.word(v, "`category`", ir.Categories...)
	}
	t.Tags = p.strs(m.get("tags"), "a tag")
	t.Auth = p.auth(m.get("auth"))
	if v := m.get("sandbox"); v != nil {
		t.Sandbox = ir.Ident{Name: p.word(v, "a sandbox tier", sandboxWords...), Span: v.Place()}
		if t.Sandbox.Name == "none" {
			t.Sandbox.Name = "native"
		}
	}
}

// insertion says how a key is added to a mapping, before its first.
func insertion(n *yamlnode.Node, key string) ir.Insertion {
	if len(n.Entries) == 0 {
		return ir.Insertion{}
	}
	first := n.Entries[0].Key
	at := first.Span
	at.Hi = at.Lo
	if n.Style == yamlnode.Flow {
		if strings.HasPrefix(first.Span.Text(), `"`) { // JSON
			return ir.Insertion{At: at, Before: `"` + key + `": "`, After: `", `}
		}
		return ir.Insertion{At: at, Before: key + ": ", After: ", "}
	}
	line := at.File.Text[:at.Lo]
	indent := line[strings.LastIndexByte(line, '\n')+1:]
	if strings.TrimLeft(indent, " ") != "" { // after a dash, a tag or an anchor
		return ir.Insertion{}
	}
	return ir.Insertion{At: at, Before: key + ": ", After: "\n" + indent}
}

var (
	toolStates  = ir.ToolStates
	replayWords = ir.ReplayWords
	cacheWords  = []string{"none", "forever"}
	htmlWords   = []string{"text"}
	extraWords  = []string{"ignore", "refuse"}
	methodWords = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
)

func (p *parser) cache(t *ir.Tool, n *yamlnode.Node) {
	switch {
	case n == nil:
	case n.Kind == yamlnode.Scalar:
		t.Cache = p.word(n, "`cache`", cacheWords...)
	default:
		if m, ok := p.mapping(n, shapeCache); ok {
			if t.CacheTTL = p.duration(m.get("ttl"), "`ttl`"); t.CacheTTL != nil {
				t.Cache = "ttl"
			}
		}
	}
}

// binding reads the value of the key that says what the tool runs as.
func (p *parser) binding(t *ir.Tool, m mapping, kind string, v *yamlnode.Node) {
	if p.file.Module != "" && slices.Contains([]string{"openapi", "sql", "python", "js", "starlark", "wasm"}, kind) {
		p.report(diag.ModuleTool, m.keys[kind].Span, "write it as a Go function of the module, or copy this file into the project", "a file of a Go module cannot have a tool with `%s`", kind)
		return
	}
	switch kind {
	case "go":
		if text, ok := p.text(v, "a Go function"); ok && text.Value == ir.Slot {
			t.Binding = &ir.SlotTool{Name: t.Name}
		} else if ok {
			t.Binding = &ir.GoTool{Func: &ir.GoFunc{Ref: p.goRef(text, "Func")}}
		}
	case "command", "shell":
		p.command(t, m, kind, v)
	case "http":
		p.http(t, v)
	case "openapi":
		p.openapi(t, v)
	case "sql":
		p.sql(t, v)
	case "python":
		if text, ok := p.text(v, "a Python function"); ok {
			id := ir.Ident{Name: text.Value, Span: textSpan(text)}
			if mod, fn, _ := strings.Cut(text.Value, ":"); !pythonName(mod, true) || !pythonName(fn, false) {
				id.Name = "" // a reference to nothing: that is the one mistake
				p.report(diag.BadLiteral, id.Span, "write it as in `\"package.module:function\"`", "a Python function is `module:function`, not `%s`", shorten(text.Value))
			}
			py := &ir.PythonTool{Ref: id}
			if venv := m.get("venv"); venv != nil {
				py.Venv = p.ref(venv, "a folder")
			}
			t.Binding = py
		}
	case "js":
		js := &ir.JSTool{Path: p.ref(v, "a file")}
		if js.Path.Name != "" && !hasSuffix(js.Path.Name, ".js", ".mjs", ".ts") {
			p.report(diag.BadLiteral, js.Path.Span, "name a file that ends in `.mjs`, `.js` or `.ts`", "`%s` is not a JavaScript or TypeScript module", shorten(js.Path.Name))
			js.Path.Name = "" // a reference to nothing: that is the one mistake
		}
		if e := m.get("engine"); e != nil {
			js.Engine = p.word(e, "`engine`", engineWords...)
		}
		t.Binding = js
	case "mcp":
		if text, ok := p.text(v, "a tool of a server"); ok {
			t.Binding = p.mcp(text)
		}
	case "starlark":
		t.Binding = &ir.StarlarkTool{Path: p.ref(v, "a file")}
	case "wasm":
		if text, ok := p.text(v, "a WebAssembly module"); ok {
			t.Binding = p.wasm(text)
		}
	}
}

// wasm reads `./tool.wasm` or `./tool.wasm#export`.
func (p *parser) wasm(text source.Text) *ir.WasmTool {
	b := &ir.WasmTool{Path: ir.Ident{Name: text.Value, Span: textSpan(text)}}
	file, export, named := strings.Cut(text.Value, "#")
	if !strings.HasSuffix(file, ".wasm") || named && export == "" {
		p.report(diag.BadLiteral, b.Path.Span, "write it as in `./score.wasm`, or `./text.wasm#score` for one function of it", "a WebAssembly module is `file.wasm` or `file.wasm#export`, not `%s`", shorten(text.Value))
		b.Path.Name = "" // a reference to nothing: that is the one mistake
		return b
	}
	if named {
		b.Path = ir.Ident{Name: file, Span: text.At(0, len(file))}
		b.Export = ir.Ident{Name: export, Span: text.At(len(file)+1, len(text.Value))}
	}
	return b
}

// pythonName reports whether s can be the name of something in Python, with dots between its parts when it is a module's.
func pythonName(s string, dotted bool) bool {
	if dotted {
		for part := range strings.SplitSeq(s, ".") {
			if !pythonName(part, false) {
				return false
			}
		}
		return true
	}
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc)) {
			return false
		}
	}
	return s != ""
}

var engineWords = []string{"node", "embedded"}

func hasSuffix(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(x string) bool { return strings.HasSuffix(s, x) })
}

// command reads argv, or a script for the shell with its arguments.
func (p *parser) command(t *ir.Tool, m mapping, kind string, v *yamlnode.Node) {
	c := &ir.CommandTool{Shell: kind == "shell", Span: v.Span}
	t.Binding = c
	switch {
	case v.Kind == yamlnode.Sequence:
		for i, it := range v.Items {
			if a := p.argument(it, c.Shell && i == 0); a != nil {
				c.Args = append(c.Args, a)
			}
		}
		if len(v.Items) == 0 {
			p.report(diag.WrongShape, headSpan(v), "", "`%s` is a list that starts with what to run, this list is empty", kind)
		}
	case c.Shell && v.Kind == yamlnode.Scalar:
		if a := p.argument(v, true); a != nil {
			c.Args = append(c.Args, a)
		}
	default:
		p.notArgv(v)
	}
	if s := m.get("stdin"); s != nil {
		c.Stdin = p.textOnly(s, "`stdin`")
	}
	if d := m.get("dir"); d != nil {
		c.Dir = p.textOnly(d, "`dir`")
	}
	p.each(m.get("env"), "env", variableName, func(id ir.Ident, v *yamlnode.Node) {
		if v.Kind == yamlnode.Mapping {
			if secret, ok := p.envSecret(v); ok {
				c.Env = append(c.Env, ir.EnvVar{Name: id, Secret: secret})
			}
			return
		}
		if x := p.textOnly(v, "the value of a variable"); x != nil {
			c.Env = append(c.Env, ir.EnvVar{Name: id, Value: x})
		}
	})
	p.commandOut(t, c, m.get("out"))
}

// notArgv reports a command that is not a list; one made of plain words is easily split.
func (p *parser) notArgv(v *yamlnode.Node) {
	d := diag.Diagnostic{Code: diag.WrongShape, Span: headSpan(v), Message: "`command` is a list of arguments", Help: "write `[git, log]`, or use `shell:` for a script"}
	if v.Kind == yamlnode.Scalar && !strings.ContainsAny(v.Text.Value, "{}[],:#&*!|>'\"%@`$;<()\\~?\n\r\t") {
		if words := strings.Fields(v.Text.Value); len(words) > 0 {
			d.Help = "replace with `[" + strings.Join(words, ", ") + "]`, or use `shell:` for a script"
			if v.Style != yamlnode.Plain {
				words = strings.Fields(`"` + strings.Join(words, `" "`) + `"`)
			}
			list := "[" + strings.Join(words, ", ") + "]"
			d.Fixes = []diag.Fix{{Title: "replace with `" + list + "`", Edits: []diag.Edit{{Span: v.Span, New: list}}}}
		}
	}
	p.say(d)
}

// argument reads one element of argv. Into a script nothing is inserted: values are its arguments.
func (p *parser) argument(n *yamlnode.Node, script bool) *ir.Template {
	if !script || !isScalar(n) {
		return p.textOnly(n, "an argument")
	}
	t := n.Text
	if at := strings.Index(t.Value, "{{"); at >= 0 {
		hi := len(t.Value)
		if end := strings.Index(t.Value[at:], "}}"); end > 0 {
			hi = at + end + 2
		}
		p.report(diag.NotConstant, t.At(at, hi), "pass it as an argument: `shell: ['wc -l \"$1\"', \"{{ path }}\"]`", "values cannot be inserted into a shell script")
		return nil
	}
	return p.template(t) // a dollar is the shell's
}

// outWords are where a command's type could.
var outWords = []string{"lines", "none"}

// commandOut says how the output is read: text unless a type or `lines` says otherwise.
func (p *parser) commandOut(t *ir.Tool, c *ir.CommandTool, n *yamlnode.Node) {
	switch {
	case n == nil:
		t.Out = schema.StringType
	case isScalar(n) && n.Text.Value == "lines":
		c.Format, t.Out = ir.FormatLines, schema.ListOf(schema.StringType)
	case isScalar(n) && n.Text.Value == "none":
		c.Format, t.Out = ir.FormatNone, schema.EmptyType
	default:
		p.words = outWords
		t.Out = p.typeOf(n)
		p.words = nil
		if t.Out.Kind != schema.String {
			c.Format = ir.FormatJSON
		}
	}
}

// http reads "METHOD URL" or {method, url, headers, query, body}.
func (p *parser) http(t *ir.Tool, v *yamlnode.Node) {
	h := &ir.HTTPTool{Method: "GET", Span: v.Span}
	t.Binding = h
	if isScalar(v) {
		text := v.Text
		method, url, ok := strings.Cut(text.Value, " ")
		if !ok {
			p.report(diag.BadLiteral, textSpan(text), "write it as in `GET https://example.com/items/{id}`", "a request is a method and a URL")
			return
		}
		h.Method = p.oneOf(ir.Ident{Name: method, Span: text.At(0, len(method))}, "the method", methodWords)
		lo := len(text.Value) - len(strings.TrimLeft(url, " "))
		h.URL = p.url(cut(text, lo, len(text.Value)))
		return
	}
	m, ok := p.mapping(v, shapeHTTP)
	if !ok {
		return
	}
	if x := m.get("method"); x != nil {
		h.Method = p.word(x, "the method", methodWords...)
	}
	if x := m.get("url"); x != nil {
		if isScalar(x) {
			h.URL = p.url(x.Text)
		} else {
			p.wrongShape(x, "`url` is text", "")
		}
	}
	if x := m.get("base"); x != nil {
		h.Base = p.envVariable(x)
	}
	h.Headers = p.params(m.get("headers"), "headers", headerName, false)
	h.Query = p.params(m.get("query"), "query", naming{}, true)
	h.Body = p.value(m.get("body"))
	if x := m.get("html"); x != nil {
		h.HTMLText = p.word(x, "`html`", htmlWords...) == "text"
	}
	if x := m.get("extra"); x != nil {
		h.RefuseExtra = p.word(x, "`extra`", extraWords...) == "refuse"
	}
}

// openapi reads {spec, operation, base}.
func (p *parser) openapi(t *ir.Tool, v *yamlnode.Node) {
	b := &ir.OpenAPITool{}
	t.Binding = b
	m, ok := p.mapping(v, shapeOpenAPI)
	if !ok {
		return
	}
	if x := m.get("spec"); x != nil {
		b.Spec = p.ref(x, "a file")
	}
	if x := m.get("operation"); x != nil {
		b.Operation = p.ref(x, "an operation")
	}
	if x := m.get("base"); x != nil {
		b.Base = p.envVariable(x)
	}
}

// sql reads {db, schema, query, rows, max_rows}.
func (p *parser) sql(t *ir.Tool, v *yamlnode.Node) {
	b := &ir.SQLTool{Engine: "sqlite"}
	t.Binding = b
	m, ok := p.mapping(v, shapeSQL)
	if !ok {
		return
	}
	if x := m.get("db"); x != nil {
		b.DB = p.ref(x, "the name of a secret")
		t.Auth = &ir.Auth{Kind: "address", Secret: b.DB}
	}
	if x := m.get("engine"); x != nil {
		b.Engine = p.word(x, "`engine`", sqlWords...)
	}
	switch x := m.get("schema"); {
	case x != nil && b.Engine == "postgres":
		p.report(diag.WrongShape, m.keys["schema"].Span, "remove it, and declare `in` and `out`", "`schema` is read for SQLite only")
	case x != nil:
		b.Schema = p.ref(x, "a file or a folder")
	case b.Engine == "sqlite" && !m.has("schema"):
		p.report(diag.MissingKey, headSpan(v), "name the file that makes the tables, or the folder of migrations", "a statement for SQLite has no `schema`")
	}
	if x := m.get("query"); x != nil {
		if !isScalar(x) {
			p.wrongShape(x, "`query` is text", "")
		} else if at := strings.Index(x.Text.Value, "{{"); at >= 0 {
			p.report(diag.NotConstant, x.Text.At(at, at+2), "write `{x}`: the field x is bound as a parameter", "values cannot be inserted into a statement")
		} else {
			b.Query = x.Text
		}
	}
	if x := m.get("rows"); x != nil {
		b.Rows, b.RowsAt = p.word(x, "`rows`", rowWords...), textSpan(x.Text)
	}
	if x := m.get("max_rows"); x != nil {
		b.MaxRows, _ = p.count(x, "`max_rows`", 1)
	}
}

var rowWords, sqlWords = []string{"many", "one"}, []string{"sqlite", "postgres"}

// envVariable reads the name of a variable of the environment.
func (p *parser) envVariable(n *yamlnode.Node) ir.Ident {
	id := p.ref(n, "the name of a variable")
	if id.Name != "" {
		p.checkName(id, variableName)
	}
	return id
}

// url reads a URL, in which {x} stands for the field x.
func (p *parser) url(t source.Text) *ir.Template {
	if at := strings.Index(t.Value, "{{"); at >= 0 {
		p.report(diag.NotConstant, t.At(at, at+2), "write `{x}`, or `{+x}` to keep slashes", "a field is written in single braces in a URL")
		return nil
	}
	return p.template(t)
}

// params reads headers, or the parameters of a URL: text, `$x`, or a list of them for a name that occurs several times.
func (p *parser) params(n *yamlnode.Node, what string, rule naming, lists bool) []ir.Param {
	var out []ir.Param
	p.each(n, what, rule, func(id ir.Ident, v *yamlnode.Node) {
		if !lists || v.Kind != yamlnode.Sequence {
			if x := p.param(v, "`"+id.Name+"`"); x != nil {
				out = append(out, ir.Param{Name: id, Value: x})
			}
			return
		}
		list := &ir.List{Span: v.Span}
		for _, it := range v.Items {
			if x := p.param(it, "an item of `"+id.Name+"`"); x != nil {
				list.Items = append(list.Items, x)
			}
		}
		out = append(out, ir.Param{Name: id, Value: list})
	})
	return out
}

// param reads text or an expression. A constant is text, whatever YAML says that it is.
func (p *parser) param(n *yamlnode.Node, what string) ir.Value {
	if isScalar(n) && strings.HasPrefix(n.Text.Value, "$") && !strings.HasPrefix(n.Text.Value, "$$") {
		return p.expr(n)
	}
	if x := p.textOnly(n, what); x != nil {
		return x
	}
	return nil
}
