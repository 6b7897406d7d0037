package diag_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

func github(t *testing.T, base string, list ...diag.Diagnostic) string {
	t.Helper()
	var b strings.Builder
	if err := diag.GitHub(&b, list, base); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGitHub(t *testing.T) {
	plain := mark("flows/a,b: 50%.yaml", "x: 1\ny: «zü» 2\n")
	wide := mark("b.yaml", "«a:\n  b»: 1\n")
	tests := []struct {
		name, base string
		d          diag.Diagnostic
		want       string
	}{
		{
			"escapes", "", diag.Diagnostic{Code: "FG0301", Message: "100% wrong\n::error::no, a: b", Span: plain, Help: "first\nsecond"},
			`::error file=flows/a%2Cb%3A 50%25.yaml,line=2,col=4,endLine=2,endColumn=6,title=FG0301::100%25 wrong\n::error::no, a: b%0Ahelp: first%0Asecond`,
		},
		{"several lines, warning", "", diag.Diagnostic{Severity: diag.Warning, Code: "FG0101", Message: "m", Span: wide}, `::warning file=b.yaml,line=1,col=1,endLine=2,title=FG0101::m`},
		{"note without a place", "", diag.Diagnostic{Severity: diag.Note, Message: "m"}, `::notice ::m`},
		{"folder", "sub/dir", diag.Diagnostic{Message: "m", Span: wide, Related: []diag.Related{{Span: wide, Message: "see"}, {Message: "and"}}},
			`::error file=sub/dir/b.yaml,line=1,col=1,endLine=2::m%0Asee: sub/dir/b.yaml:1:1%0Aand`},
		{"above", "sub", diag.Diagnostic{Message: "m", Span: source.Span{File: source.NewFile("../c.yaml", "")}}, `::error file=c.yaml::m`},
		{"absolute", "sub", diag.Diagnostic{Message: "m", Span: source.Span{File: source.NewFile("/c.yaml", "")}, Fixes: []diag.Fix{{Title: "mend it"}}}, `::error file=/c.yaml::m%0Ahelp: mend it`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want+"\n", github(t, tt.base, tt.d)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := github(t, ""); got != "" {
		t.Errorf("nothing gives %q", got)
	}
}

// Whatever a file holds, a diagnostic is one line and one command.
func TestGitHubIsOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab:,%\n\r\u0085\u2028\x1b]ü😀[]() "))).Draw(t, "text")
		f := source.NewFile(rapid.SampledFrom([]string{"a", "b\nc", "%0A::error::", "d,line=9"}).Draw(t, "name"), text)
		lo := rapid.IntRange(0, len(text)).Draw(t, "lo")
		d := diag.Diagnostic{Code: "FG0301", Message: text, Help: text, Span: source.Span{File: f, Lo: lo, Hi: rapid.IntRange(lo, len(text)).Draw(t, "hi")}}
		var b strings.Builder
		if err := diag.GitHub(&b, []diag.Diagnostic{d}, ""); err != nil {
			t.Fatal(err)
		}
		got := strings.TrimSuffix(b.String(), "\n")
		if strings.ContainsAny(got, "\n\r\x1b\u0085\u2028") || !regexp.MustCompile(`^::error [a-zA-Z]+=[^,:]*(,[a-zA-Z]+=[^,:]*)*::`).MatchString(got) {
			t.Errorf("%q", got)
		}
	})
}

// sarifLog is the part of the standard's object model that the tests read.
type sarifLog struct {
	Schema  string `json:"$schema"`
	Version string
	Runs    []struct {
		Tool struct {
			Driver struct {
				Name, Version, InformationURI string
				Rules                         []struct {
					ID               string
					ShortDescription struct{ Text string }
					Help             struct{ Text, Markdown string }
				}
			}
		}
		ColumnKind       string
		NewlineSequences []string
		Results          []struct {
			RuleID           string
			RuleIndex        *int
			Level            string
			Message          struct{ Text string }
			Locations        []sarifLocation
			RelatedLocations []sarifLocation
			Fixes            []struct {
				ArtifactChanges []struct {
					ArtifactLocation struct{ URI, URIBaseID string }
					Replacements     []struct {
						DeletedRegion   sarifRegion
						InsertedContent struct{ Text string }
					}
				}
			}
		}
	}
}

type sarifLocation struct {
	PhysicalLocation *struct {
		ArtifactLocation struct{ URI, URIBaseID string }
		Region           *sarifRegion
	}
	Message struct{ Text string }
}

type sarifRegion struct{ StartLine, StartColumn, EndLine, EndColumn int }

func sarif(t *testing.T, opts diag.SARIFOptions, list ...diag.Diagnostic) sarifLog {
	t.Helper()
	var b bytes.Buffer
	if err := diag.SARIF(&b, list, opts); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := diag.SARIF(&again, list, opts); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Error("written twice, the log differs")
	}
	var log sarifLog
	dec := json.NewDecoder(&b)
	if err := dec.Decode(&log); err != nil {
		t.Fatal(err)
	}
	return log
}

func TestSARIF(t *testing.T) {
	at := mark("flows/a b.yaml", "\ufeffx: 1\ny: 😀ü«zü» 2\n")
	first := in(at, "x")
	log := sarif(t, diag.SARIFOptions{Version: "v1.2.3", Base: "sub"},
		diag.Diagnostic{
			Code: "FG0301", Message: "see [here](https://evil.example)", Span: at, Help: "do it",
			Related: []diag.Related{{Span: first, Message: "first"}, {Message: "nowhere"}},
			Fixes:   []diag.Fix{{Title: "mend", Edits: []diag.Edit{{Span: at, New: "q"}, {Span: first, New: "w"}}}},
		},
		diag.Diagnostic{Severity: diag.Warning, Code: "FG0101", Message: "b", Span: source.Span{File: source.NewFile("/tmp/c.yaml", "")}},
		diag.Diagnostic{Severity: diag.Note, Message: "c"},
		diag.Diagnostic{Code: "FG0301", Message: "d", Span: source.Span{File: source.NewFile("../../e.yaml", "x"), Hi: 1}},
	)
	run := log.Runs[0]
	if log.Version != "2.1.0" || !strings.Contains(log.Schema, "sarif-2.1.0") || len(log.Runs) != 1 || run.ColumnKind != "utf16CodeUnits" ||
		run.Tool.Driver.Name != "flowgen" || run.Tool.Driver.Version != "v1.2.3" || len(run.NewlineSequences) != 3 {
		t.Errorf("head: %+v", log)
	}
	if rules := run.Tool.Driver.Rules; len(rules) != 2 || rules[0].ID != "FG0101" || rules[1].ID != "FG0301" || !strings.Contains(rules[1].Help.Markdown, "```yaml") || rules[1].ShortDescription.Text == "" {
		t.Errorf("rules: %+v", rules)
	}
	r := run.Results[0]
	if *r.RuleIndex != 1 || *run.Results[1].RuleIndex != 0 || run.Results[2].RuleIndex != nil || r.Level != "error" || run.Results[1].Level != "warning" || run.Results[2].Level != "note" {
		t.Errorf("results: %+v", run.Results)
	}
	if want := "see [here] (https://evil.example)\nhelp: do it"; r.Message.Text != want {
		t.Errorf("message %q", r.Message.Text)
	}
	loc := r.Locations[0].PhysicalLocation
	if loc.ArtifactLocation.URI != "sub/flows/a%20b.yaml" || loc.ArtifactLocation.URIBaseID != "%SRCROOT%" {
		t.Errorf("artifact: %+v", loc.ArtifactLocation)
	}
	// Two code units for the emoji, one for the umlaut.
	if diff := cmp.Diff(&sarifRegion{2, 7, 2, 9}, loc.Region); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&sarifRegion{1, 1, 1, 2}, r.RelatedLocations[0].PhysicalLocation.Region); diff != "" {
		t.Errorf("a byte order mark counts: %s", diff)
	}
	if r.RelatedLocations[1].PhysicalLocation != nil || r.RelatedLocations[1].Message.Text != "nowhere" {
		t.Errorf("related: %+v", r.RelatedLocations[1])
	}
	if c := r.Fixes[0].ArtifactChanges; len(c) != 1 || len(c[0].Replacements) != 2 || c[0].Replacements[0].InsertedContent.Text != "q" || c[0].Replacements[0].DeletedRegion != (sarifRegion{2, 7, 2, 9}) {
		t.Errorf("fix: %+v", c)
	}
	if l := run.Results[1].Locations[0].PhysicalLocation; l.ArtifactLocation.URI != "file:///tmp/c.yaml" || l.ArtifactLocation.URIBaseID != "" || l.Region != nil {
		t.Errorf("absolute: %+v", l)
	}
	if l := run.Results[3].Locations[0].PhysicalLocation; l.ArtifactLocation.URI != "../e.yaml" || l.ArtifactLocation.URIBaseID != "" {
		t.Errorf("outside: %+v", l)
	}
	if run.Results[2].Locations == nil || len(run.Results[2].Locations) != 0 {
		t.Error("locations are a list, also without any")
	}
	if empty := sarif(t, diag.SARIFOptions{}); empty.Runs[0].Results == nil || empty.Runs[0].Tool.Driver.Rules == nil {
		t.Errorf("nothing: %+v", empty)
	}
}

// Regions point at the text they are about, whatever is before it on the line.
func TestSARIFRegions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab\n\rü😀\u00a0"))).Draw(t, "text")
		runes := []rune(text)
		i := rapid.IntRange(0, len(runes)).Draw(t, "lo")
		j := rapid.IntRange(i, len(runes)).Draw(t, "hi")
		s := source.Span{File: source.NewFile("a", "\n"+text), Lo: 1 + len(string(runes[:i])), Hi: 1 + len(string(runes[:j]))}
		var b bytes.Buffer
		if err := diag.SARIF(&b, []diag.Diagnostic{{Span: s}}, diag.SARIFOptions{}); err != nil {
			t.Fatal(err)
		}
		var log sarifLog
		if err := json.Unmarshal(b.Bytes(), &log); err != nil {
			t.Fatal(err)
		}
		r := log.Runs[0].Results[0].Locations[0].PhysicalLocation.Region
		if lo, hi := unitOffset(s.File, r.StartLine, r.StartColumn), unitOffset(s.File, r.EndLine, r.EndColumn); lo != s.Lo || hi != s.Hi {
			t.Errorf("%+v is [%d,%d) of %q, want [%d,%d)", r, lo, hi, s.File.Text, s.Lo, s.Hi)
		}
	})
}

// unitOffset counts UTF-16 code units as a viewer would.
func unitOffset(f *source.File, line, col int) int {
	rest := f.Text[f.Offset(line, 1):]
	units := utf16.Encode([]rune(rest))[:col-1]
	return f.Offset(line, 1) + len(string(utf16.Decode(units)))
}

// TestProblemMatcher reads what Text writes with the regular expressions that CI registers.
func TestProblemMatcher(t *testing.T) {
	data, err := os.ReadFile("../../docs/problem-matcher.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		ProblemMatcher []struct {
			Owner, Severity string
			Pattern         []struct {
				Regexp                                      string
				File, Line, Column, Severity, Code, Message int
			}
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	type found struct{ Severity, Code, Message, File, Line, Column string }
	at := mark("flows/triage.flowgen.yaml", strings.Repeat("#\n", 12)+"{{ «first_drat» }}\n")
	text := render(t, diag.TextOptions{},
		diag.Diagnostic{Code: "FG0301", Message: `node "first_drat" is not defined`, Span: at, Related: []diag.Related{{Span: mark("other.yaml", "«x»"), Message: "see"}}},
		diag.Diagnostic{Severity: diag.Warning, Code: "FG0640", Message: "unused --> here:1:2", Span: in(at, "#")},
		diag.Diagnostic{Severity: diag.Note, Code: "FG0001", Message: "by the way", Span: in(at, "#")},
		diag.Diagnostic{Code: "FG0901", Message: "cannot read x.yaml", Span: source.Span{File: source.NewFile("x.yaml", "")}},
	)
	want := []found{
		{"error", "FG0301", `node "first_drat" is not defined`, "flows/triage.flowgen.yaml", "13", "4"},
		{"warning", "FG0640", "unused --> here:1:2", "flows/triage.flowgen.yaml", "1", "1"},
		{"notice", "FG0001", "by the way", "flows/triage.flowgen.yaml", "1", "1"},
		{"error", "FG0901", "cannot read x.yaml", "x.yaml", "", ""},
	}
	var got []found
	rows := strings.Split(text, "\n")
	for i := range rows {
		for _, m := range file.ProblemMatcher {
			f, all := found{Severity: m.Severity}, true
			for k, p := range m.Pattern {
				groups := regexp.MustCompile(p.Regexp).FindStringSubmatch(rows[min(i+k, len(rows)-1)])
				if all = groups != nil; !all {
					break
				}
				for _, x := range []struct {
					to *string
					i  int
				}{{&f.Severity, p.Severity}, {&f.Code, p.Code}, {&f.Message, p.Message}, {&f.File, p.File}, {&f.Line, p.Line}, {&f.Column, p.Column}} {
					if x.i > 0 {
						*x.to = groups[x.i]
					}
				}
			}
			if all {
				got = append(got, f)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\nin\n%s", diff, text)
	}
}
