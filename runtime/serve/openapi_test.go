package serve_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/serve"
)

// The document is valid by a public validator, and has the types of the workflow.
func TestOpenAPI(t *testing.T) {
	s := start(t, t.TempDir(), &bank{}, serve.Options{})
	doc := s.want(t, 200, "GET", "/v1/openapi.json", "")
	for _, want := range []string{`"openapi":"3.1.0"`, `"PayInput":{"additionalProperties":false,"properties":{"euros":{"format":"int64","maximum":9223372036854775807,"minimum":1,"type":"integer"},"note":{"default":"none","type":"string"},"to":{"minLength":1,"type":"string"}},"required":["to","euros"],"type":"object"}`,
		`"PayOutput":{"additionalProperties":false,"properties":{"paid":{"anyOf":[{"type":"string"},{"type":"null"}]}}`, `"operationId":"beginPay"`} {
		if !strings.Contains(doc.text, want) {
			t.Errorf("no %s in\n%s", want, doc.text)
		}
	}
	python, err := exec.LookPath("python3")
	if err != nil || exec.Command(python, "-c", "import openapi_spec_validator").Run() != nil {
		t.Skip("no openapi-spec-validator for Python")
	}
	file := filepath.Join(t.TempDir(), "openapi.json")
	if err := os.WriteFile(file, []byte(doc.text), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.CommandContext(t.Context(), python, "-m", "openapi_spec_validator", file).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, text)
	}
}
