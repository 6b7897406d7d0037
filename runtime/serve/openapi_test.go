package serve_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/serve"
	"github.com/flowgen-dev/flowgen/runtime/serving"
)

// The document is valid by a public validator, and has the types of the workflow.
func TestOpenAPI(t *testing.T) {
	many := strings.Repeat(`, {"name": "m", "input": {"to": "ada", "euros": 3}}`, 20)
	serving.Examples("pay", `[{"name": "small", "description": "at once", "input": {"to": "ada", "euros": 3}, "output": {"paid": "ada"}},
		{"name": "refused", "input": {"to": "", "euros": 3}}, {"name": "part", "input": {"to": "bob", "euros": 3}, "output": {"paid": {"$matches": "b"}}},
		{"name": "large", "input": {"to": "`+strings.Repeat("x", 20_000)+`", "euros": 3}}`+many+`]`)
	defer serving.Examples("pay", "[]")
	s := start(t, t.TempDir(), &bank{}, serve.Options{})
	doc := s.want(t, 200, "GET", "/v1/openapi.json", "")
	if strings.Contains(doc.text, "refused") || strings.Contains(doc.text, "xxxx") || strings.Contains(doc.text, "$matches") || strings.Count(doc.text, `"value":`) != 10 {
		t.Errorf("examples: %s", doc.text)
	}
	for _, want := range []string{`"small":{"description":"at once","value":{"to":"ada","euros":3}}`, `"part":{"value":`, `"m 2":{"value":`, `"examples":[{"paid":"ada"}]`, `"openapi":"3.1.0"`, `"PayInput":{"additionalProperties":false,"properties":{"euros":{"format":"int64","maximum":9223372036854775807,"minimum":1,"type":"integer"},"note":{"default":"none","type":"string"},"to":{"minLength":1,"type":"string"}},"required":["to","euros"],"type":"object"}`,
		`"PayOutput":{"additionalProperties":false,"examples":[{"paid":"ada"}],"properties":{"paid":{"anyOf":[{"type":"string"},{"type":"null"}]}}`, `"operationId":"beginPay"`} {
		if !strings.Contains(doc.text, want) {
			t.Errorf("no %s in\n%s", want, doc.text)
		}
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "openapi.json")
	if err := os.WriteFile(file, []byte(doc.text), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := python(t, dir, "-m", "openapi_spec_validator", file); err != nil {
		t.Errorf("%v: %s", err, text)
	}
	if _, err := os.Stat("../../go.mod"); err != nil {
		return // the compiler's module, which has another validator, is not beside this one
	}
	second := exec.Command("go", "run", "github.com/getkin/kin-openapi/cmd/validate", file)
	second.Dir = "../.."
	if text, err := second.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, text)
	}
}

// Handlers in a program of somebody else have the examples that they are given, in the same bounds.
func TestGivenExamples(t *testing.T) {
	s := start(t, t.TempDir(), &bank{}, serve.Options{Examples: map[string][]serve.Example{
		"pay":   {{Name: "small", Input: []byte(`{"to": "ada", "euros": 3}`), Output: []byte(`{"paid": "ada"}`)}, {Name: "refused", Input: []byte(`{"to": 7`)}},
		"other": {{Name: "foreign", Input: []byte(`{}`)}},
	}})
	doc := s.want(t, 200, "GET", "/v1/openapi.json", "").text
	if !strings.Contains(doc, `"examples":{"small":{"value":{"to":"ada","euros":3}}}`) || !strings.Contains(doc, `"examples":[{"paid":"ada"}]`) ||
		strings.Contains(doc, "refused") || strings.Contains(doc, "foreign") {
		t.Errorf("%s", doc)
	}
}

// A client that a public generator makes of the document begins runs, answers questions and reads what is wrong.
func TestGeneratedClient(t *testing.T) {
	dir := t.TempDir()
	script, err := filepath.Abs("testdata/client.py")
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, t.TempDir(), &bank{}, serve.Options{})
	if err := os.WriteFile(filepath.Join(dir, "openapi.json"), []byte(s.want(t, 200, "GET", "/v1/openapi.json", "").text), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := python(t, dir, "-m", "openapi_python_client", "generate", "--path", "openapi.json", "--output-path", "served", "--meta", "none"); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if text, err := python(t, dir, script, s.url); err != nil || text != "well\n" {
		t.Errorf("%v: %s", err, text)
	}
}

// python runs Python in a folder, with the packages that .ci/run installs.
func python(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	packages := os.Getenv("PYTHON_CLIENTS")
	switch {
	case packages == "" && os.Getenv("CI") != "":
		t.Fatal("PYTHON_CLIENTS is not set")
	case packages == "" || packages == "none":
		t.Skip("PYTHON_CLIENTS is not set: .ci/run installs the packages")
	}
	cmd := exec.CommandContext(t.Context(), "python3", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PYTHONPATH="+packages+string(filepath.ListSeparator)+dir)
	text, err := cmd.CombinedOutput()
	return string(text), err
}
