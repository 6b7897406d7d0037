package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// source is where files that are not pages can be read.
const source = "https://github.com/flowgen-dev/flowgen/blob/main/"

// A page is one Markdown file.
type page struct {
	file    string // relative to the root, with slashes
	title   string
	summary string // the first paragraph
	text    []byte
	doc     ast.Node
	heads   []heading
	links   []link // in the order of the text
}

// A heading is a part of a page that search finds.
type heading struct {
	id, title, text string
}

type link struct {
	node *ast.Link
	to   string
}

// A site is all pages of a repository.
type site struct {
	root   string
	pages  []*page // sorted by file
	byName map[string]*page
	assets map[string]bool // pictures that pages show
	md     goldmark.Markdown
}

// url is where the page is in the site.
func (p *page) url() string {
	if p.file == "README.md" {
		return "index.html"
	}
	dir, name := path.Split(p.file)
	if name == "README.md" {
		return dir + "index.html"
	}
	return dir + strings.TrimSuffix(name, ".md") + ".html"
}

// skipped are folders without pages for readers.
var skipped = []string{"testdata", "node_modules", "golden", "templates", "runtime", "internal", "editors", "prompts"}

// read reads all pages and checks their links. It returns all broken links as one error.
func read(root string) (*site, error) {
	s := &site{root: root, byName: map[string]*page{}, assets: map[string]bool{}}
	s.md = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if name != root && (strings.HasPrefix(e.Name(), ".") || slices.Contains(skipped, e.Name())) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".md") {
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		p := s.parse(filepath.ToSlash(rel), text)
		s.pages = append(s.pages, p)
		s.byName[p.file] = p
		return nil
	})
	if err != nil {
		return nil, err
	}
	var broken []error
	for _, p := range s.pages {
		for _, l := range p.links {
			to, err := s.resolve(p, l.to)
			if err != nil {
				broken = append(broken, err)
			}
			l.node.Destination = []byte(to)
		}
	}
	return s, errors.Join(broken...)
}

func (s *site) parse(file string, src []byte) *page {
	p := &page{file: file, title: file, text: src}
	p.doc = s.md.Parser().Parse(text.NewReader(src), parser.WithContext(parser.NewContext(parser.WithIDs(&ids{used: map[string]int{}}))))
	_ = ast.Walk(p.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			id, _ := n.AttributeString("id")
			name, _ := id.([]byte)
			h := heading{id: string(name), title: plain(n, src)}
			if n.Level == 1 && len(p.heads) == 0 {
				p.title = h.title
			}
			p.heads = append(p.heads, h)
		case *ast.Link:
			p.links = append(p.links, link{n, string(n.Destination)})
		case *ast.Image:
			at := path.Join(path.Dir(file), string(n.Destination))
			s.assets[at] = true
		case *ast.Paragraph:
			words := plain(n, src)
			if _, picture := n.FirstChild().(*ast.Image); p.summary == "" && !picture {
				p.summary = words
			}
			p.say(words)
		case *ast.TextBlock, *ast.FencedCodeBlock:
			p.say(plain(n, src))
		}
		return ast.WalkContinue, nil
	})
	return p
}

// say adds words to what search finds below the last heading.
func (p *page) say(words string) {
	if len(p.heads) > 0 {
		h := &p.heads[len(p.heads)-1]
		h.text += words + " "
	}
}

// plain is the text of a node without its marks.
func plain(n ast.Node, src []byte) string {
	var b strings.Builder
	if code, ok := n.(*ast.FencedCodeBlock); ok {
		for i := range code.Lines().Len() {
			line := code.Lines().At(i)
			b.Write(line.Value(src))
		}
	}
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(src))
				if n.SoftLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				b.Write(n.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// ids names headings as GitHub does, so that links work in both places.
type ids struct{ used map[string]int }

// Generate implements parser.IDs.
func (x *ids) Generate(value []byte, _ ast.NodeKind) []byte {
	var b strings.Builder
	for _, r := range strings.ToLower(string(bytes.TrimSpace(value))) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || r > 127:
			b.WriteRune(r)
		}
	}
	id := b.String()
	n := x.used[id]
	if x.used[id]++; n > 0 {
		id = fmt.Sprintf("%s-%d", id, n)
	}
	return []byte(id)
}

// Put implements parser.IDs.
func (x *ids) Put(value []byte) { x.used[string(value)]++ }

// resolve checks a link and returns it as it is in the site: pages become HTML, other files lead to the repository.
func (s *site) resolve(p *page, to string) (string, error) {
	u, err := url.Parse(to)
	if err != nil {
		return to, fmt.Errorf("%s: %w", p.file, err)
	}
	if u.Scheme != "" {
		if u.Scheme != "https" && u.Scheme != "mailto" {
			return to, fmt.Errorf("%s: %s is not https", p.file, to)
		}
		return to, nil
	}
	file := p.file
	if u.Path != "" {
		file = path.Join(path.Dir(p.file), u.Path)
	}
	target := s.byName[file]
	if target == nil {
		target = s.byName[path.Join(file, "README.md")]
	}
	if target == nil {
		if _, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(file))); err != nil || strings.HasPrefix(file, "..") {
			return to, fmt.Errorf("%s: file %s does not exist", p.file, to)
		}
		return source + file, nil
	}
	if u.Fragment != "" && !slices.ContainsFunc(target.heads, func(h heading) bool { return h.id == u.Fragment }) {
		return to, fmt.Errorf("%s: %s has no heading #%s", p.file, target.file, u.Fragment)
	}
	at := relative(p.url(), target.url())
	if target == p {
		at = ""
	}
	if u.Fragment != "" {
		at += "#" + u.Fragment
	}
	return at, nil
}

// relative is the link from one page of the site to another.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}
