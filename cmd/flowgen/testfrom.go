package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/atomicfile"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/parser/insert"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// caseFlags are what a case is made of.
type caseFlags struct {
	from           runSource
	run            string // that is recorded
	workflow, name string
	dry            bool
}

// testFrom is `test --from RUN`.
func (a *app) testFrom(made *caseFlags, f *testFlags, args []string) error {
	switch {
	case f.record || f.update || f.junit != "":
		return usage("--from writes a case and runs none: leave out --record, --update and --junit")
	case len(args) > 1 || len(f.run) != 1:
		return usage("write test --from RUN --run NAME [FILE]")
	case len(args) == 1:
		made.workflow = args[0]
	}
	made.name = f.run[0]
	return a.caseFrom(made)
}

// caseFrom writes a case of a recorded run: its input, its answers, its result, and its calls as the cassette.
func (a *app) caseFrom(f *caseFlags) error {
	named, err := f.from.open(a.stderr)
	if err != nil {
		return err
	}
	id, j, err := named(f.run)
	if err != nil {
		return err
	}
	if !idForm.MatchString(f.name) {
		return usage("name the case with --run NAME: lower-case letters, digits and _, starting with a letter")
	}
	file, err := workflowFile(f.workflow, j.Header().Workflow)
	if err != nil {
		return err
	}
	fields, err := caseFields(j)
	if err != nil {
		return fmt.Errorf("run %s cannot become a test case: %w", id, err)
	}
	name := stemOf(file) + casesSuffix
	files := newDisk()
	const first = "  first: {}\n" // where a new file has its case
	before, text := "", "flowgen: 1\ncases:\n"+first
	if old, err := files.project(name).ReadFile(name); err == nil {
		before, text = string(old), string(old)
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if text, err = insert.Entry(text, nil, "cases", f.name, fields); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if before == "" {
		text = strings.Replace(text, first, "", 1)
	}
	cassette, err := a.caseFits(file, name, text, f.name)
	if err != nil {
		return err
	}
	calls := j.Without(func(r journal.Record) bool { return r.Tool == engine.HumanTool })
	change := unified(name, before, text)
	if before == "" {
		added := strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n+")
		change = fmt.Sprintf("--- /dev/null\n+++ %s\n@@ -0,0 +1,%d @@\n+%s\n", name, strings.Count(text, "\n"), added)
	}
	if _, err := io.WriteString(a.stdout, change); err != nil {
		return err
	}
	if n := len(calls.Records()); n > 0 {
		fmt.Fprintf(a.stderr, "flowgen: cassette %s has %d %s\n", cassette, n, plural(n, "call", "calls"))
	}
	if f.dry {
		return nil
	}
	if err := writeCassette(cassette, calls); err != nil {
		return err
	}
	return atomicfile.Write(filepath.FromSlash(name), []byte(text))
}

// caseFields are what a case says of a run that has ended.
func caseFields(j *journal.Journal) ([]insert.Field, error) {
	end := j.Finish()
	if end.Outcome != journal.Succeeded && end.Outcome != journal.Failed {
		return nil, errors.New("it has not ended with a result or an error")
	}
	var fields []insert.Field
	if input := entries(j.Header().Input); len(input) > 0 {
		fields = append(fields, insert.Field{Name: "input", Fields: input})
	}
	var answers []insert.Field
	for _, r := range j.Records() {
		if r.Tool != engine.HumanTool || !r.Done {
			continue
		}
		answer := "null"
		if v, err := value.Parse(r.Output); err == nil && r.Error == nil && r.Cancelled == "" {
			answer = constant(v)
		}
		answers = append(answers, insert.Field{Name: insert.Key(r.Key), Value: answer})
	}
	if len(answers) > 0 {
		fields = append(fields, insert.Field{Name: "answers", Fields: answers})
	}
	if end.Outcome == journal.Succeeded {
		if output := entries(end.Output); len(output) > 0 {
			fields = append(fields, insert.Field{Name: "want", Fields: []insert.Field{{Name: "output", Fields: output}}})
		}
		return fields, nil
	}
	for _, r := range slices.Backward(j.Records()) {
		if r.Error != nil && (end.Key == "" || r.Key == end.Key) {
			return append(fields, insert.Field{Name: "want", Fields: []insert.Field{{Name: "error", Value: string(r.Error.Code)}}}), nil
		}
	}
	return nil, errors.New("it failed without a call that failed")
}

// entries are the fields of a JSON object as constants of YAML.
func entries(text []byte) []insert.Field {
	v, err := value.Parse(text)
	if err != nil || v.Kind() != value.MapKind {
		return nil
	}
	var out []insert.Field
	for _, k := range v.Keys() {
		if one, _ := v.Get(k); !one.IsNull() { // an optional field may be left out
			out = append(out, insert.Field{Name: insert.Key(k), Value: constant(one)})
		}
	}
	return out
}

// constant writes a value where `$` and `{{ }}` have no meaning.
func constant(v value.Value) string {
	var parts []string
	switch v.Kind() {
	case value.ListKind:
		for i := range v.Len() {
			parts = append(parts, constant(v.Index(i)))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case value.MapKind:
		for _, k := range v.Keys() {
			one, _ := v.Get(k)
			parts = append(parts, insert.Key(k)+": "+constant(one))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case value.StringKind:
		return insert.Key(v.String())
	}
	b, _ := v.MarshalJSON() // numbers, truth values and null always are JSON
	return string(b)
}

// caseFits checks the file of cases with the new text, and returns the cassette of a case.
func (a *app) caseFits(workflow, name, text, id string) (cassette string, err error) {
	if strings.Contains(text, redact.Redacted) {
		return "", errors.New("the run's input or result contained a secret, which the journal omits")
	}
	files := newDisk()
	before := a.compile(files, workflow)
	after := newDisk()
	maps.Copy(after.texts, files.texts)
	after.names = append(after.names, files.names...)
	after.texts[name] = []byte(text)
	_, list := a.suites(after, []string{name})
	if err := a.report(newOnly(before.list, list), false); err != nil {
		return "", err
	}
	cases := parser.ParseCases(after.project(name), name, &diag.Sink{})
	if cases == nil || cases.Workflow.Name != path.Clean(workflow) {
		return "", fmt.Errorf("%s has cases of another workflow than %s", name, workflow)
	}
	for _, c := range cases.Cases {
		if c.Name.Name == id {
			return path.Join(path.Dir(name), c.Cassette.Name), nil
		}
	}
	return "", fmt.Errorf("%s cannot be extended", name)
}

// writeCassette writes calls where replays look for them. A run without any has none.
func writeCassette(name string, calls *journal.Journal) error {
	if len(calls.Records()) == 0 {
		return nil
	}
	text, err := calls.MarshalText()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(".") // no link of the project leads out of it
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o777); err != nil {
		return err
	}
	if old, err := root.ReadFile(filepath.FromSlash(name)); err == nil && !bytes.Equal(old, text) {
		return fmt.Errorf("%s is there already; give the case another name", name)
	}
	return root.WriteFile(filepath.FromSlash(name), text, 0o666)
}
