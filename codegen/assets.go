package codegen

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/goname"
)

// An Asset is a file that is next to the generated Go and is embedded in the program.
type Asset struct {
	Name   string // slash-separated, below the folder of the Go file
	Begins string // how each file begins that flowgen writes for such an asset; "" when it looks like anybody's
	Data   []byte
}

// Assets are the files that the Go of p, generated with the same options, embeds besides sources that are embedded where
// they stand, by name.
func Assets(p *check.Program, opts Options) []Asset {
	g := &generator{p: p, opts: opts}
	g.planSources()
	g.assets = append(g.assets, g.factsAsset())
	slices.SortFunc(g.assets, func(a, b Asset) int { return strings.Compare(a.Name, b.Name) })
	return g.assets
}

// A pySource is a Source of package pytool: what the Python tools of one folder and one virtual environment share.
type pySource struct {
	name    string // of the variable; "" for sources that are nowhere
	files   string // of the variable of its files; "" when there are none
	embeds  []string
	root    string // folder in the embedded files that modules are found in
	venv    string
	spare   *ir.PythonModules // what stands in for modules that are not installed; nil: nothing
	free    bool              // it sees the environment, and the folder home
	home    string            // relative to the workflow file
	sources []ir.SourceFile
}

// planSources decides what is embedded, from where, and under which name.
func (g *generator) planSources() {
	g.scripts = map[*ir.ModelScript]string{}
	g.python, g.modules = map[*ir.Tool]*pySource{}, map[*ir.Tool]string{}
	var order []*pySource
	byKey := map[string]*pySource{}
	for _, t := range g.usedTools() {
		switch b := t.Binding.(type) {
		case *ir.PythonTool:
			g.pythonSource(t, b, byKey, &order)
		case *ir.JSTool:
			g.modules[t] = g.asset("."+g.assetKey(t)+".mjs", []byte(bundleHeader(b)+b.Bundle))
		case *ir.StarlarkTool:
			g.oneFile(t, ".star")
		case *ir.WasmTool:
			g.oneFile(t, ".wasm")
		}
	}
	for _, s := range order {
		g.place(s)
	}
	g.pythons = order
	for _, s := range g.p.Table {
		for _, m := range s.Models() {
			if m.Script != nil && g.scripts[m.Script] == "" {
				g.scripts[m.Script] = g.asset("."+g.scriptName(m.Script)+".json", []byte(m.Script.Answers))
			}
		}
	}
}

// oneFile embeds the file of a tool that is one: where it stands, or copied.
func (g *generator) oneFile(t *ir.Tool, end string) {
	if t.Def == nil || len(t.Def.Files) == 0 {
		return
	}
	f := t.Def.Files[0]
	if at, ok := g.embeddable(f.Disk); ok {
		g.modules[t] = at
	} else {
		g.modules[t] = g.asset("."+g.assetKey(t)+end, []byte(f.Text))
	}
}

// usedTools are the tools that the program binds, in the order in which it does.
func (g *generator) usedTools() []*ir.Tool {
	var out []*ir.Tool
	done := map[*ir.Tool]bool{}
	for _, p := range g.programs() {
		used := map[*ir.Tool]bool{}
		for _, s := range p.Body.All() {
			for _, t := range s.Tools() {
				used[t] = true
			}
		}
		for _, t := range p.WF.Tools {
			if used[t] && !done[t] {
				done[t] = true
				out = append(out, t)
			}
		}
	}
	return out
}

// assetKey is the tool's part in the names of its files: that of its variable.
func (g *generator) assetKey(t *ir.Tool) string {
	name, number, _ := strings.Cut(g.p.Names.Tools[t], "_") // with a number where two names meet
	if name = strings.TrimSuffix(name, "Tool"); number != "" {
		name += "_" + number
	}
	return name
}

// stem is how the names of assets begin.
func (g *generator) stem() string {
	if g.opts.Name != "" {
		return g.opts.Name
	}
	return goname.Package(g.p.WF.Name.Name) + "_flow"
}

func (g *generator) asset(end string, data []byte) string {
	name := g.stem() + end
	if GoReads(name) {
		panic(refused{"the name of an asset", name})
	}
	g.assets = append(g.assets, Asset{Name: name, Data: data})
	return name
}

func (g *generator) embeddable(file string) (string, bool) {
	if g.opts.Embeddable == nil {
		return "", false
	}
	at, ok := g.opts.Embeddable(file)
	return at, ok && embeddable(at)
}

func (g *generator) pythonSource(t *ir.Tool, b *ir.PythonTool, byKey map[string]*pySource, order *[]*pySource) {
	if (t.Def == nil || t.Def.Files == nil && b.Venv.Name == "") && !b.Free {
		return // read where the program runs
	}
	home, root := "", ""
	if t.File != nil {
		home = path.Dir(t.File.Name)
	}
	if b.Free {
		root = "."
	}
	var files []ir.SourceFile
	if t.Def != nil {
		files = t.Def.Files
		root = cmp.Or(t.Def.Root, root)
	}
	key := home + "\x00" + b.Venv.Name + "\x00" + root + "\x00" + strconv.FormatBool(b.Spare != nil)
	s := byKey[key]
	if s == nil {
		s = &pySource{spare: b.Spare, venv: b.Venv.Name, free: b.Free, home: root, name: g.variable("python", path.Base(home))}
		byKey[key] = s
		*order = append(*order, s)
	}
	g.python[t] = s
	for _, f := range files {
		if !slices.ContainsFunc(s.sources, func(o ir.SourceFile) bool { return o.Name == f.Name }) {
			s.sources = append(s.sources, f)
		}
	}
}

// variable is an unused name for a package-level variable; the second one of a kind is called after its folder.
func (g *generator) variable(kind, folder string) string {
	return g.declare(kind, func(name string) string {
		named := goname.Local(kind + "_" + folder)
		if name != kind || named == kind { // a folder like . has no name
			return name + "_"
		}
		return named
	})
}

// place decides whether the files of a source are embedded where they stand, which needs all of them to be below the
// folder of the Go file, or are copied.
func (g *generator) place(s *pySource) {
	if len(s.sources) == 0 {
		return
	}
	slices.SortFunc(s.sources, func(a, b ir.SourceFile) int { return strings.Compare(a.Name, b.Name) })
	s.files = g.variable(s.name+"Files", "")
	stand := true
	for _, f := range s.sources {
		at, ok := g.embeddable(f.Disk)
		root, below := strings.CutSuffix(at, f.Name)
		if stand = stand && ok && below && (root == "" || strings.HasSuffix(root, "/")); !stand {
			break
		}
		s.root = strings.TrimSuffix(root, "/")
		s.embeds = append(s.embeds, at)
	}
	if stand {
		return
	}
	s.root, s.embeds = g.stem()+"."+s.name, nil
	for _, f := range s.sources {
		s.embeds = append(s.embeds, g.asset("."+s.name+"/"+f.Name, []byte(f.Text)))
	}
}

// sources declares what tools in other languages are made of.
func (g *generator) sources() {
	for _, s := range g.pythons {
		var fields []jen.Code
		if s.files != "" {
			g.file.Line()
			g.file.Comment("The Python of tools.")
			g.file.Comment("//")
			g.file.Add(embedDirective(s.embeds...))
			g.file.Var().Id(ident(s.files)).Qual("embed", "FS")
			files := jen.Id(ident(s.files))
			if s.root != "" {
				files = jen.Qual(pythonPath, "Below").Call(files, quote(s.root))
			}
			fields = append(fields, jen.Id("Files").Op(":").Add(files))
		} else if !s.free {
			fields = append(fields, jen.Id("Path").Op(":").Index().String().Values())
		}
		if s.free {
			fields = append(fields, jen.Id("Inherit").Op(":").True(), jen.Id("Home").Op(":").Add(quote(s.home)))
		}
		if s.spare != nil {
			fields = append(fields, jen.Id("Spare").Op(":").Qual(importPath(s.spare.Path), "Modules"))
		}
		if s.venv != "" {
			fields = append(fields, jen.Id("Interpreter").Op(":").Add(quote(path.Join(s.venv, "bin", "python3"))))
		}
		g.file.Line()
		g.file.Var().Id(ident(s.name)).Op("=").Op("&").Qual(pythonPath, "Source").Values(fields...)
	}
	for _, t := range g.usedTools() {
		if file := g.modules[t]; file != "" {
			g.file.Line()
			g.file.Add(embedDirective(file))
			g.file.Var().Id(ident(g.moduleName(t))).String()
		}
	}
	done := map[*ir.ModelScript]bool{}
	for _, s := range g.p.Table {
		for _, m := range s.Models() {
			if m.Script == nil || done[m.Script] {
				continue
			}
			done[m.Script] = true
			g.file.Line()
			g.file.Add(embedDirective(g.scripts[m.Script]))
			g.file.Var().Id(ident(g.scriptName(m.Script))).String()
		}
	}
}

// scriptName is the variable of the answers of a scripted model.
func (g *generator) scriptName(s *ir.ModelScript) string {
	if g.scriptNames[s] == "" {
		if g.scriptNames == nil {
			g.scriptNames = map[*ir.ModelScript]string{}
		}
		g.scriptNames[s] = g.variable("answers", goname.Local(path.Base(s.File.Name)))
	}
	return g.scriptNames[s]
}

// moduleName is the variable of the source of a tool that is one file.
func (g *generator) moduleName(t *ir.Tool) string {
	if name := g.moduleNames[t]; name != "" {
		return name
	}
	if g.moduleNames == nil {
		g.moduleNames = map[*ir.Tool]string{}
	}
	name := g.variable(g.assetKey(t)+"Source", "")
	g.moduleNames[t] = name
	return name
}
