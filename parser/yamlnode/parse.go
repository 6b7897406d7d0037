package yamlnode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// The limits of one file. They are far above any workflow a user writes and keep a hostile file from using more than
// about a second or a few hundred megabytes.
const (
	MaxBytes      = 8 << 20   // size of the file
	MaxNodes      = 1_000_000 // nodes written in the file
	MaxDepth      = 100       // nesting of collections, aliases expanded
	MaxAliasNodes = 100_000   // nodes that aliases add when they are expanded

	maxProblems = 200 // no more are reported; nobody reads them
)

// Parse reads the one YAML document of a file. After a fatal problem (see ProblemKind) the node is nil; after others the
// tree stands for what the author most likely meant, so that readers can go on: a template without quotes is a plain
// scalar, a second definition of a key is dropped. Aliases are resolved by sharing. Problems come in no special order.
func Parse(f *source.File) (*Node, []Problem) {
	return parse(f, MaxNodes)
}

func parse(f *source.File, maxNodes int) (*Node, []Problem) {
	p := &parser{file: f, src: f.Text, maxNodes: maxNodes}
	if !p.screen() {
		return nil, p.problems
	}
	doc := p.load()
	if doc == nil {
		return nil, p.problems
	}
	return p.tree(doc), p.problems
}

type parser struct {
	file     *source.File
	src      string
	maxNodes int
	problems []Problem
	loc      locator
	build    builder
}

func (p *parser) span(lo, hi int) source.Span {
	n := len(p.src)
	lo = max(0, min(lo, n))
	return source.Span{File: p.file, Lo: lo, Hi: max(lo, min(hi, n))}
}

func (p *parser) report(pr Problem) {
	if len(p.problems) < maxProblems {
		p.problems = append(p.problems, pr)
	}
}

// screen refuses what must not reach the library: too much text, not UTF-8, and characters that change what users see
// or where lines end. NEL, LS and PS count as line ends for the library but not for editors.
func (p *parser) screen() bool {
	if len(p.src) > MaxBytes {
		p.report(Problem{Kind: TooLarge, Span: p.span(0, 0),
			Message: fmt.Sprintf("the file has %d bytes; the limit is %d", len(p.src), MaxBytes),
			Help:    "split it and use include"})
		return false
	}
	for i := 0; i < len(p.src); {
		c := p.src[i]
		if 0x20 <= c && c < 0x7f || c == '\n' || c == '\t' || c == '\r' && i+1 < len(p.src) && p.src[i+1] == '\n' {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(p.src[i:])
		if r == utf8.RuneError && n <= 1 {
			p.report(Problem{Kind: BadEncoding, Span: p.span(i, i+1),
				Message: fmt.Sprintf("byte 0x%02x is not valid UTF-8", c), Help: "save the file as UTF-8"})
			return false
		}
		if name := forbidden(r); name != "" && !(r == '\ufeff' && i == 0) {
			p.report(Problem{Kind: ForbiddenCharacter, Span: p.span(i, i+n),
				Message: fmt.Sprintf("%s U+%04X is not allowed", name, r), Help: forbiddenHelp(r, p.src[:i])})
			return false
		}
		i += n
	}
	return true
}

// forbidden names the class of a character that may not be in a file, or returns "".
func forbidden(r rune) string {
	switch {
	case r == '\r': // without a line feed: the end of a line for the library, and for hardly anybody else
		return "carriage return"
	case r == 0x85, r == 0x2028, r == 0x2029:
		return "line separator"
	case r < 0x20, 0x7f <= r && r <= 0x9f:
		return "control character"
	case 0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069:
		return "invisible direction character"
	case r == 0xfeff:
		return "byte order mark inside the file:"
	case r == 0xfffe, r == 0xffff:
		return "noncharacter"
	}
	return ""
}

func forbiddenHelp(r rune, before string) string {
	if r == 0 && strings.Count(before, "\x00") == 0 && len(before) < 4 {
		return "save the file as UTF-8, not UTF-16"
	}
	if r == '\r' {
		return "end lines with a line feed; in a double-quoted scalar write it as \\r"
	}
	esc := fmt.Sprintf(`\u%04x`, r)
	if r < 0x100 {
		esc = fmt.Sprintf(`\x%02x`, r)
	}
	return "remove it, or write it as " + esc + " in a double-quoted scalar"
}

// depthLimit stops the library before it recurses deep; the exact check is in builder.
type depthLimit struct{}

var errTooDeep = errors.New("flowgen: nested too deep")

func (depthLimit) CheckDepth(depth int, _ *yaml.DepthContext) error {
	if depth > MaxDepth+2 {
		return errTooDeep
	}
	return nil
}

func (depthLimit) CheckAlias(int, int) error { return nil }

// load runs the library. It returns the content of the only document, or nil after a problem.
func (p *parser) load() (content *yaml.Node) {
	defer func() {
		if r := recover(); r != nil {
			content = nil
			p.report(Problem{Kind: LibraryFault, Span: p.span(0, 0),
				Message: fmt.Sprintf("the YAML library failed on this file: %v", r),
				Help:    "please report this as a bug of flowgen, with the file"})
		}
	}()
	loader, err := yaml.NewLoader(bytes.NewReader(withoutVersion(p.src)), yaml.WithPlugin(depthLimit{}))
	if err != nil {
		panic(err)
	}
	var doc, next yaml.Node
	switch err := loader.Load(&doc); {
	case err == io.EOF:
		p.reportEmpty()
		return nil
	case err != nil:
		p.report(p.explain(err))
		return nil
	}
	switch err := loader.Load(&next); {
	case err == io.EOF:
	case err != nil:
		p.report(p.explain(err))
		return nil
	default:
		at := p.file.Offset(next.Line, next.Column)
		p.report(Problem{Kind: MultipleDocuments, Span: p.span(at, min(at+3, EndOfLine(p.src, at))),
			Message: "a second document starts here", Help: "keep one document in a file; remove the `---` or `...` line"})
		return nil
	}
	if len(doc.Content) != 1 {
		p.reportEmpty()
		return nil
	}
	if c := doc.Content[0]; c.Kind == yaml.ScalarNode && c.Value == "" && c.Style&^yaml.TaggedStyle == 0 {
		p.reportEmpty()
		return nil
	}
	return doc.Content[0]
}

var versionForm = lazyregexp.New(`^\x{FEFF}?(?:[ \t]*(?:#[^\n]*)?\r?\n)*(%YAML[ \t]+1\.[12])[ \t]*(?:#[^\n]*)?\r?\n`)

// withoutVersion makes a comment of the line %YAML 1.2, or 1.1, that a file may begin with: readers of either version read
// what this one does.
func withoutVersion(src string) []byte {
	out := []byte(src)
	if m := versionForm.FindSubmatchIndex(out); m != nil {
		out[m[2]] = '#'
	}
	return out
}

func (p *parser) reportEmpty() {
	p.report(Problem{Kind: Empty, Span: p.span(0, 0), Message: "the file is empty", Help: "`flowgen init` writes a starter workflow"})
}

// A locator turns the library's positions into offsets. They come nearly in order, so it goes on from the last one
// instead of counting from the start of the line: lines may be megabytes long.
type locator struct {
	file           *source.File
	line, col, off int
}

// offset returns the offset of a line and a column in characters, both from 1, clamped to the line.
func (l *locator) offset(line, col int) int {
	text := l.file.Text
	if line != l.line {
		l.line, l.col, l.off = line, 1, l.file.Offset(line, 1)
	}
	for l.col < col && l.off < len(text) && LineBreak(text, l.off) == 0 {
		_, n := utf8.DecodeRuneInString(text[l.off:])
		l.off += n
		l.col++
	}
	for l.col > max(1, col) {
		_, n := utf8.DecodeLastRuneInString(text[:l.off])
		l.off -= n
		l.col--
	}
	return l.off
}
