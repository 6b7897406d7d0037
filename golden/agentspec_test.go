package golden_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	namedTest = regexp.MustCompile("`([a-z/0-9]+)` (Test[A-Za-z0-9]+)(/[A-Za-z0-9_.]+)?")
	namedPath = regexp.MustCompile("`((?:runtime|ir|codegen|golden|examples|cmd|studio)/?[a-z0-9/_.]*)`")
	subtest   = regexp.MustCompile(`(?:t\.Run\(|\n\t+)"([^"]+)"[,:] `)
)

// TestAgentSpec holds docs/agent-spec.md to what it names, files, packages and tests, and to having every row of the
// document: testdata/agentspec.txt is the list of those.
func TestAgentSpec(t *testing.T) {
	data, err := os.ReadFile("../docs/agent-spec.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, m := range namedPath.FindAllStringSubmatch(page, -1) {
		if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
			t.Error(err)
		}
	}
	for _, m := range namedTest.FindAllStringSubmatch(page, -1) {
		body := testBody(t, m[1], m[2])
		if body == "" {
			t.Errorf("there is no test %s in %s", m[2], m[1])
		} else if m[3] != "" && !slices.ContainsFunc(subtest.FindAllStringSubmatch(body, -1), func(s []string) bool {
			return "/"+strings.ReplaceAll(s[1], " ", "_") == m[3]
		}) {
			t.Errorf("test %s in %s has no part %s", m[2], m[1], m[3])
		}
	}
	data, err = os.ReadFile("testdata/agentspec.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(data)), "\n"), func(s string) bool { return strings.HasPrefix(s, "#") })
	if diff := cmp.Diff(want, rows(t, page)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if len(want) < 120 {
		t.Errorf("only %d rows", len(want))
	}
}

// rows are the rows that the page has, with - before those that are not there. Each of the others names a test.
func rows(t *testing.T, page string) []string {
	t.Helper()
	_, part, _ := strings.Cut(page, "\n## Row by row\n")
	part, _, _ = strings.Cut(part, "\n## ")
	var list []string
	for line := range strings.Lines(part) {
		cells := strings.Split(strings.Trim(line, "|\n"), "|")
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || len(cells) != 3 || cells[0] == " row " {
			continue
		}
		row, test := strings.TrimSpace(cells[0]), strings.TrimSpace(cells[2])
		switch {
		case strings.HasPrefix(test, "not here: "):
			row = "- " + row
		case !namedTest.MatchString(test) && !strings.HasPrefix(test, "`golden/native/"):
			t.Errorf("row %s names no test", row)
		}
		list = append(list, row)
	}
	return list
}

// testBody is the text of a test function in a folder, empty when there is none.
func testBody(t *testing.T, folder, name string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, body, found := strings.Cut(string(text), "\nfunc "+name+"(t *testing.T) {\n"); found {
			body, _, _ = strings.Cut(body, "\n}\n")
			return body
		}
	}
	return ""
}
