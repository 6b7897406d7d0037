package golden_test

import (
	"bytes"
	"flag"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir/bind/mcplock"
	"github.com/flowgen-dev/flowgen/ir/diag"
)

// updateFlag makes -update also take a pattern: `-update` rewrites everything, `-update='map_*'` the cases that match
// and nothing else.
type updateFlag struct {
	all  *bool
	glob string
}

var rewrite = &updateFlag{all: update}

func init() { flag.Lookup("update").Value = rewrite }

func (f *updateFlag) IsBoolFlag() bool { return true }

func (f *updateFlag) String() string { return "" }

func (f *updateFlag) Set(text string) error {
	if all, err := strconv.ParseBool(text); err == nil {
		*f.all = all
		return nil
	}
	f.glob = text
	_, err := path.Match(text, "")
	return err
}

func (f *updateFlag) covers(name string) bool {
	ok, _ := path.Match(f.glob, name)
	return *f.all || ok
}

// TestGolden compiles every case and compares the IR, the diagnostics and the Go with what the case wants.
func TestGolden(t *testing.T) {
	for _, c := range corpus(t) {
		t.Run(c.name, func(t *testing.T) {
			if len(strings.Fields(c.comment())) < 4 {
				t.Error("the comment does not say what the case proves")
			}
			for _, p := range c.problems {
				t.Error(p)
			}
			c.compare(t, "want/ir", c.ir)
			c.compare(t, "want/diag", c.diag)
			name := "want/" + c.output()
			c.compare(t, name, c.code)
			known := []string{"want/ir", "want/diag", name, "want/run.json"}
			for _, a := range c.assets {
				c.compare(t, "want/"+a.Name, string(a.Data))
				known = append(known, "want/"+a.Name)
			}
			for _, f := range c.archive.Files {
				if dir, _, _ := strings.Cut(f.Name, "/"); dir == "want" && !slices.Contains(known, f.Name) {
					t.Errorf("no test reads %s", f.Name)
				} else if name, _ := binary(f); dir != "want" && !c.used[name] {
					t.Errorf("nothing uses %s", f.Name)
				}
			}
			if c.program == nil && c.has("want/run.json") {
				t.Error("the case has runs but does not compile")
			}
			c.save(t)
		})
	}
}

// compare holds a section to what was made. With -update it becomes that.
func (c *testcase) compare(t *testing.T, section, made string) {
	t.Helper()
	want := c.section(section)
	if want == made {
		return
	}
	if rewrite.covers(c.name) {
		c.replace(section, made)
		t.Errorf("%s is rewritten: read the difference and run again", section)
		return
	}
	t.Errorf("%s (-want +made):\n%s", section, cmp.Diff(strings.Split(want, "\n"), strings.Split(made, "\n")))
}

// mark is how a case says, on the line of YAML itself, which diagnostics are to point at it: `# FG0302`, or for a line
// that takes no comment `# FG0302+2`, two lines below.
var (
	marks = regexp.MustCompile(`#((?: FG\d{4}(?:[+-]\d+)?)+)\s*$`)
	mark  = regexp.MustCompile(`FG(\d{4})([+-]\d+)?`)
)

// TestMarks: every diagnostic of a case hits a line that is marked for it, and every mark is hit.
func TestMarks(t *testing.T) {
	for _, c := range corpus(t) {
		t.Run(c.name, func(t *testing.T) {
			want := map[string]int{}
			for _, f := range c.archive.Files {
				if !isYAML(f.Name) && path.Ext(f.Name) != ".go" && path.Ext(f.Name) != ".md" || strings.HasPrefix(f.Name, "want/") {
					continue
				}
				for i, line := range strings.Split(string(f.Data), "\n") {
					m := marks.FindStringSubmatch(line)
					if m == nil {
						continue
					}
					for _, one := range mark.FindAllStringSubmatch(m[1], -1) {
						by, _ := strconv.Atoi(one[2])
						want[fmt.Sprintf("%s:%d: FG%s", strings.TrimPrefix(f.Name, "modules/"), i+1+by, one[1])]++
					}
				}
			}
			made := map[string]int{}
			for _, d := range c.list {
				if path.Base(d.Span.File.Name) == mcplock.Name {
					continue // JSON takes no comments
				}
				made[fmt.Sprintf("%s:%d: %s", d.Span.File.Name, d.Span.Start().Line, d.Code)]++
			}
			if diff := cmp.Diff(want, made); diff != "" {
				t.Errorf("marked lines and diagnostics (-marked +made):\n%s", diff)
			}
		})
	}
}

// elsewhere are the codes that no case here can report: they come from the command line, or are about dialects and about what
// a host program brings, whose cases are in folders of their own.
var elsewhere = []diag.Code{diag.DialectDiffers, diag.NotSupported, diag.AmbiguousDialect, diag.IgnoredKey, diag.NotConverted, diag.OutputClash, diag.NotGenerated, diag.Stale, diag.MixedPackage, diag.SecretNotSet, diag.SecretBroad, diag.ProgramMissing, diag.Interpreter, diag.OpenSlot, diag.TierMissing, diag.EngineBound}

// TestEveryCode: every diagnostic code stands in a golden.
func TestEveryCode(t *testing.T) {
	seen := map[diag.Code]bool{}
	for _, c := range corpus(t) {
		for _, d := range c.list {
			seen[d.Code] = true
		}
	}
	for _, e := range diag.Codes() {
		if cases.skipped && !seen[e.Code] && e.Code >= diag.Interpreter && e.Code <= diag.EngineUnfit {
			continue // it takes an interpreter that is not installed
		}
		if seen[e.Code] == slices.Contains(elsewhere, e.Code) {
			t.Errorf("%s (%s): reported by a golden: %v", e.Code, e.Title, seen[e.Code])
		}
	}
}

// TestCorpus: wrong files are not an afterthought.
func TestCorpus(t *testing.T) {
	var good, wrong, runs int
	for _, c := range corpus(t) {
		if c.program == nil {
			wrong++
		} else {
			good++
		}
		if c.has("want/run.json") {
			runs++
		}
	}
	t.Logf("%d good cases, %d of them run, %d wrong ones", good, runs, wrong)
	if good < 45 || wrong < 35 || runs < good/2 {
		t.Error("the corpus is too small")
	}
}

func render(list []diag.Diagnostic) string {
	var b bytes.Buffer
	_ = diag.Text(&b, list, diag.TextOptions{})
	return b.String()
}
