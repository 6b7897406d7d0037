// Package codegen writes the Go of a checked workflow. It is the only user of jennifer.
//
// What it writes is meant to be read: nodes become typed calls in the order of the workflow, data flow is Go data flow,
// names are the user's. Nothing from a YAML file reaches the output except through three doors: identifiers through
// ir/goname, text through quote, comments through comment.
package codegen

import (
	"bytes"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// Options say where the code goes.
type Options struct {
	Package string // name of the package
	Path    string // its import path, so that functions of the same package are not imported; may be empty
	Name    string // of the file, without .go: how the names of its assets begin; "" for one made of the workflow's name

	Calls bool // the workflow lists its tools and models, for engines that make calls in other processes

	// Declared are the names that other files of the package declare.
	Declared map[string]bool

	// Embeddable tells whether a source file, by its absolute name, is below the folder that the code goes to, in a place
	// from which Go can embed it, and its slash-separated name there. Nil: no file is, so that all are copied.
	Embeddable func(file string) (name string, ok bool)
}

const (
	runtimePath = "github.com/flowgen-dev/flowgen/runtime"
	flowPath    = runtimePath + "/flow"
	toolPath    = runtimePath + "/tool"
	celPath     = runtimePath + "/cel"
	valuePath   = runtimePath + "/value"
	execPath    = runtimePath + "/exectool"
	sandboxPath = runtimePath + "/sandbox"
)

// Generate writes the Go file of p: the same bytes for the same workflow, on every machine.
func Generate(p *check.Program, opts Options) (src []byte, err error) {
	defer recovered(&err)
	g := &generator{p: p, opts: opts}
	return g.generate()
}

// generate is the order of the file.
func (g *generator) generate() ([]byte, error) {
	g.file = jen.NewFilePathName(importPath(g.opts.Path), ident(g.opts.Package))
	g.imports = map[string]string{}
	g.named = map[string]bool{"Input": true, "Output": true}
	g.planImports()
	g.planSources()

	g.matchPatterns()
	g.header()
	g.structs, g.patterns = g.file.Null(), jen.Null()
	g.sources()
	g.slots()
	g.tools()
	g.models()
	g.nodes()
	g.info()
	g.file.Add(g.patterns)
	g.workflow()
	g.calls()
	for _, sub := range g.p.Flows {
		g.function(sub)
	}
	g.picks()
	g.schemas()
	g.agents()
	g.texts()
	g.facts()
	g.types()

	var buf bytes.Buffer
	g.file.NoFormat = true
	if err := g.file.Render(&buf); err != nil {
		return nil, err
	}
	src, err := formatGo(buf.Bytes(), nil)
	if err != nil {
		return nil, fmt.Errorf("generated code does not parse: %w", err)
	}
	return wrapLines(groupImports(src))
}

// generator holds what the emission of one file shares.
type generator struct {
	p       *check.Program
	opts    Options
	file    *jen.File
	imports map[string]string // import path -> the name it has in the file

	reserved map[string]bool // names that the packages have which the file may import
	matched  bool            // a type has a pattern
	binary   bool            // one is bytes

	structs      *jen.Statement            // is where the types are declared
	named        map[string]bool           // types that something names
	patterns     *jen.Statement            // is before the functions; pattern adds to it
	patternNames map[string]string         // by regular expression
	outputs      map[*check.Program]string // variables for errors in outputs
	starts       map[*check.Step]string    // the nodes of the starts of bodies, by startNode
	factsVar     string                    // the variable of the facts
	schemaKeys   map[string]string         // by text: the name of a schema among the facts

	assets      []Asset
	python      map[*ir.Tool]*pySource
	pythons     []*pySource
	modules     map[*ir.Tool]string        // file that is embedded as a tool's source, by its name next to the Go
	moduleNames map[*ir.Tool]string        // its variable
	scripts     map[*ir.ModelScript]string // file that is embedded as the answers of a model
	scriptNames map[*ir.ModelScript]string // its variable
	own         map[string]bool            // names of package-level variables that only codegen knows
	locals      map[string]bool            // names of variables in functions
	servers     map[string]bool            // variables of servers that are declared

	snapshots map[*schema.Type]bool // open states that have the method snapshot
}

// pattern is the package-level variable of a regular expression, compiled once.
func (g *generator) pattern(re string) jen.Code {
	if name := g.patternNames[re]; name != "" {
		return jen.Id(ident(name))
	}
	n := 1
	name := g.declare("pattern", func(string) string { n++; return "pattern" + strconv.Itoa(n) })
	if g.patternNames == nil {
		g.patternNames = map[string]string{}
	}
	g.patternNames[re] = name
	g.patterns.Line().Var().Id(ident(name)).Op("=").Qual("regexp", "MustCompile").Call(lowerPattern(re)).Line()
	return jen.Id(ident(name))
}

// header opens the file: whose output it is, and whether the runtime fits.
func (g *generator) header() {
	wf := g.p.WF
	g.file.HeaderComment("Code generated by flowgen. DO NOT EDIT.")
	g.file.HeaderComment("source: " + plainComment(path.Base(wf.File.Name)))
	g.file.PackageComment("Package " + ident(g.opts.Package) + " is the workflow " + plainComment(wf.Name.Name) + ".")
	if text := strings.TrimSpace(wf.Description); text != "" { // any text: it begins a sentence, and is no part of one
		g.file.PackageComment("//")
		if first, size := utf8.DecodeRuneInString(text); unicode.IsLower(first) {
			text = string(unicode.ToUpper(first)) + text[size:]
		}
		if end, _ := utf8.DecodeLastRuneInString(text); !unicode.IsPunct(end) {
			text += "."
		}
		for _, line := range commentLines(text) {
			g.file.PackageComment("// " + plainComment(line))
		}
	}
	g.file.Const().Id("_").Op("=").Qual(flowPath, "Compat2").Comment("undefined? Regenerate, or upgrade the flowgen runtime module.")
}
