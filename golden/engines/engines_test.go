// Package engines_test runs the cases of public dialects, and random documents, through flowgen and through the dialects' own
// engines. README.md says how to add one.
package engines_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// home is the folder of this package.
var home string

func TestMain(m *testing.M) {
	home, _ = os.Getwd()
	// python3 may be a script that looks for the interpreter, as pyenv's is, and takes longer than what runs in it.
	if dir, err := exec.Command("python3", "-c", "import os, sys; print(os.path.dirname(sys.executable), end='')").Output(); err == nil {
		_ = os.Setenv("PATH", string(dir)+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	os.Exit(m.Run())
}

// full reports whether all engines are wanted; the test is skipped when none is.
func full(t *testing.T) bool {
	t.Helper()
	switch os.Getenv("ENGINES") {
	case "":
		t.Skip("ENGINES is not set: this installs engines from PyPI")
	case "small":
		return false
	}
	return true
}

// TestCases compares the cases of golden/<dialect>. ENGINES_CASES is a pattern of their names.
func TestCases(t *testing.T) {
	all := full(t)
	for _, l := range parser.Languages() {
		t.Run(l.Name, func(t *testing.T) {
			wanted := installed(t, l.Name, all)
			pattern := os.Getenv("ENGINES_CASES")
			if pattern == "" {
				pattern = "*"
			}
			files, err := filepath.Glob(filepath.Join(home, "..", l.Name, pattern+".txtar"))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			var documents []*document
			for _, file := range files {
				archive, err := txtar.ParseFile(file)
				if err != nil {
					t.Fatal(err)
				}
				name := strings.TrimSuffix(filepath.Base(file), ".txtar")
				if !strings.HasPrefix(string(archive.Comment), "not run:") && (all || small(wanted, name)) {
					documents = append(documents, unpack(t, dir, l, name, archive))
				}
			}
			differ(t, wanted, documents, all && pattern == "*")
		})
	}
}

// small reports whether a case is part of the small form.
func small(wanted map[*engine]*driver, name string) bool {
	for e := range wanted {
		if len(e.Cases) == 0 || slices.Contains(e.Cases, name) {
			return true
		}
	}
	return false
}

// TestRandom compares documents that golden/<dialect>/engine/generate.py writes: ENGINES_RANDOM of them (50), from the seed
// ENGINES_SEED (1) on. The small form has as many as the engine's list says.
func TestRandom(t *testing.T) {
	all := full(t)
	seed := number("ENGINES_SEED", 1)
	const batch = 200 // documents of one program
	for _, l := range parser.Languages() {
		t.Run(l.Name, func(t *testing.T) {
			wanted := installed(t, l.Name, all)
			generator := filepath.Join(folder(l.Name), "generate.py")
			if _, err := os.Stat(generator); err != nil {
				t.Skip("no generator")
			}
			count := 50
			if !all {
				count = 0
				for e := range wanted {
					count = max(count, e.Random)
				}
			}
			if count = number("ENGINES_RANDOM", count); count == 0 {
				t.Skip("ENGINES_RANDOM is not set")
			}
			for first := seed; first < seed+count; first += batch {
				last := min(first+batch, seed+count) - 1
				for compat, group := range byCompat(wanted) {
					t.Run(fmt.Sprintf("%d-%d%s", first, last, compat), func(t *testing.T) {
						differ(t, group, generated(t, l, generator, compat, first, last), false)
					})
				}
			}
		})
	}
}

// byCompat are the engines by the rules that they are compared under.
func byCompat(wanted map[*engine]*driver) map[string]map[*engine]*driver {
	out := map[string]map[*engine]*driver{}
	for e, d := range wanted {
		if out[e.Compat] == nil {
			out[e.Compat] = map[*engine]*driver{}
		}
		out[e.Compat][e] = d
	}
	return out
}

func number(variable string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return n
	}
	return otherwise
}

// generated are documents of seeds: the generator prints each as a txtar archive, ended by a line of `=`.
func generated(t *testing.T, l dialect.Language, generator, compat string, first, last int) []*document {
	t.Helper()
	out, err := exec.Command("python3", generator, strconv.Itoa(first), strconv.Itoa(last)).Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var documents []*document
	for text := range bytes.SplitSeq(out, []byte("\n====\n")) {
		if len(bytes.TrimSpace(text)) > 0 {
			d := unpack(t, dir, l, fmt.Sprintf("random%d", first+len(documents)), txtar.Parse(text))
			d.compat = cmp.Or(compat, d.compat)
			documents = append(documents, d)
		}
	}
	return documents
}

// installed are the engines of a dialect that are wanted, with their drivers.
func installed(t *testing.T, dialect string, all bool) map[*engine]*driver {
	t.Helper()
	wanted := map[*engine]*driver{}
	for _, e := range engines(t, dialect) {
		if only := os.Getenv("ENGINES_ONLY"); (all || e.Small) && (only == "" || only == e.Name) {
			if !all && e.Alone != "" && e.python() == "" {
				t.Logf("%s is left out: there is no Python %s", e.Name, e.Python)
				continue
			}
			wanted[e] = e.start(t, all)
		}
	}
	if len(wanted) == 0 {
		t.Skip("no engine")
	}
	return wanted
}

// differ runs documents on both sides and prints the table of differences. One that no row explains fails, and so does a row
// that explains nothing when all cases were run.
func differ(t *testing.T, wanted map[*engine]*driver, documents []*document, complete bool) {
	t.Helper()
	m := startModel(t)
	for _, d := range documents {
		d.compile(t)
	}
	exe := link(t, documents)
	table := rows(t, documents[0].Language.Name)
	equal, explained := 0, map[*row]int{}
	for _, d := range documents {
		for i, input := range d.inputs {
			run := func(side string, f func(env map[string]string) *result) *result {
				key := strings.NewReplacer("/", "-", ".", "-").Replace(d.name) + "-" + strconv.Itoa(i) + "-" + side
				at := m.url + "/" + key
				r := f(map[string]string{"OPENAI_BASE_URL": at + "/v1", "OPENAI_API_KEY": "key of the test", "OPENAI_MODEL": "gpt-4o-mini", "PROVIDER": "openai", "BASE": at, "TOKEN": "a token"})
				r.requests = m.take(key)
				return r
			}
			ours := run("flowgen", func(env map[string]string) *result { return d.run(t, exe, input, env) })
			for e, driver := range wanted {
				theirs := run(e.Name, func(env map[string]string) *result {
					return driver.run(t, &job{Dir: d.dir, File: d.Root, Compat: d.compat, Input: input, Answers: d.answers, Env: env})
				})
				differences := compare(d, ours, theirs)
				if len(differences) == 0 {
					equal++
				}
				for _, difference := range differences {
					if why := explain(table, d, e.Name, difference); why != nil {
						explained[why]++
					} else {
						t.Errorf("%s[%d] %s: %s", d.name, i, e.Name, difference)
					}
				}
			}
		}
	}
	t.Logf("%d documents, %d runs equal", len(documents), equal)
	for _, r := range table {
		if explained[r] > 0 {
			t.Logf("%4d %s", explained[r], r.reason)
		} else if complete && !strings.HasPrefix(r.document, "random") {
			t.Errorf("the row explains nothing: %s %s %s", r.document, r.engine, r.difference)
		}
	}
}
