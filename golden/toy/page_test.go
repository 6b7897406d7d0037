package toy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A page is one of docs/architecture, with its fenced blocks.
type page struct {
	name, text string
	blocks     []*block
}

type block struct {
	lang  string
	attrs map[string]string
	text  string
	line  int
}

var fence = regexp.MustCompile("^```([a-z]*)((?: [a-z]+=[^ ]+)*)$")

func pageOf(t *testing.T, name string) *page {
	t.Helper()
	p := &page{name: "docs/architecture/" + name + ".md"}
	p.text = string(read(t, "../../"+p.name))
	var open *block
	for i, line := range strings.Split(p.text, "\n") {
		switch m := fence.FindStringSubmatch(line); {
		case open != nil && line == "```":
			open = nil
		case open != nil:
			open.text += line + "\n"
		case m != nil:
			open = &block{lang: m[1], attrs: map[string]string{}, line: i + 2}
			for attr := range strings.FieldsSeq(m[2]) {
				k, v, _ := strings.Cut(attr, "=")
				open.attrs[k] = v
			}
			p.blocks = append(p.blocks, open)
		case strings.HasPrefix(line, "```"):
			t.Errorf("%s:%d: %s", p.name, i+1, line)
		}
	}
	return p
}

// A command is a line of a console with what it prints.
type command struct{ line, output string }

func (b *block) commands() []command {
	var all []command
	for line := range strings.Lines(b.text) {
		if c, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, command{line: strings.TrimSpace(c)})
		} else if len(all) > 0 {
			all[len(all)-1].output += line
		}
	}
	for i := range all {
		all[i].output = strings.TrimRight(all[i].output, "\n")
	}
	return all
}

var testFlag = regexp.MustCompile(`^[A-Z]\w*$`)

// command holds a command to what there is: `go test` names tests that its packages have, `make` a target. Those of flowgen are
// run by TestToy.
func (p *page) command(t *testing.T, b *block, line string) {
	t.Helper()
	words := strings.Fields(line)
	switch {
	case words[0] == "flowgen":
	case words[0] == "make" && len(words) == 2:
		if !strings.Contains("\n"+string(read(t, "../../Makefile")), "\n"+words[1]+":") {
			t.Errorf("%s:%d: there is no target %s", p.name, b.line, words[1])
		}
	case strings.HasPrefix(line, "go test "):
		var tests, pkgs []string
		for i, w := range words[2:] {
			switch {
			case w == "-run":
				tests = strings.Split(words[i+3], "|")
			case w == ".", strings.HasPrefix(w, "./"):
				pkgs = append(pkgs, w)
			case w == "-update" || w == "-short" || words[i+1] == "-run":
			default:
				t.Errorf("%s:%d: %s of %s is not understood", p.name, b.line, w, line)
			}
		}
		for _, name := range tests {
			if !testFlag.MatchString(name) || !hasTest(t, pkgs, name) {
				t.Errorf("%s:%d: none of %v has a test %s", p.name, b.line, pkgs, name)
			}
		}
	case strings.HasPrefix(line, "go build ./"), strings.HasPrefix(line, "go vet ./"):
		list := exec.Command("go", append([]string{"list"}, words[2:]...)...)
		list.Dir = filepath.Join("..", "..")
		if out, err := list.CombinedOutput(); err != nil {
			t.Errorf("%s:%d: %s: %s", p.name, b.line, line, out)
		}
	default:
		t.Errorf("%s:%d: nothing runs %s", p.name, b.line, line)
	}
}

func hasTest(t *testing.T, pkgs []string, name string) bool {
	for _, pkg := range pkgs {
		files, _ := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(strings.TrimSuffix(pkg, "/...")), "*_test.go"))
		for _, f := range files {
			if strings.Contains(string(read(t, f)), "\nfunc "+name+"(") || strings.Contains(string(read(t, f)), "\nfunc Test"+name) {
				return true
			}
		}
	}
	return false
}

var pathForm = regexp.MustCompile("`((?:ir|parser|codegen|convert|runtime|cmd|golden|docs|internal)/[A-Za-z0-9_/.-]+)`")

// paths holds the paths that a page names to the module: each is a file or a folder, but for those of the dialect that it adds.
func (p *page) paths(t *testing.T) {
	t.Helper()
	for _, m := range pathForm.FindAllStringSubmatch(p.text, -1) {
		if strings.Contains(m[1], "/toy") {
			continue
		}
		if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(m[1]))); err != nil {
			t.Errorf("%s names %s, which is not there", p.name, m[1])
		}
	}
}
