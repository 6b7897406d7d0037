//go:build unix

package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// An action is what is read of action.yml.
type action struct {
	Inputs map[string]struct{ Description, Default string }
	Runs   struct {
		Using string
		Steps []struct {
			Name, If, Shell, Run string
			WorkingDirectory     string `yaml:"working-directory"`
			Env                  map[string]string
		}
	}
}

var (
	inputValue = regexp.MustCompile(`^\$\{\{ inputs\.([a-z-]+) \}\}$`)
	inputIs    = regexp.MustCompile(`^inputs\.([a-z-]+) == '([a-z]+)'$`)
)

// steps does the steps as a runner does, up to the first one that fails, whose name it returns. The workspace is the folder around
// the project.
func (g *guide) steps(t *testing.T, a *action, with map[string]string) (failed string, out string) {
	t.Helper()
	input := func(name string) string {
		if value, ok := with[name]; ok {
			return value
		}
		in, ok := a.Inputs[name]
		if !ok {
			t.Fatalf("unknown input %s", name)
		}
		return in.Default
	}
	value := func(text string) string {
		if m := inputValue.FindStringSubmatch(text); m != nil {
			return input(m[1])
		}
		if strings.Contains(text, "${{") {
			t.Fatalf("%s: unknown here", text)
		}
		return text
	}
	for _, s := range a.Runs.Steps {
		if s.If != "" {
			m := inputIs.FindStringSubmatch(s.If)
			if m == nil {
				t.Fatalf("%s: unknown here", s.If)
			}
			if input(m[1]) != m[2] {
				continue
			}
		}
		if s.Shell != "bash" || strings.Contains(s.Run, "${{") {
			t.Fatalf("%s: not bash, or an expression is a part of the script", s.Name)
		}
		script := filepath.Join(t.TempDir(), "script.sh")
		write(t, script, s.Run)
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", script)
		workspace := filepath.Dir(g.dir)
		cmd.Dir = filepath.Join(workspace, value(s.WorkingDirectory))
		cmd.Env = append(g.env, "GITHUB_ACTIONS=true", "GITHUB_WORKSPACE="+workspace)
		for name, text := range s.Env {
			cmd.Env = append(cmd.Env, name+"="+value(text))
		}
		text, err := cmd.CombinedOutput()
		if out += fmt.Sprintf("# %s\n%s", s.Name, text); err != nil {
			return s.Name, out
		}
	}
	return "", out
}

const shopDocument = `openapi: 3.1.0
info: {title: Shop, version: "1"}
servers: [{url: "https://shop.example.com/v1"}]
paths:
  /orders/{id}:
    get:
      operationId: getOrder
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses:
        "200":
          description: The order.
          content: {application/json: {schema: {type: object, required: [total], properties: {total: {type: integer}, note: {type: string}}}}}
`

const shopWorkflow = `flowgen: 1
name: shop
input: {id: int}
tools:
  get_order: {openapi: {spec: shop.yaml, operation: getOrder}}
nodes:
  order: {tool: get_order, with: {id: $input.id}}
output: {total: $order.total}
`

func TestAction(t *testing.T) {
	needs(t, "bash", true)
	var a action
	if err := yaml.Unmarshal([]byte(read(t, "../../action.yml")), &a); err != nil || a.Runs.Using != "composite" || len(a.Runs.Steps) != 5 {
		t.Fatalf("%v: %+v", err, a)
	}
	g := open(t)
	page := read(t, page)
	for name, in := range a.Inputs {
		if !strings.Contains(page, fmt.Sprintf("\n| `%s` | `%s` |", name, in.Default)) {
			t.Errorf("the page does not say that %s is %s", name, in.Default)
		}
	}
	file := func(name string) string { return filepath.Join(g.dir, name) }
	write(t, file("shop/shop.yaml"), shopDocument)
	write(t, file("shop/shop.flowgen.yaml"), shopWorkflow)
	write(t, file("greeting.test.yaml"), "flowgen: 1\ncases:\n  ada: {input: {name: Ada}, want: {output: {text: \"Hello, Ada!\"}}}\n")
	g.run(t, "flowgen", "lock", "./...")
	g.run(t, "flowgen", "test", "--record")
	g.run(t, "flowgen", "generate", "./...")
	for _, name := range []string{"greeting", "shop/shop"} {
		g.run(t, "sh", "-ec", "flowgen manifest --format json "+name+".flowgen.yaml > "+name+".manifest.json")
	}
	folder := filepath.Base(g.dir)
	with := map[string]string{"working-directory": folder, "flowgen": "flowgen", "lock": "true"}
	if failed, out := g.steps(t, &a, with); failed != "" {
		t.Fatalf("%s fails:\n%s", failed, out)
	}
	if _, err := os.Stat(file(a.Inputs["junit"].Default)); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct {
		file, old, new string
		step, want     string
	}{
		{"greeting.flowgen.yaml", "input.name }}", "input.nam }}", "flowgen check", "::error file=" + folder + "/greeting.flowgen.yaml,line=5,col="},
		{"greeting.flowgen.yaml", "Hello", "Welcome", "flowgen generate --check", "::error file=" + folder + "/greeting/greeting_flow.go,"},
		{"shop/shop.yaml", ", note: {type: string}", "", "flowgen check", "output.note is gone"},
		{"shop/flowgen.lock", "shop.yaml", "other.yaml", "flowgen lock --check", "breaking: shop.yaml: it is not locked"},
		{"shop/shop.manifest.json", "shop.example.com", "shop.example.org", "flowgen manifest --check", "shop.example.com"},
		{"greeting.test.yaml", "Hello, Ada", "Hello, Bob", "flowgen test", "Hello, Bob"},
	} {
		text := read(t, file(tt.file))
		wrong := strings.Replace(text, tt.old, tt.new, 1)
		if wrong == text {
			t.Fatalf("%s has no %s", tt.file, tt.old)
		}
		write(t, file(tt.file), wrong)
		if tt.step == "flowgen test" { // its Go is not stale
			g.run(t, "flowgen", "generate", "./...")
		}
		if failed, out := g.steps(t, &a, with); failed != tt.step || !strings.Contains(out, tt.want) {
			t.Errorf("%s with %s: %q fails, want %q with %s:\n%s", tt.file, tt.new, failed, tt.step, tt.want, out)
		}
		write(t, file(tt.file), text)
	}
}
