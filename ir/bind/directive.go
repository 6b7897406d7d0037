package bind

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A Go author can say next to the function what a workflow file says under `tools:` (ToolSpec):
//
//	//flowgen:tool effects=reads permissions=tools:search,net:out cost_usd=0.002 cache=10m
//	//flowgen:tool example={"in": {"q": "go"}, "out": ["go.dev"]}
//
// The file wins where both speak, but can only narrow: it adds permissions and removes none, and it does not make a tool
// more harmless, more available or its output larger than the author says.
const directivePrefix = "//flowgen:"

// directives reads the comments of a function. What is wrong with their form is reported.
func (r *resolver) directives(file *goFile, decl *ast.FuncDecl) []ir.Directive {
	if decl.Doc == nil {
		return nil
	}
	var out []ir.Directive
	for _, c := range decl.Doc.List {
		rest, ok := strings.CutPrefix(c.Text, directivePrefix)
		if !ok {
			continue
		}
		lo := file.fset.PositionFor(c.Pos(), false).Offset + len(directivePrefix)
		at := func(from, to int) source.Span { return source.Span{File: file.text, Lo: lo + from, Hi: lo + to} }
		word := rest
		if i := strings.IndexAny(rest, " \t"); i >= 0 {
			word = rest[:i]
		}
		if word != "tool" {
			r.misused(ir.Ident{Name: word, Span: at(0, len(word))}, "unknown directive "+quote(word), "write `//flowgen:tool key=value ...`")
			continue
		}
		out = append(out, r.pairs(rest, len(word), at)...)
	}
	return out
}

// pairs reads key=value after the word of a directive, from byte i of its text.
func (r *resolver) pairs(text string, i int, at func(from, to int) source.Span) []ir.Directive {
	var out []ir.Directive
	for {
		for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r') {
			i++
		}
		if i == len(text) {
			return out
		}
		end := i + strings.IndexAny(text[i:]+" ", "= \t")
		key := ir.Ident{Name: text[i:end], Span: at(i, max(end, i+1))}
		if end == len(text) || text[end] != '=' {
			r.misused(key, quote(key.Name)+" has no value", "write `"+key.Name+"=...`, without spaces around `=`")
			return out
		}
		value, n := directiveValue(key.Name, text[end+1:])
		d := ir.Directive{Key: key, Value: ir.Ident{Name: value, Span: at(end+1, end+1+max(n, 1))}}
		if n < 0 {
			d.Value.Span = at(end+1, len(text))
			r.misused(d.Value, "the value of "+quote(key.Name)+" does not end, or is not JSON", "quote a value with spaces: `key=\"a b\"`")
			return out
		}
		out, i = append(out, d), end+1+n
	}
}

// directiveValue is the value at the beginning of text and its length: JSON for an example, text in quotes, or all until
// the next space. The length is -1 when it cannot be read.
func directiveValue(key, text string) (value string, n int) {
	if key == "example" {
		dec := json.NewDecoder(strings.NewReader(text))
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return "", -1
		}
		return string(raw), int(dec.InputOffset())
	}
	if strings.HasPrefix(text, `"`) {
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			return "", -1
		}
		value, err = strconv.Unquote(quoted)
		if err != nil {
			return "", -1
		}
		return value, len(quoted)
	}
	n = strings.IndexAny(text+" ", " \t\r")
	return text[:n], n
}

// misused reports what is wrong with a directive, at its place in Go.
func (r *resolver) misused(at ir.Ident, message, help string, related ...diag.Related) {
	r.fail(diag.Diagnostic{Code: diag.SourceSpec, Span: at.Span, Message: message, Help: help, Related: related})
}

// directiveKeys are what a directive can say. Each gives the value to the tool, unless the file has said more, and
// returns what is wrong with the value.
var directiveKeys = map[string]func(*described, string) string{
	"effects":         (*described).effects,
	"replay":          func(d *described, v string) string { return d.word(&d.tool.Replay, v, ir.ReplayWords) },
	"permissions":     (*described).permissions,
	"idempotency_key": (*described).idempotency,
	"cost_usd": func(d *described, v string) string {
		return d.form(&d.tool.CostUSD, v, ir.MoneyForm.MatchString, "an amount of dollars like 0.002")
	},
	"rate": func(d *described, v string) string {
		return d.form(&d.tool.Rate, v, ir.RateForm.MatchString, "a number of calls per time like 5/s")
	},
	"cache":      (*described).cache,
	"category":   func(d *described, v string) string { return d.word(&d.tool.Category, v, ir.Categories) },
	"tags":       (*described).tags,
	"status":     (*described).status,
	"max_output": (*described).maxOutput,
	"example":    (*described).example,
}

// described is a tool that takes over what its function's directives say.
type described struct {
	tool *ir.Tool
	bind *ir.GoBinding
	fail func(at source.Span, message, help string) // at the place in the workflow file
	at   source.Span                                // of the value in Go
	open map[string]bool                            // lists that the file did not write
}

// describeTool applies the directives of a tool's function.
func (r *resolver) describeTool(f *ref, b *ir.GoBinding) {
	if len(b.Directives) == 0 {
		return
	}
	use := diag.Related{Span: f.span(), Message: "the tool is declared here"}
	d := &described{tool: f.tool, bind: b, open: map[string]bool{"tags": f.tool.Tags == nil, "examples": f.tool.Examples == nil}}
	d.fail = func(at source.Span, message, help string) {
		r.fail(diag.Diagnostic{Code: diag.GoDeclared, Span: at, Message: message, Help: help, Related: []diag.Related{{Span: d.at, Message: "it is said here"}}})
	}
	seen := map[string]source.Span{}
	for _, x := range b.Directives {
		d.at = x.Value.Span
		set := directiveKeys[x.Key.Name]
		switch first, dup := seen[x.Key.Name]; {
		case set == nil:
			names := sortedKeys(directiveKeys)
			help := "the keys are " + strings.Join(names, ", ")
			if near := diag.Nearest(x.Key.Name, names); near != "" && diag.Close(x.Key.Name, near) {
				help = "replace with `" + near + "`"
			}
			r.misused(x.Key, "a tool has no "+quote(x.Key.Name), help, use)
			continue
		case dup && x.Key.Name != "example":
			r.misused(x.Key, quote(x.Key.Name)+" appears twice", "remove one", diag.Related{Span: first, Message: "first listed here"}, use)
			continue
		}
		seen[x.Key.Name] = x.Key.Span
		if wrong := set(d, x.Value.Name); wrong != "" {
			r.misused(x.Value, quote(x.Key.Name)+" is "+wrong, "", use)
		}
	}
}

func (d *described) word(field *string, v string, words []string) string {
	if !slices.Contains(words, v) {
		return strings.Join(words, ", ") + "; not " + quote(v)
	}
	if *field == "" {
		*field = v
	}
	return ""
}

func (d *described) form(field *string, v string, ok func(string) bool, what string) string {
	if !ok(v) {
		return what + ", not " + quote(v)
	}
	if *field == "" {
		*field = v
	}
	return ""
}

// effects: a file that says a function is more harmless than its author does is wrong.
func (d *described) effects(v string) string {
	e, ok := ir.EffectWords[v]
	if !ok {
		return "none, reads, writes or external; not " + quote(v)
	}
	if d.tool.Effects == ir.EffectsUnset {
		d.tool.Effects = e
	} else if d.tool.Effects < e {
		d.fail(d.tool.EffectsSpan, fmt.Sprintf("effects are declared %s, but %s.%s says %s", d.tool.Effects, d.bind.Package, d.bind.Func, e),
			"declare `"+e.String()+"`, or leave the declaration out")
	}
	return ""
}

// permissions of both add up: a claim that the author makes cannot be dropped.
func (d *described) permissions(v string) string {
	for _, claim := range strings.Split(v, ",") {
		if !ir.IsCapability(claim, false) {
			return "a list of capabilities like tools:search,net:out, not " + quote(v)
		}
		if !slices.Contains(d.tool.Permissions, claim) {
			d.tool.Permissions = append(d.tool.Permissions, claim)
		}
	}
	return ""
}

func (d *described) idempotency(v string) string {
	if v != "call_id" {
		return "call_id, not " + quote(v)
	}
	d.tool.Idempotency = true
	return ""
}

func (d *described) cache(v string) string {
	ttl, ok := ir.ParseDuration(v)
	if !ok && v != "none" && v != "forever" || ok && ttl <= 0 {
		return "none, forever or a duration like 10m, not " + quote(v)
	}
	switch {
	case d.tool.Cache != "":
	case ok:
		d.tool.Cache, d.tool.CacheTTL = "ttl", &ir.Duration{Value: ttl, Span: d.at}
	default:
		d.tool.Cache = v
	}
	return ""
}

func (d *described) tags(v string) string {
	list := strings.Split(v, ",")
	if slices.Contains(list, "") {
		return "a list of words like a,b, not " + quote(v)
	}
	if d.open["tags"] {
		d.tool.Tags = list
	}
	return ""
}

// state: what the author has deprecated or blocked stays so.
func (d *described) status(v string) string {
	at := slices.Index(ir.ToolStates, v)
	if at < 0 {
		return strings.Join(ir.ToolStates, ", ") + "; not " + quote(v)
	}
	if at > slices.Index(ir.ToolStates, d.tool.State) {
		d.tool.State = v
	}
	return ""
}

func (d *described) maxOutput(v string) string {
	n, ok := ir.ParseSize(v)
	if !ok {
		return "a size like 64KiB, not " + quote(v)
	}
	if d.tool.MaxOutput == 0 || n < d.tool.MaxOutput {
		d.tool.MaxOutput = n
	}
	return ""
}

// example reads {"in": {...}, "out": ..., "description": "..."}; check holds it to the function's types.
func (d *described) example(v string) string {
	var x struct {
		In          json.RawMessage `json:"in"`
		Out         json.RawMessage `json:"out"`
		Description string          `json:"description"`
	}
	dec := json.NewDecoder(strings.NewReader(v))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&x); err != nil || x.In != nil && x.In[0] != '{' {
		return `an object {"in": {...}, "out": ...}`
	}
	if !d.open["examples"] {
		return ""
	}
	e := &ir.Example{Description: x.Description, Span: d.at}
	read := newJSONReader(d.at, v)
	_, _, _ = read.token() // {
	for read.dec.More() {
		key, _, _ := read.token()
		name, _ := key.(string)
		switch value := read.value(); {
		case strings.EqualFold(name, "in"): // as encoding/json has it
			e.InJSON, e.In = d.constant(x.In), value
		case strings.EqualFold(name, "out"):
			e.OutJSON, e.Out = d.constant(x.Out), value
		}
	}
	d.tool.Examples = append(d.tool.Examples, e)
	return ""
}

// constant is JSON on one line.
func (d *described) constant(raw json.RawMessage) *schema.Default {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return nil // it was decoded before
	}
	return &schema.Default{JSON: b.String(), Span: d.at}
}
