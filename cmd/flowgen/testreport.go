package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/atomicfile"
	"github.com/flowgen-dev/flowgen/runtime/flowtest"
)

// printResults shows how the cases of a file ended: a line for each, and what is wrong below it.
func (a *app) printResults(s *suite, results []flowtest.Result) {
	for _, r := range results {
		word := "ok  "
		if len(r.Failures) > 0 {
			word = "FAIL"
		}
		fmt.Fprintf(a.stdout, "%s %s %s\n", word, s.name, r.Case)
		for _, f := range r.Failures {
			fmt.Fprintf(a.stdout, "     %s:%s: %s\n", s.name, f.Pos, printable(f.Message))
		}
		if r.Wrote != "" {
			fmt.Fprintf(a.stderr, "flowgen: wrote %s\n", oneLine(r.Wrote))
		}
	}
}

// printable is text for a terminal: what a tool or a model said must not control it, or be another text than one sees.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '\uFFFD'
		}
		if unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) && r != '\u200c' && r != '\u200d' { // joiners, which scripts and emoji need
			return '\uFFFD'
		}
		return r
	}, s)
}

// testReport sums up a run of cases.
type testReport struct {
	suites    []junitSuite
	cases     int
	failed    int
	rewritten int // expectations and cassettes that --update changed
}

func (t *testReport) summary() string {
	text := fmt.Sprintf("%d %s", t.cases, plural(t.cases, "case", "cases"))
	if t.failed > 0 {
		text += fmt.Sprintf(", %d failed", t.failed)
	}
	if t.rewritten > 0 {
		text += fmt.Sprintf(", %d %s rewritten: read the difference and run again", t.rewritten, plural(t.rewritten, "place", "places"))
	}
	return text
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func (t *testReport) add(s *suite, results []flowtest.Result) {
	js := junitSuite{Name: s.name, Tests: len(results)}
	total := 0.0
	for _, r := range results {
		total += r.Seconds
		jc := junitCase{Name: r.Case, Class: s.from.workflow.Name.Name, File: s.name, Time: seconds(r.Seconds)}
		if len(r.Failures) > 0 {
			js.Failures++
			jc.Failure = &junitFailure{Message: printable(r.Failures[0].Message)}
			for _, f := range r.Failures {
				jc.Failure.Text += fmt.Sprintf("%s:%s: %s\n", s.name, f.Pos, printable(f.Message))
			}
		}
		js.Cases = append(js.Cases, jc)
	}
	js.Time = seconds(total)
	t.suites = append(t.suites, js)
	t.cases += len(results)
	t.failed += js.Failures
}

func seconds(s float64) string {
	return fmt.Sprintf("%.3f", time.Duration(s*float64(time.Second)).Seconds())
}

// writeJUnit writes the results in the form that CI systems read.
func (t *testReport) writeJUnit(file string) error {
	all := struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}{Tests: t.cases, Failures: t.failed, Suites: t.suites}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	enc := xml.NewEncoder(&b)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	b.WriteByte('\n')
	return atomicfile.Write(file, b.Bytes())
}
