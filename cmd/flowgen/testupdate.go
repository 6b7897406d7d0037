package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/atomicfile"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/parser/insert"
	"github.com/flowgen-dev/flowgen/runtime/flowtest"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// update rewrites the expectations that do not hold, each at its place in the file. Comments and the rest of the file stay as
// they are.
func (a *app) update(s *suite, results []flowtest.Result, report *testReport) error {
	var list []diag.Diagnostic
	for _, r := range results {
		if r.Wrote != "" {
			report.rewritten++
		}
		i := slices.IndexFunc(s.cases.Cases, func(c *ir.TestCase) bool { return c.Name.Name == r.Case })
		if c := s.cases.Cases[i]; c.Want.Span.IsZero() && len(r.Failures) == 0 {
			list = append(list, s.firstWant(c, r.Output))
		}
		seen := map[source.Span]bool{}
		for _, f := range r.Failures {
			at, t := s.place(s.cases.Cases[i], f.Path)
			got, err := value.Parse(f.Got)
			if at.IsZero() || err != nil || seen[at] {
				continue
			}
			seen[at] = true
			list = append(list, diag.Diagnostic{Severity: diag.Error, Code: diag.Stale, Span: at, Fixes: []diag.Fix{diag.Replace(at, yamlText(got, t))}})
		}
	}
	files, applied := diag.ApplyFixes(list)
	if applied == 0 {
		return nil
	}
	report.rewritten += applied
	for _, f := range files {
		sink := &diag.Sink{}
		if parser.ParseCases(rewritten(f), f.File.Name, sink); sink.HasErrors() {
			return &fault{what: "the rewritten cases cannot be read: " + sink.List()[0].Message, file: f.File.Name}
		}
		if err := atomicfile.Write(filepath.FromSlash(f.File.Name), []byte(f.Text)); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.stderr, "flowgen: rewrote %d %s in %s\n", applied, plural(applied, "expectation", "expectations"), s.name)
	return nil
}

// rewritten is a file that is not written yet.
type rewritten diag.Fixed

func (f rewritten) ReadFile(string) ([]byte, error) { return []byte(f.Text), nil }

// firstWant gives a case that expects nothing what came out.
func (s *suite) firstWant(c *ir.TestCase, output json.RawMessage) diag.Diagnostic {
	got, err := value.Parse(output)
	if err != nil {
		got = value.Map()
	}
	text := "want: {output: " + yamlText(got, s.checked.Program.Output) + "}"
	file := c.Span.File
	at := source.Span{File: file, Lo: c.Span.Hi, Hi: c.Span.Hi}
	switch {
	case !strings.HasPrefix(c.Span.Text(), "{"): // a block: after its last line
		if i := strings.IndexByte(file.Text[at.Lo:], '\n'); i >= 0 {
			at.Lo += i
		} else {
			at.Lo = len(file.Text)
		}
		text = "\n" + strings.Repeat(" ", c.Span.Start().Col-1) + text
	default:
		at.Lo--
		before := strings.TrimRight(strings.TrimSuffix(c.Span.Text(), "}"), " \t\r\n")
		if !strings.HasSuffix(before, ",") && before != "{" {
			text = ", " + text
		}
	}
	at.Hi = at.Lo
	return diag.Diagnostic{Severity: diag.Error, Code: diag.Stale, Span: at, Fixes: []diag.Fix{diag.Replace(at, text)}}
}

// place is where an expectation stands, and the type of what is expected; the span is zero where nothing can be rewritten.
func (s *suite) place(c *ir.TestCase, path []string) (source.Span, *schema.Type) {
	if len(path) == 0 {
		return source.Span{}, nil
	}
	w := &c.Want
	value := func(v ir.Value) (source.Span, *schema.Type) {
		if v == nil {
			return source.Span{}, nil
		}
		return v.Source(), s.checked.Type(v)
	}
	fields := func(list []*ir.Entry) (source.Span, *schema.Type) {
		for _, e := range list {
			if len(path) == 2 && e.Key.Name == path[1] {
				return value(e.Value)
			}
		}
		return source.Span{}, nil
	}
	switch path[0] {
	case "output":
		return fields(w.Output)
	case "state":
		return fields(w.State)
	case "error":
		if w.Error != nil {
			return w.Error.Span, schema.AnyType
		}
	case "cost":
		if w.Cost != nil && len(path) == 2 {
			return w.Cost.Places[path[1]], schema.AnyType
		}
	case "calls":
		for _, call := range w.Calls {
			if len(path) != 3 || call.Key.Name != path[1] {
				continue
			}
			switch path[2] {
			case "input":
				return value(call.Input)
			case "output":
				return value(call.Output)
			}
			return call.Places[path[2]], schema.AnyType
		}
	}
	return source.Span{}, nil
}

// Text that YAML reads as the same text without quotes.
var (
	plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_ ./!?-]*[A-Za-z0-9_/!?]$|^[A-Za-z]$`)
	plainKey  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	notPlain  = regexp.MustCompile(`(?i)^(true|false|null|yes|no|on|off|y|n)$`)
)

// yamlText writes a value on one line, as YAML that reads as a value of type t.
func yamlText(v value.Value, t *schema.Type) string {
	if t == nil {
		t = schema.AnyType
	}
	to := t.Present()
	var parts []string
	switch v.Kind() {
	case value.ListKind:
		for i := range v.Len() {
			parts = append(parts, yamlText(v.Index(i), to.Elem))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case value.MapKind:
		for _, k := range v.Keys() {
			item, _ := v.Get(k)
			elem := to.Elem
			if f := to.Field(k); f != nil {
				elem = f.Type
			}
			parts = append(parts, yamlKey(k)+": "+yamlText(item, elem))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case value.IntKind:
		if to.Kind == schema.Duration {
			return time.Duration(v.Int()).String()
		}
	case value.StringKind:
		if s := v.String(); plainText.MatchString(s) && !notPlain.MatchString(s) {
			return s
		}
		return insert.Quote(v.String())
	}
	b, err := v.MarshalJSON()
	if err != nil {
		return "null"
	}
	return string(b)
}

func yamlKey(k string) string {
	if plainKey.MatchString(k) && !notPlain.MatchString(k) {
		return k
	}
	return insert.Quote(k)
}
