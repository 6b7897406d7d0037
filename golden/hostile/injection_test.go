package hostile

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	goparser "go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// A position is where text stands in a file: a key or a value of YAML, or all of a file that is not YAML.
type position struct {
	file  string
	span  source.Span
	value string
	raw   bool
}

// positions are all scalars of a project's files, and its prompts.
func positions(p *project, r *result) []position {
	var out []position
	seen := map[source.Span]bool{}
	used := map[string]bool{}
	for name := range p.files {
		switch path.Ext(name) {
		case ".md", ".txt", ".prompt":
			used[name] = true
		case ".yaml", ".yml":
			used[name] = p.language != ""
		}
	}
	for _, f := range append([]*source.File{r.workflow.File}, r.workflow.Includes...) {
		used[f.Name] = true
	}
	for _, w := range r.workflow.Flows {
		used[w.File.Name] = true
	}
	for _, name := range sortedKeys(p.files) {
		if !used[name] {
			continue
		}
		if ext := path.Ext(name); ext != ".yaml" && ext != ".yml" {
			f := source.NewFile(name, p.files[name])
			out = append(out, position{name, source.Span{File: f, Lo: 0, Hi: len(f.Text)}, f.Text, true})
			continue
		}
		root, _ := yamlnode.Parse(source.NewFile(name, p.files[name]))
		var walk func(n *yamlnode.Node)
		walk = func(n *yamlnode.Node) {
			if n == nil || !n.Alias.IsZero() || n.Kind == yamlnode.Null {
				return
			}
			if n.Kind == yamlnode.Scalar && !seen[n.Span] {
				seen[n.Span] = true
				out = append(out, position{name, n.Span, n.Text.Value, false})
			}
			for _, e := range n.Entries {
				walk(e.Key)
				walk(e.Value)
			}
			for _, x := range n.Items {
				walk(x)
			}
		}
		walk(root)
	}
	return out
}

// modes are the ways in which a payload gets into a text.
var modes = []func(value, payload string) string{
	func(_, payload string) string { return payload },
	func(value, payload string) string { return value[:len(value)/2] + payload + value[len(value)/2:] },
	func(value, payload string) string { return value + payload },
	func(_, payload string) string { return `$"` + escaped(payload) + `"` },
	func(_, payload string) string { return `{{ "` + escaped(payload) + `" }}` },
	func(value, payload string) string { return value + `{{ "` + escaped(payload) + `" }}` },
}

// escaped is text between the quotes of a string of the expression language.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case ' ' <= r && r != 0x7f && r < 0x2000:
			b.WriteRune(r)
		default:
			b.WriteString(`\U` + hex(r, 8))
		}
	}
	return b.String()
}

// mode chooses one. What is added to an expression is an expression, and may mean something: it is left as it is.
func (at position) mode(choice uint64) int {
	m := int(choice % uint64(len(modes)))
	if at.raw {
		return m % 3
	}
	if strings.HasPrefix(at.value, "$") && (m == 1 || m == 2 || m == 5) {
		return m % 3 * 3 % 6 // 1 -> 3, 2 -> 0, 5 -> 0
	}
	if m == 1 && strings.Contains(at.value, "{{") {
		return 2 // not between two braces
	}
	return m
}

func (at position) put(p *project, mode int, payload string) string {
	if at.raw {
		return modes[mode](at.value, payload)
	}
	text := p.files[at.file]
	return text[:at.span.Lo] + yamlQuoted(modes[mode](at.value, payload)) + text[at.span.Hi:]
}

// outcome is what became of a file: a diagnostic, or a program.
type outcome struct {
	code   []byte
	assets []codegen.Asset
	tree   *shape
	seen   string // by those that read Go files
	err    string // of the compiler itself
}

// generated compiles a project with another text of a file.
func generated(p *project, file, text string) (o outcome) {
	defer func() {
		if r := recover(); r != nil {
			o = outcome{err: fmt.Sprintf("panic: %v", r)}
		}
	}()
	r := p.compile(file, text)
	if r.program == nil {
		if r.errors() == 0 {
			return outcome{err: "no program, and no error that says why"}
		}
		return outcome{}
	}
	opts := codegen.Options{Package: goname.Package(r.workflow.Name.Name), Path: "example.com/p"}
	code, err := codegen.Generate(r.program, opts)
	if err != nil {
		return outcome{err: err.Error()}
	}
	tree, err := shapeOf(code)
	if err != nil {
		return outcome{err: err.Error()}
	}
	o = outcome{code: code, assets: codegen.Assets(r.program, opts), tree: tree}
	o.seen, o.err = readers(code, o.assets)
	return o
}

// A shape is a syntax tree without what text may change: the values of string literals, into how many of them a text is
// divided, comments, and the choice of names.
type shape struct {
	nodes      []string // kinds, operators, numbers, import paths
	names      []string // in order; "" in nodes stands for one
	directives int
}

// directives are comments without a blank; commentDirective is how the text of one begins that some tools act on though there is
// a blank in front of it.
var (
	directives       = regexp.MustCompile(`^(//[^ \t]|/\*)`)
	commentDirective = regexp.MustCompile(`^[/ \t]*(\+|#\S|(nolint|nosec|noinspection)\b|[A-Za-z0-9_-]+:[A-Za-z0-9])`)
)

func shapeOf(code []byte) (*shape, error) {
	fset := token.NewFileSet()
	f, err := goparser.ParseFile(fset, "p.go", code, goparser.ParseComments|goparser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s := &shape{}
	for _, g := range f.Comments {
		for _, c := range g.List {
			if directives.MatchString(c.Text) {
				s.directives++
			}
			if !strings.HasPrefix(c.Text, "//") {
				return nil, fmt.Errorf("a comment that is no line comment: %q", c.Text)
			}
		}
	}
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case nil:
			s.nodes = append(s.nodes, ")")
		case *ast.Comment, *ast.CommentGroup:
			return false
		case *ast.Ident:
			s.nodes, s.names = append(s.nodes, ""), append(s.names, n.Name)
		case *ast.ImportSpec:
			s.nodes = append(s.nodes, "import "+n.Path.Value)
		case *ast.BasicLit:
			what := n.Kind.String()
			if n.Kind != token.STRING {
				what += n.Value
			}
			s.nodes = append(s.nodes, what)
		case *ast.BinaryExpr:
			if n.Op == token.ADD {
				s.sum(n, visit)
				return false
			}
			s.nodes = append(s.nodes, n.Op.String())
		case *ast.UnaryExpr:
			s.nodes = append(s.nodes, n.Op.String())
		case *ast.AssignStmt:
			s.nodes = append(s.nodes, n.Tok.String())
		case *ast.GenDecl:
			s.nodes = append(s.nodes, n.Tok.String())
		case *ast.BranchStmt:
			s.nodes = append(s.nodes, n.Tok.String())
		case *ast.IncDecStmt:
			s.nodes = append(s.nodes, n.Tok.String())
		case *ast.FuncDecl:
			s.nodes = append(s.nodes, "func")
			if n.Name.Name == "init" || n.Name.Name == "main" || n.Name.Name == "_" {
				err = fmt.Errorf("the code declares func %s", n.Name.Name)
			}
		default:
			s.nodes = append(s.nodes, fmt.Sprintf("%T", n))
		}
		return true
	}
	ast.Inspect(f, visit)
	return s, err
}

// sum adds operands that are joined by +. String literals that follow each other are one text.
func (s *shape) sum(e *ast.BinaryExpr, visit func(ast.Node) bool) {
	var operands []ast.Expr
	for x := ast.Expr(e); ; {
		b, ok := x.(*ast.BinaryExpr)
		if !ok || b.Op != token.ADD {
			operands = append(operands, x)
			break
		}
		operands, x = append(operands, b.Y), b.X
	}
	slices.Reverse(operands)
	literal := func(x ast.Expr) bool {
		l, ok := x.(*ast.BasicLit)
		return ok && l.Kind == token.STRING
	}
	for i := len(operands) - 1; i > 0; i-- {
		if literal(operands[i]) && literal(operands[i-1]) {
			operands = slices.Delete(operands, i, i+1)
		}
	}
	if len(operands) > 1 {
		s.nodes = append(s.nodes, "+")
	}
	for _, x := range operands {
		ast.Inspect(x, visit)
	}
	if len(operands) > 1 {
		s.nodes = append(s.nodes, ")")
	}
}

// differs says how two shapes differ; "" when they do not. A name may be another one where the harmless program has a
// name made of harmless, and is the same one at all those places. No name of Go's own may become, or be, another.
func (s *shape) differs(t *shape, harmless string) string {
	if s.directives != t.directives {
		return fmt.Sprintf("%d directives, not %d", s.directives, t.directives)
	}
	if !slices.Equal(s.nodes, t.nodes) {
		for i := range min(len(s.nodes), len(t.nodes)) {
			if s.nodes[i] != t.nodes[i] {
				return fmt.Sprintf("node %d is %q, not %q", i, s.nodes[i], t.nodes[i])
			}
		}
		return fmt.Sprintf("%d nodes, not %d", len(s.nodes), len(t.nodes))
	}
	mark, now := bare(harmless), map[string]string{}
	for i, a := range s.names {
		b := t.names[i]
		if x, ok := now[b]; ok && x != a {
			return fmt.Sprintf("%s is %s and %s", b, x, a)
		}
		now[b] = a
		if a != b && (mark == "" || !strings.Contains(bare(b), mark) || types.Universe.Lookup(a) != nil || types.Universe.Lookup(b) != nil) {
			return fmt.Sprintf("name %s is %s", b, a)
		}
	}
	return ""
}

// bare is the letters and digits of a text, by which names made of it are known.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(text))
}

// benign are harmless texts; each has a form that some position asks for.
var benign = []string{"benign", "Benign", "harmless text", "some/path?a=b", "3", "several\nlines\nof text", "{{ \"text\" }}", "$true", "$1", "true", "",
	"harmless\nmodule:class name", "enum<a|b>", "list<int>", "list<list<int>>", "map<string>", "opt<int>", "int", "string"}

// A campaign of injections into one position of one project.
type target struct {
	p        *project
	at       position
	harmless map[[2]int]outcome // by mode and text; made when it is asked for
}

// open reports whether a harmless text is taken here.
func (g *target) open() bool {
	for i := range 2 {
		if o := g.harmlessOne(0, i); o.tree != nil {
			return true
		}
	}
	return false
}

func (g *target) harmlessOne(mode, i int) outcome {
	o, ok := g.harmless[[2]int{mode, i}]
	if !ok {
		text := g.p.files[g.at.file]
		if i < len(benign) {
			text = g.at.put(g.p, mode, benign[i])
		}
		o = generated(g.p, g.at.file, text)
		g.harmless[[2]int{mode, i}] = o
	}
	return o
}

// judge says why an outcome is like none of the harmless ones; like is the one that it is like. The last of them is text
// with letters in place of its characters: some texts are taken apart at blanks.
func (g *target) judge(got outcome, mode int, text string) (like outcome, why string) {
	if got.err != "" {
		return like, got.err
	}
	var all []string
	letters := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '.' {
			return r
		}
		return 'b'
	}, text)
	for i := range len(benign) + 2 { // the last but one is the file as it is
		var h outcome
		mark := g.at.value
		switch {
		case i <= len(benign):
			if h = g.harmlessOne(mode, i); i < len(benign) {
				mark = modes[mode](g.at.value, benign[i])
			}
		default:
			h, mark = generated(g.p, g.at.file, g.at.put(g.p, mode, letters)), modes[mode](g.at.value, letters)
		}
		if h.tree == nil {
			continue
		}
		diff := got.tree.differs(h.tree, mark)
		for _, name := range slices.Backward(strings.FieldsFunc(mark, func(r rune) bool { return r == '.' || r == ':' })) { // working.name, module:name
			if diff == "" {
				break
			}
			diff = got.tree.differs(h.tree, name)
		}
		if diff == "" && h.seen != got.seen {
			diff = "go/build sees " + got.seen + ", not " + h.seen
		}
		if diff == "" {
			return h, ""
		}
		if !slices.Contains(all, diff) {
			all = append(all, diff)
		}
	}
	if all == nil {
		return like, "every harmless text is refused here"
	}
	return like, strings.Join(all, "; ")
}

// An injection is one run of the campaign: what it has found, and what the real tools have still to see.
type injection struct {
	combinations, refused, same, places, open, refs int

	waiting []sighting
	seen    map[uint64]bool // programs that wait or were looked at
	looked  int
	vetted  int
}

// TestInjection puts every kind of text into every position of every file. It is refused, or the program is the one
// that a harmless text gives, but for the values of its string literals, to the compiler and to all others that read Go
// files.
func TestInjection(t *testing.T) {
	c := &injection{seen: map[uint64]bool{}}
	lined, all := linePayloads(), append(payloads(), linePayloads()...)
	if len(all) < 1000 {
		t.Fatalf("%d payloads", len(all))
	}
	slice, of := 0, 1 // the full form takes hours: INJECTION_SLICE=3/16 is a part of it
	if s := os.Getenv("INJECTION_SLICE"); s != "" {
		if _, err := fmt.Sscanf(s, "%d/%d", &slice, &of); err != nil {
			t.Fatal(err)
		}
	}
	for i, p := range append(valid(t), dialectProjects(t)...) {
		switch {
		case p.wrong || i%of != slice:
		case p.language == "":
			c.project(t, p, all)
		case full() || number(p.name)%6 == 0:
			c.project(t, p, lined)
		}
	}
	c.look(t)
	t.Logf("%d payloads, %d positions, %d of them free, %d combinations: %d refused, %d with the program of a harmless text; the go command saw %d programs, vet %d",
		len(all), c.places, c.open, c.combinations, c.refused, c.same, c.looked, c.vetted)
	if want := pick(400, 800, 60_000/of); c.combinations < want {
		t.Errorf("fewer than %d combinations", want)
	}
	if c.same*4 < c.combinations || c.looked < pick(60, 60, 10_000/of) || c.vetted < pick(3, 4, 20) {
		t.Error("most texts are refused: the test shows little")
	}
}

// project puts payloads into the positions of one project.
func (c *injection) project(t *testing.T, p *project, texts []string) {
	every := pick(24, 12, 1)
	for n, at := range positions(p, p.compile("", "")) {
		if !full() && (n%every != int(number(p.name)%uint64(every)) || p.leaves(fmt.Sprint(p.name, n))) {
			continue
		}
		c.places++
		g := &target{p: p, at: at, harmless: map[[2]int]outcome{}}
		each := pick(1, 1, 6)
		if p.language != "" {
			each = pick(1, 1, 2)
		}
		isRef := !at.raw && (strings.Contains(at.value, "go:") || strings.Contains(at.value, "tools."))
		if !isRef && g.open() {
			c.open++
			each = pick(5, 5, 60)
			if p.language != "" {
				each = pick(5, 5, 12)
			}
			if p.slow {
				each = pick(2, 2, 6)
			}
		}
		for i := range each {
			choice := number(fmt.Sprintf("%s:%s:%d:%d", p.name, at.file, at.span.Lo, i))
			if isRef {
				if c.refs++; c.refs > pick(4, 4, 300) { // each may start the go command
					continue
				}
			}
			c.put(t, g, texts[choice%uint64(len(texts))], at.mode(choice>>32))
		}
	}
	if len(c.waiting) >= 2000 {
		c.look(t)
	}
}

// put puts one payload into a position.
func (c *injection) put(t *testing.T, g *target, text string, mode int) {
	c.combinations++
	got := generated(g.p, g.at.file, g.at.put(g.p, mode, text))
	if got.err == "" && got.code == nil {
		c.refused++
		return
	}
	if again, err := format.Source(got.code); got.err == "" && (err != nil || !bytes.Equal(again, got.code)) {
		got.err = "the code is not what gofmt writes"
	}
	pos := g.at.span.Start()
	what := fmt.Sprintf("%s:%d:%d %.100q with %q (%d)", g.at.file, pos.Line, pos.Col, g.at.value, text, mode)
	like, why := g.judge(got, mode, text)
	if why != "" {
		t.Errorf("%s: %s", what, why)
		return
	}
	c.same++
	key := number(string(got.code))
	if c.seen[key] || !full() && len(c.waiting) >= 60 && c.same%16 != 0 {
		return
	}
	c.seen[key] = true
	c.waiting = append(c.waiting, sighting{what, got.code, like.code, got.assets, like.assets})
}

// look shows the programs that wait to the real tools.
func (c *injection) look(t *testing.T) {
	t.Helper()
	c.looked += len(c.waiting)
	c.vetted += look(t, c.waiting, pick(3, 5, 60))
	c.waiting = nil
}
