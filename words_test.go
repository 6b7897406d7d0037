package flowgen_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// foreignWords are phrases that have a usual technical word, which readers search for. Each is wrong in every sense.
var foreignWords = []struct {
	form *regexp.Regexp
	use  string
}{
	{phrase(`side by side`), "in parallel"},
	{phrase(`(done|does|tried) again`), "retried, repeated, executed again"},
	{phrase(`how-manieth`), "index"},
	{phrase(`whoever`), "the user, the caller"},
	{phrase(`nothing of it`), "none, no"},
	{phrase(`such a one`), "one"},
	{phrase(`to be had`), "available"},
	{phrase(`(the )?beginning of (the|an) address`), "base URL"},
	{phrase(`(cannot|can) be listened at`), "cannot listen on"},
	{phrase(`asking a model`), "model call"},
	{phrase(`mend(s|ed|ing)?`), "fix"},
	{phrase(`(a|no) whole number`), "an integer"},
	{phrase(`whole numbers`), "integers"},
	{phrase(`stands? (twice|more than once)`), "appears twice"},
	{phrase(`(cannot|can) stand (here|in|on|at|where)`), "is not allowed here, cannot be used in"},
	{phrase(`stands (in the|in a|at the|at its|under|on the|where)`), "is in, is declared in, belongs in"},
	{phrase(`variables? of the environment`), "environment variable"},
	{phrase(`(asks|to|that) a person`), "a user, an approver"},
	{phrase(`waiting for people`), "waiting for answers"},
	{phrase(`(model|agent|it) is told`), "receives"},
	{phrase(`(models|agents) are told`), "receive"},
	{phrase(`next to a float`), "with a float"},
	{phrase(`beside (the|this|its|a) (file|workflow|graph|generated|code)`), "next to"},
	{phrase(`spelt|misspelt`), "written, misspelled"},
	{phrase(`there (is|are) no [a-z]+ (%[qsvd]|by that name|of that name|of this name)`), "unknown X, no such X"},
	{phrase(`behind an anchor`), "an alias of an anchor"},
	{phrase(`has no meaning`), "has no effect"},
	{phrase(`nothing says what`), "the type is unknown"},
	{phrase(`leads? in a circle`), "form a cycle"},
	{phrase(`names with points between`), "names separated by dots"},
	{phrase(`go(es)? on with`), "continues with"},
	{phrase(`reads it as written`), "receives it as written"},
	{phrase(`anew`), "again, a new"},
	{isNo, "is not a"},
}

// isNo is "x is no y". Usual are "there is no y" and what usualNo lists.
var (
	isNo    = phrase(`(there )?(is|are|was|were) no [a-z]+`)
	usualNo = phrase(`there (is|are|was|were) no [a-z]+|(is|are|was|were) no (longer|more|such)`)
)

// allowedWords are the texts that are not edited yet or quote an output, by file: how many. The list may only shrink.
var allowedWords = map[string]int{
	"examples/triage/source/source.go": 1, // its code is in the hashes of recorded runs
}

func phrase(form string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b` + strings.ReplaceAll(form, " ", `\s+`) + `\b`)
}

// TestWords: what people read, pages and the texts in the source, uses the words that they search for.
func TestWords(t *testing.T) {
	texts := map[string][]string{}
	count := 0
	err := filepath.WalkDir(".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			if name != "." && strings.HasPrefix(e.Name(), ".") || e.Name() == "testdata" || e.Name() == "node_modules" {
				return filepath.SkipDir
			}
		case slices.Contains([]string{"CHANGELOG.md", "RATIONALE.md"}, name): // history
		case strings.HasSuffix(name, ".md"):
			page, err := os.ReadFile(name)
			texts[name] = []string{code.ReplaceAllString(string(page), "")}
			return err
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			texts[name], err = literals(name)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for name, list := range texts {
		for _, text := range list {
			count++
			for _, w := range foreignWords {
				for _, hit := range w.form.FindAllString(text, -1) {
					if w.form == isNo && usualNo.MatchString(hit) {
						continue
					}
					if found[filepath.ToSlash(name)]++; allowedWords[filepath.ToSlash(name)] == 0 {
						t.Errorf("%s: write %q instead of %q", name, w.use, hit)
					}
				}
			}
		}
	}
	for name, n := range allowedWords {
		if found[name] != n {
			t.Errorf("%s has %d of these words, expected %d: correct the text, or shrink the list", name, found[name], n)
		}
	}
	if count < 10000 {
		t.Errorf("only %d texts were found", count)
	}
}

// code is what pages quote: blocks and spans.
var code = regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]*`")

// literals are the texts of a file that have several words.
func literals(name string) (list []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && strings.Contains(lit.Value, " ") {
			text, err := strconv.Unquote(lit.Value)
			if err == nil {
				list = append(list, text)
			}
		}
		return true
	})
	return list, nil
}
