package engines_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/parser"
)

// compare lists where a run of flowgen and one of the engine differ, most telling first. A side that failed has no state to
// compare when the other has not.
func compare(d *document, ours, theirs *result) []string {
	switch {
	case ours.refused && theirs.Exit == 0:
		return []string{"flowgen refuses it: " + ours.Error}
	case ours.refused:
		return nil
	case ours.Exit == 0 && theirs.Exit != 0:
		return []string{"the engine fails: " + line(theirs.Error)}
	case ours.Exit != 0 && theirs.Exit == 0:
		return []string{"flowgen fails: " + line(ours.Error)}
	}
	var list []string
	if theirs.Output != nil || ours.Exit == 0 {
		list = values("output", ours.Output, theirs.Output)
	}
	for _, difference := range requests(d, ours.requests, theirs.requests) {
		if theirs.Exit != 0 { // what it failed with may be why it asked less
			difference += "; the engine fails: " + line(theirs.Error)
		}
		list = append(list, difference)
	}
	return list
}

// line is a text in one line, shortened.
func line(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return text[:min(len(text), 300)]
}

// values compares data; null stands for what is absent.
func values(at string, ours, theirs any) []string {
	a, isMap := ours.(map[string]any)
	b, both := theirs.(map[string]any)
	if isMap && both {
		names := maps.Clone(a)
		maps.Copy(names, b)
		var list []string
		for _, name := range slices.Sorted(maps.Keys(names)) {
			list = append(list, values(at+"."+name, a[name], b[name])...)
		}
		return list
	}
	as, isList := ours.([]any)
	bs, both := theirs.([]any)
	if isList && both && len(as) == len(bs) {
		var list []string
		for i := range as {
			list = append(list, values(fmt.Sprintf("%s[%d]", at, i), as[i], bs[i])...)
		}
		return list
	}
	x, _ := json.Marshal(ours)
	y, _ := json.Marshal(theirs)
	if string(x) == string(y) {
		return nil
	}
	return []string{at + ": flowgen " + line(string(x)) + ", engine " + line(string(y))}
}

// requests compares what models were asked, in order unless nodes run in parallel.
func requests(d *document, ours, theirs []request) []string {
	text := func(list []request) []string {
		var out []string
		for _, r := range list {
			b, _ := json.Marshal(r)
			out = append(out, string(b))
		}
		if d.parallel {
			slices.Sort(out)
		}
		return out
	}
	a, b := text(ours), text(theirs)
	if len(a) != len(b) {
		return []string{fmt.Sprintf("requests: flowgen %d, engine %d", len(a), len(b))}
	}
	var list []string
	for i := range a {
		if a[i] != b[i] {
			list = append(list, fmt.Sprintf("request %d: flowgen %s, engine %s", i+1, a[i], b[i]))
		}
	}
	return list
}

// A row explains differences: those of documents and engines that the patterns match, and whose text the expression finds.
type row struct {
	document, engine string
	difference       *regexp.Regexp
	reason           string
	used             bool
}

// rows reads the table of a dialect: lines of four columns between tabs, and comments.
func rows(t *testing.T, dialect string) []*row {
	t.Helper()
	f, err := os.Open(filepath.Join(folder(dialect), "rows.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	page, err := os.ReadFile(filepath.Join(home, "..", "..", "docs", "dialects", dialect+".md"))
	if err != nil {
		t.Fatal(err)
	}
	var list []*row
	for s := bufio.NewScanner(f); s.Scan(); {
		if text := s.Text(); text != "" && !strings.HasPrefix(text, "#") {
			columns := strings.Split(text, "\t")
			if len(columns) != 4 || strings.TrimSpace(columns[3]) == "" {
				t.Fatalf("%s: not four columns between tabs: %s", f.Name(), text)
			}
			if point, ok := strings.CutPrefix(columns[3], "page: "); ok && !strings.Contains(string(page), point) {
				t.Errorf("%s: the page has no such point: %s", f.Name(), point)
			} else if !ok && !strings.HasPrefix(columns[3], "harness: ") {
				t.Errorf("%s: the reason is none of the page or the harness: %s", f.Name(), columns[3])
			}
			list = append(list, &row{document: columns[0], engine: columns[1], difference: regexp.MustCompile(columns[2]), reason: columns[3]})
		}
	}
	return list
}

// TestRows reads every table: each row names a point that the page of its dialect has.
func TestRows(t *testing.T) {
	for _, l := range parser.Languages() {
		if _, err := os.Stat(filepath.Join(folder(l.Name), "rows.txt")); err == nil && len(rows(t, l.Name)) == 0 {
			t.Errorf("%s: no rows", l.Name)
		}
	}
}

// explain is the row that explains a difference; nil: none does.
func explain(list []*row, d *document, engine, difference string) *row {
	for _, r := range list {
		inDocument, _ := path.Match(r.document, d.name)
		inEngine, _ := path.Match(r.engine, engine)
		if inDocument && inEngine && r.difference.MatchString(difference) {
			r.used = true
			return r
		}
	}
	return nil
}
