package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"strings"
)

//go:embed assets
var assets embed.FS

var frame = template.Must(template.ParseFS(assets, "assets/page.html"))

// A section is a part of the navigation: its pages by name, or all of a folder.
type section struct {
	Title string
	files []string
}

var sections = []section{
	{"Start", []string{"README.md", "docs/start.md", "docs/faq.md"}},
	{"Concepts", []string{"docs/concepts/README.md", "docs/concepts/compile.md", "docs/concepts/order.md", "docs/concepts/tools.md", "docs/concepts/runs.md", "docs/concepts/trust.md"}},
	{"Guides", []string{"docs/guides/*", "examples/cookbook/README.md"}},
	{"Reference", []string{"docs/language.md", "docs/diagnostics.md", "docs/*"}},
	{"Coming from", []string{"docs/from-langgraph.md", "docs/from-dagu.md", "docs/from-temporal.md", "docs/from-github-actions.md", "docs/from-go.md"}},
	{"Other projects", []string{"docs/dialects.md", "docs/dialects/*"}},
	{"Project", []string{"CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "RATIONALE.md", "docs/architecture/*"}},
}

// An entry is a link of the navigation.
type entry struct {
	Title, URL string
	Here       bool
	page       *page
}

type group struct {
	Title string
	Pages []entry
}

// groups are the pages in the order of the navigation, each once.
func (s *site) groups() []group {
	named := map[string]bool{}
	for _, x := range sections {
		for _, f := range x.files {
			named[f] = true
		}
	}
	var list []group
	for _, x := range sections {
		g := group{Title: x.Title}
		for _, f := range x.files {
			folder, all := strings.CutSuffix(f, "/*")
			for _, p := range s.pages {
				if p.file == f || all && path.Dir(p.file) == folder && !named[p.file] {
					g.Pages = append(g.Pages, entry{Title: p.title, URL: p.url(), page: p})
				}
			}
		}
		list = append(list, g)
	}
	return list
}

// write writes the site into a folder.
func (s *site) write(out string) error {
	groups := s.groups()
	for _, p := range s.pages {
		if err := s.writePage(out, p, groups); err != nil {
			return fmt.Errorf("%s: %w", p.file, err)
		}
	}
	for name := range s.assets {
		data, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
		if err := errors.Join(err, save(out, name, data)); err != nil {
			return err
		}
	}
	for _, name := range []string{"site.css", "site.js", "icon.svg"} {
		data, err := assets.ReadFile("assets/" + name)
		if err := errors.Join(err, save(out, name, data)); err != nil {
			return err
		}
	}
	index, err := s.index()
	return errors.Join(err, s.playground(out), save(out, "search.js", index), save(out, "llms.txt", s.llms(groups)))
}

func (s *site) writePage(out string, p *page, groups []group) error {
	var body bytes.Buffer
	if err := s.md.Renderer().Render(&body, p.text, p.doc); err != nil {
		return err
	}
	nav := make([]group, len(groups))
	for i, g := range groups {
		nav[i].Title = g.Title
		for _, e := range g.Pages {
			nav[i].Pages = append(nav[i].Pages, entry{Title: e.Title, URL: relative(p.url(), e.URL), Here: e.page == p})
		}
	}
	var html bytes.Buffer
	err := frame.Execute(&html, map[string]any{
		"Title": p.title, "Summary": p.summary, "Nav": nav, "Root": strings.Repeat("../", strings.Count(p.url(), "/")),
		"Body": template.HTML(accessible.Replace(body.String())), // of Markdown in this repository; goldmark leaves raw HTML out
	})
	return errors.Join(err, save(out, p.url(), html.Bytes()))
}

// accessible makes what scrolls reachable by keyboard, and no header of the cells that head nothing.
var accessible = strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<table tabindex="0">`, "<th></th>", "<td></td>")

func save(out, name string, data []byte) error {
	full := filepath.Join(out, filepath.FromSlash(name))
	return errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, data, 0o644))
}

// index is what search looks through: a script, so that it also works in pages opened from a disk.
func (s *site) index() ([]byte, error) {
	type part struct {
		P string `json:"p"` // the page
		U string `json:"u"` // where
		H string `json:"h"` // the heading
		T string `json:"t"` // the text below it
	}
	var parts []part
	for _, p := range s.pages {
		for _, h := range p.heads {
			parts = append(parts, part{p.title, p.url() + "#" + h.id, h.title, h.text[:min(len(h.text), 600)]})
		}
	}
	data, err := json.Marshal(parts)
	return fmt.Appendf(nil, "const searchIndex = %s;\n", data), err
}

// llms is the list of pages for language models: https://llmstxt.org.
func (s *site) llms(groups []group) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# flowgen\n\n> %s\n", s.byName["README.md"].summary)
	for _, g := range groups {
		fmt.Fprintf(&b, "\n## %s\n\n", g.Title)
		for _, e := range g.Pages {
			first, _, _ := strings.Cut(e.page.summary, ". ")
			fmt.Fprintf(&b, "- [%s](%s%s): %s\n", e.Title, "https://raw.githubusercontent.com/flowgen-dev/flowgen/main/", e.page.file, strings.TrimSuffix(first, "."))
		}
	}
	return b.Bytes()
}
