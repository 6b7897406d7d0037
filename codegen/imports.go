package codegen

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

const (
	pyPath    = dynamicPath + "/py"
	jinjaPath = dynamicPath + "/jinja"
)

// standard are the packages that generated code may use by their own names.
var standard = []string{"bytes", "cmp", "context", "encoding/base64", "math", "slices", "regexp", "strconv", "strings", "time", "unicode/utf8", "embed"}

// planImports decides the name of every import before anything is written, so that a clash does not depend on what is
// used first, and locals need not be named again: the standard library and the runtime keep their names, a user's package
// that wants the same one gets `user` before it, and a local that does has an underscore, whether the file imports the
// package or not. No import has a name that another file of the package declares: Go allows none, and these files are the
// user's, so it gets `go` or `flow` before its own.
func (g *generator) planImports() {
	taken := map[string]bool{}
	fixed := slices.Concat(standard, []string{runtimePath, flowPath, valuePath, celPath, execPath, httpPath, pythonPath, nodePath, enginePath, starlarkPath, wasmPath, sqlPath, sqlPath + "/sqlite", sqlPath + "/postgres", mcpPath, sandboxPath, llmPath, agentPath, carryPath, dynamicPath, pyPath, jinjaPath}, g.called(), speakPaths(), g.bounded())
	for _, p := range fixed {
		own := p[strings.LastIndexByte(p, '/')+1:]
		name := g.opts.importName(p, own)
		taken[name] = true
		g.imports[p] = name
		importAs(g.file, p, own, name)
	}
	for _, p := range g.userPackages() {
		if g.imports[p.path] != "" || p.path == g.opts.Path {
			continue
		}
		name := p.name
		for taken[name] || g.packageLevel(name) {
			name = "user" + name
		}
		taken[name] = true
		g.imports[p.path] = name
		importAs(g.file, p.path, p.name, name)
	}
	g.reserved = taken
	for name, used := range map[string]bool{"agent": len(g.p.Names.Agents) > 0 || g.p.WF.Public, "bytes": g.binary, "engine": g.opts.Calls} {
		if !used { // all are good names for nodes
			delete(g.reserved, name)
		}
	}
	for _, p := range append(g.called(), g.bounded()...) {
		g.reserved[g.imports[p]] = true
	}
}

// importName is the name of a package of the standard library or of flowgen, that calls itself own, in a file.
func (o *Options) importName(path, own string) string {
	before := "flow"
	if !strings.Contains(path, ".") {
		before = "go"
	}
	name := own
	for o.Declared[name] {
		name = before + name
	}
	return name
}

func importAs(f *jen.File, path, own, name string) {
	if name == own {
		f.ImportName(importPath(path), ident(name))
	} else {
		f.ImportAlias(importPath(path), ident(name))
	}
}

// matchPatterns links what checks the patterns of types, where there are some.
func (g *generator) matchPatterns() {
	if g.matched {
		g.file.Anon(runtimePath + "/pattern")
	}
}

type goPackage struct{ path, name string }

// called are the packages of functions that translators of dialects know, and that Blocks and tools call.
func (g *generator) called() []string {
	var out []string
	called := func(n *expr.Node) bool {
		if n.Op == expr.Intrinsic && !slices.Contains(out, n.Func.Path) {
			out = append(out, n.Func.Path)
		}
		return true
	}
	for _, p := range g.programs() {
		p.WF.Body.Block.Walk(called)
		for _, t := range p.Texts {
			t.IR.Do.Walk(called)
		}
		for _, t := range p.WF.Tools {
			switch b := t.Binding.(type) {
			case *ir.Made:
				b.New.Node.Walk(called)
			case *ir.PythonTool:
				if b.Spare != nil && !slices.Contains(out, b.Spare.Path) {
					out = append(out, b.Spare.Path)
				}
				if b.Filled != nil {
					b.Filled.Node.Walk(called)
				}
			}
		}
		for _, call := range p.WF.Load {
			call.Node.Walk(called)
		}
		for _, o := range p.WF.Output {
			ir.ValueExpressions(o.Value, func(n *expr.Node) { n.Walk(called) })
		}
	}
	return out
}

// bounded is the package of timeouts and usage of tools, where one is declared: elsewhere its name is left to users and nodes.
func (g *generator) bounded() []string {
	for _, p := range g.programs() {
		if slices.ContainsFunc(p.WF.Tools, func(t *ir.Tool) bool { return t.Timeout != nil || t.Usage != nil }) {
			return []string{toolPath}
		}
	}
	return nil
}

// userPackages lists the Go packages that the workflow's tools, functions and types come from, by path.
func (g *generator) userPackages() []goPackage {
	names := map[string]string{}
	add := func(path, name string) {
		if path == "" || path == runtimePath || path == flowPath || path == valuePath {
			return
		}
		if name == "" {
			name = goname.Package(path[strings.LastIndexByte(path, '/')+1:])
		}
		if names[path] == "" || len(name) > 0 {
			names[path] = name
		}
	}
	var types func(t *schema.Type)
	seen := map[*schema.Type]bool{}
	types = func(t *schema.Type) {
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		if t.Go != nil {
			add(t.Go.Path, t.Go.Package)
			for _, a := range t.Go.Args {
				types(a)
			}
		}
		g.binary = g.binary || t.Kind == schema.Bytes
		types(t.Elem)
		for _, f := range t.Fields {
			g.matched = g.matched || f.Pattern != ""
			types(f.Type)
		}
	}
	function := func(f *ir.GoFunc) {
		if f == nil || f.Bind == nil {
			return
		}
		types(f.Bind.In)
		types(f.Bind.Out)
		for _, p := range f.Bind.Params {
			types(p.Type)
		}
		add(f.Bind.Path, f.Bind.Package)
	}
	for _, p := range g.programs() {
		for _, d := range p.WF.Types {
			types(d.Type)
		}
		types(p.Input)
		types(p.Output)
		types(p.State)
		for _, s := range p.WF.State {
			function(s.Merge.Reducer)
		}
		for _, t := range p.WF.Tools {
			types(t.In)
			types(t.Out)
			if b, ok := t.Binding.(*ir.GoTool); ok {
				function(b.Func)
			}
		}
		for _, l := range p.Body.Locals {
			types(l.Type)
		}
		for _, s := range p.Body.All() {
			types(s.Node.Result)
			if b, ok := s.Node.Verb.(*ir.GoCall); ok {
				function(b.Func)
			}
		}
	}
	var out []goPackage
	for path, name := range names {
		out = append(out, goPackage{path, name})
	}
	slices.SortFunc(out, func(a, b goPackage) int { return strings.Compare(a.path, b.path) })
	return out
}

// packageLevel reports whether the package declares the name, in the generated file or another one.
func (g *generator) packageLevel(name string) bool {
	return g.own[name] || g.p.Names.Taken(name) || g.opts.Declared[name]
}

// declare is a name for a variable at package level that only codegen knows: the first of the names that next makes that
// neither the file nor a function in it has.
func (g *generator) declare(name string, next func(name string) string) string {
	for locals := g.localNames(); g.packageLevel(name) || locals[name]; {
		name = next(name)
	}
	if g.own == nil {
		g.own = map[string]bool{}
	}
	g.own[name] = true
	return name
}

// localNames are those of the variables in functions that are known so far, those of all steps among them.
func (g *generator) localNames() map[string]bool {
	if g.locals == nil {
		g.locals = map[string]bool{}
		for _, name := range slices.Concat(slices.Collect(maps.Values(g.p.Names.Locals)), slices.Collect(maps.Values(g.p.Names.Vars))) {
			for _, end := range []string{"", "Err", "Ran", "Failures"} {
				g.locals[name+end] = true
			}
		}
	}
	return g.locals
}

// hides reports whether a local of that name could hide an import.
func (g *generator) hides(name string) bool { return g.reserved[name] }

// groupImports puts the standard library's imports before the others, a blank line between, as gofmt'd code by hand has
// it. Jennifer writes them in one block.
func groupImports(src []byte) []byte {
	start := bytes.Index(src, []byte("\nimport (\n"))
	if start < 0 {
		return src
	}
	start += len("\nimport (\n")
	end := start + bytes.Index(src[start:], []byte("\n)\n"))
	var std, other []string
	for _, line := range strings.Split(string(src[start:end]), "\n") {
		path := line[strings.IndexByte(line, '"')+1:]
		if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
			other = append(other, line)
		} else {
			std = append(std, line)
		}
	}
	block := strings.Join(std, "\n")
	if len(std) > 0 && len(other) > 0 {
		block += "\n\n"
	}
	block += strings.Join(other, "\n")
	return slices.Concat(src[:start], []byte(block), src[end:])
}
