package codegen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/hashes"
	"github.com/flowgen-dev/flowgen/ir/manifest"
	"github.com/flowgen-dev/flowgen/ir/plan"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// The facts of a program (flow.Facts) are in a JSON file next to its Go: what the program answers to `plan` and
// `manifest`, the versions of its nodes, and the schemas that models receive. Nobody reads these as code, and the file is
// laid out so that the diff of an edit shows what the edit changed.

// factsMark is how such a file begins.
const factsMark = "{\n  \"generated\": \"by flowgen from "

// factsAsset is the file.
func (g *generator) factsAsset() Asset {
	var b bytes.Buffer
	source := factsString(path.Base(g.p.WF.File.Name) + "; do not edit")
	b.WriteString(factsMark + source[1:] + ",\n")
	part := func(name, text, end string) {
		b.WriteString("  " + factsString(name) + ": ")
		arrange(&b, text, 2, len(name)+6)
		b.WriteString(end)
	}
	schemas := g.factSchemas()
	part("plan", plan.Of(g.p).JSON(), ",\n")
	part("manifest", manifest.Of(g.p).JSON(), ",\n")
	if len(schemas) > 0 {
		part("hashes", hashes.Of(g.p).JSON(), ",\n")
		text, _ := json.Marshal(schemas)
		part("schemas", string(text), "\n}\n")
	} else {
		part("hashes", hashes.Of(g.p).JSON(), "\n}\n")
	}
	return Asset{Name: g.stem() + ".json", Begins: factsMark, Data: b.Bytes()}
}

// facts declares the variable that has the file.
func (g *generator) facts() {
	file := g.declare("factsJSON", func(name string) string { return name + "_" })
	g.file.Line()
	g.file.Comment("What the program knows of itself: its plan and manifest, the versions of its nodes, schemas for models.")
	g.file.Comment("//")
	g.file.Add(embedDirective(g.stem() + ".json"))
	g.file.Var().Id(ident(file)).String()
	g.file.Line()
	g.file.Var().Id(ident(g.factsName())).Op("=").Qual(flowPath, "NewFacts").Call(jen.Id(ident(file)))
	if !slices.ContainsFunc(g.pythons, func(s *pySource) bool { return s.files != "" }) {
		g.file.Anon("embed")
	}
}

// factsName is the name of the variable.
func (g *generator) factsName() string {
	if g.factsVar == "" {
		g.factsVar = g.declare("facts", func(name string) string { return name + "_" })
	}
	return g.factsVar
}

// schema is the text of a schema among the facts.
func (g *generator) schema(text string) jen.Code {
	g.factSchemas()
	return jen.Id(ident(g.factsName())).Dot("Schema").Call(quote(g.schemaKeys[text]))
}

// factSchemas are the schemas that models receive, by the names that the program calls them: those of the nodes whose
// answers have to fit, and of the tools that take such an input. Equal ones are one.
func (g *generator) factSchemas() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	g.schemaKeys = map[string]string{}
	add := func(name, text string) {
		if text == "" || g.schemaKeys[text] != "" {
			return
		}
		for base, n := name, 2; out[name] != nil; n++ { // a node and a tool may have one name
			name = base + "_" + strconv.Itoa(n)
		}
		out[name] = json.RawMessage(text)
		g.schemaKeys[text] = name
	}
	for _, s := range g.p.Table {
		if g.p.Names.Schemas[s] != "" {
			add(s.Node.ID.Name, answerSchema(s))
		}
		for _, a := range s.Answers() {
			add(a.Name, a.JSON)
		}
	}
	for _, s := range g.p.Table {
		if s.Agent != nil {
			for _, x := range s.Agent.Tools {
				if len(x.Fixed) > 0 {
					add(x.Name, schema.JSONSchema(x.Free()))
				} else {
					add(x.Tool.Key.Name, inputSchema(x.Tool))
				}
			}
		}
	}
	return out
}

// answerSchema is what the answer of a node's model has to fit.
func answerSchema(s *check.Step) string {
	if s.Agent != nil {
		return schema.JSONSchema(s.Agent.Answer)
	}
	return schema.JSONSchema(s.Ask.Answer)
}

// inputSchema is what models are told about the input of a tool.
func inputSchema(t *ir.Tool) string {
	in := t.In
	if in != nil && in.Kind == schema.Any { // of a dialect with dynamic data: what its source says
		in = nil
		if t.Def != nil {
			in = t.Def.In
		}
	}
	if in == nil {
		in = schema.EmptyType
	}
	return schema.JSONSchema(in)
}

// layoutWidth is how wide a value may be that is on one line.
const layoutWidth = 110

// arrange writes JSON so that a change of a value changes few lines: a value that fits is on one line, another has a line
// or more for each of its parts. at is where the line is when the value begins.
func arrange(b *bytes.Buffer, text string, indent, at int) {
	r := orderedReader{text: text}
	v := r.value()
	v.write(b, indent, at)
}

// ordered is a value of JSON with its keys in the order of the text.
type ordered struct {
	open, shut byte // of an object or list; 0: a scalar
	flat       string
	keys       []string
	kids       []ordered
}

// orderedReader reads what a JSON encoder wrote. A decoder of tokens takes several times as long, and large files have many.
type orderedReader struct {
	text string
	i    int
}

// next skips blanks and returns the byte behind them.
func (r *orderedReader) next() byte {
	for strings.IndexByte(" \t\r\n", r.text[r.i]) >= 0 {
		r.i++
	}
	return r.text[r.i]
}

func (r *orderedReader) value() ordered {
	c := r.next()
	if c != '{' && c != '[' {
		return ordered{flat: r.scalar()}
	}
	v := ordered{open: c, shut: c + 2} // of both pairs in ASCII
	for r.i++; r.next() != v.shut; {
		if r.text[r.i] == ',' {
			r.i++
			r.next()
		}
		if c == '{' {
			v.keys = append(v.keys, r.scalar()+": ")
			r.next()
			r.i++ // the colon
		}
		v.kids = append(v.kids, r.value())
	}
	r.i++
	v.flatten()
	return v
}

// scalar reads a string, a number or a word.
func (r *orderedReader) scalar() string {
	from := r.i
	if r.text[from] != '"' {
		for r.i < len(r.text) && strings.IndexByte(",:]} \t\r\n", r.text[r.i]) < 0 {
			r.i++
		}
		return r.text[from:r.i]
	}
	for r.i++; r.text[r.i] != '"'; r.i++ {
		if r.text[r.i] == '\\' {
			r.i++
		}
	}
	r.i++
	s := r.text[from+1 : r.i-1]
	if strings.Contains(s, `\`) {
		if err := json.Unmarshal([]byte(r.text[from:r.i]), &s); err != nil {
			panic(err) // text of a JSON encoder
		}
	}
	return factsString(s)
}

// flatten keeps the value on one line, where that is short enough to matter.
func (v *ordered) flatten() {
	line := []byte{v.open}
	for i, k := range v.kids {
		if k.flat == "" {
			return
		}
		if i > 0 {
			line = append(line, ", "...)
		}
		if v.keys != nil {
			line = append(line, v.keys[i]...)
		}
		if line = append(line, k.flat...); len(line) > 4*layoutWidth {
			return
		}
	}
	v.flat = string(append(line, v.shut))
}

func (v *ordered) write(b *bytes.Buffer, indent, at int) {
	if v.open == 0 || v.flat != "" && at+utf8.RuneCountInString(v.flat) <= layoutWidth {
		b.WriteString(v.flat)
		return
	}
	b.WriteByte(v.open)
	for i := range v.kids {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n" + strings.Repeat(" ", indent+2))
		key := ""
		if v.keys != nil {
			key = v.keys[i]
		}
		b.WriteString(key)
		v.kids[i].write(b, indent+2, indent+2+utf8.RuneCountInString(key))
	}
	b.WriteString("\n" + strings.Repeat(" ", indent))
	b.WriteByte(v.shut)
}

// factsString writes a string of JSON in which editors see no mode line, and readers everything.
func factsString(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) {
		return withoutModes(`"`+s+`"`, `\u002a`, `\u003a`)
	}
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)
	var b strings.Builder
	for _, r := range strings.TrimSuffix(text.String(), "\n") {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		for _, u := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, u)
		}
	}
	return withoutModes(b.String(), `\u002a`, `\u003a`)
}
