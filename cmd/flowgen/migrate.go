package main

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
)

// A migration replaces the spellings of earlier versions in a set of files. What a file means can depend on those that include
// it: they are read first.
type migration struct {
	*app
	secrets map[string][]string // by file: those that files which include it declare
	prompts map[string]bool
}

// migrateFiles migrates files and their prompts.
func (a *app) migrateFiles(names []string, check bool) error {
	m := &migration{app: a, secrets: map[string][]string{}, prompts: map[string]bool{}}
	for _, name := range names {
		m.gather(name)
	}
	prompts := make([]string, 0, len(m.prompts))
	for name := range m.prompts {
		prompts = append(prompts, name)
	}
	slices.Sort(prompts)
	err := a.rewriteFiles(names, check, "migrated", m.workflow)
	return cmp.Or(err, a.rewriteFiles(prompts, check, "migrated", m.prompt))
}

// gather reads what a workflow file names.
func (m *migration) gather(name string) {
	text, err := readOwn(filepath.FromSlash(name))
	if err != nil {
		return // said when it is its turn
	}
	includes, prompts, secrets := parser.Serves(source.NewFile(name, string(text)))
	for _, p := range prompts {
		if p = beside(name, p); p != "" && there(p) {
			m.prompts[p] = true
		}
	}
	m.include(name, includes, secrets, 0)
}

// include hands the secrets of a workflow to the files that it includes, and to those that they include.
func (m *migration) include(name string, includes, secrets []string, depth int) {
	for _, f := range includes {
		f = beside(name, f)
		if f == "" || depth > 50 || len(secrets) > 0 && slices.Contains(m.secrets[f], secrets[0]) {
			continue
		}
		m.secrets[f] = append(m.secrets[f], secrets...)
		if text, err := readOwn(filepath.FromSlash(f)); err == nil {
			more, _, _ := parser.Serves(source.NewFile(f, string(text)))
			m.include(f, more, secrets, depth+1)
		}
	}
}

// beside is the file that another one names; empty when it is not in or below the folder the command runs in.
func beside(name, file string) string {
	p := path.Join(path.Dir(name), file)
	if path.IsAbs(file) || path.IsAbs(name) && !strings.HasPrefix(p, path.Dir(name)+"/") || p == ".." || strings.HasPrefix(p, "../") {
		return ""
	}
	return p
}

func there(name string) bool {
	_, err := readOwn(filepath.FromSlash(name))
	return err == nil
}

// workflow is the text of a workflow file or a library, migrated and in canonical layout.
func (m *migration) workflow(name string, text []byte, sink *diag.Sink) (string, bool, error) {
	m.file = name
	out, _, ok, err := parser.Migrate(source.NewFile(name, string(text)), m.secrets[name], sink)
	m.file = ""
	if err != nil {
		return "", false, fmt.Errorf("%s cannot be migrated and is left as it is: %w", name, err)
	}
	if !ok {
		return "", false, nil
	}
	return m.formatted(name, []byte(out), sink)
}

// prompt is the text of a prompt file, migrated.
func (m *migration) prompt(name string, text []byte, sink *diag.Sink) (string, bool, error) {
	out, _, err := parser.MigratePrompt(source.NewFile(name, string(text)), sink)
	if err != nil {
		return "", false, fmt.Errorf("%s cannot be migrated and is left as it is: %w", name, err)
	}
	return out, true, nil
}
