//go:build unix

package temporal

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/examples/api-report/shop"
	"github.com/flowgen-dev/flowgen/examples/triage/host"
	"github.com/flowgen-dev/flowgen/internal/recipes"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/fake"
)

// examples are all but incident, which has a test of its own.
var examples = map[string]string{
	"hello":         "../../examples/hello/hello.flowgen.yaml",
	"api_report":    "../../examples/api-report/api_report.flowgen.yaml",
	"release_notes": "../../examples/release-notes/release_notes.flowgen.yaml",
	"orders":        "../../examples/orders/orders.flowgen.yaml",
	"triage":        "../../examples/triage/triage.flowgen.yaml",
	"expense":       "../../examples/service/expense/expense.flowgen.yaml",
}

// reviewer is what the model of examples/triage says, in the format of its provider.
func reviewer(r *fake.Request) *fake.Response {
	var answer *fake.Response
	switch {
	case r.Schema != nil:
		answer = fake.Say(`{"route": "review", "why": "It changes what prices look like."}`)
	case r.Turn() == 0:
		answer = fake.Ask(llm.Call{ID: "c1", Name: "search", Args: `{"text": "cart.Price"}`}, llm.Call{ID: "c2", Name: "history", Args: `{"path": "cart/price.go"}`})
	default:
		answer = fake.Say("Prices lose their dollar sign. Is that meant?")
	}
	answer.Reply.Usage = llm.Usage{Input: 400, Output: 20}
	return answer
}

// triaged starts the model and the code host of examples/triage, and returns the port of the host.
func triaged(t *testing.T) (port int) {
	t.Helper()
	const key = "sk-key-of-the-model"
	model, err := fake.Start(key, reviewer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	t.Setenv("OPENAI_API_KEY", key)
	t.Setenv("OPENAI_BASE_URL", model.Base(fake.OpenAI))
	s, err := host.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	return s.Port
}

// Every example returns on the server what it returns in one process, and its history replays.
func TestExamples(t *testing.T) {
	served(t)
	s, err := shop.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	inputs := map[string][]string{
		"hello":         {"--input", "language=german"},
		"api_report":    {"--input", "port=" + strconv.Itoa(s.Port)},
		"release_notes": {"--input", "repo=" + repository(t), "--input", "audience=users"},
		"orders":        {"--input", "customer=ann", "--input", "item=tea", "--input", "amount=2"},
		"triage":        {"--input", "port=" + strconv.Itoa(triaged(t))},
		"expense":       {"--input", "employee=ann", "--input", "purpose=a train", "--input", "euros=90"},
	}
	for name, workflow := range examples {
		t.Run(name, func(t *testing.T) {
			orders := func() {
				if name == "orders" {
					t.Setenv("ORDERS_DB", "sqlite://"+stock(t))
				}
			}
			exe := build(t, workflow)
			orders()
			alone := []string{"run", "--quiet", "--no-journal"}
			if name == "expense" {
				t.Setenv("LEDGER", filepath.Join(t.TempDir(), "ledger"))
				alone = append(alone, "--answers", file(t, "answers", "approve\n"))
			}
			want := ok(t, exe, append(alone, inputs[name]...)...)
			orders()
			worker(t, exe)
			ok(t, exe, append([]string{"start", "--id", name}, inputs[name]...)...)
			if name == "expense" {
				for ok(t, exe, "questions", name) == "[]\n" {
				}
				ok(t, exe, "respond", name, "approve")
			}
			if got := ok(t, exe, "result", name); got != want {
				t.Errorf("%s\nwant %s", got, want)
			}
			ok(t, exe, "replay", name)
			record(t, exe, name)
		})
	}
}

// cookbook are the workflows of examples/cookbook with an input each.
var cookbook = map[string]string{
	"batch":   `{}`,
	"chat":    `{"text": "hello"}`,
	"expense": `{"employee": "ada", "purpose": "books", "amount": 120.5}`,
	"export":  `{"table": "orders"}`,
	"files":   `{"paths": ["a/1", "a/2", "a/3", "a/4", "a/5", "b/6", "b/7", "b/8", "b/9", "b/10", "gone"]}`,
	"journey": `{"traveller": "ada", "from": "Graz", "to": "Oslo", "day": "2026-03-01"}`,
	"judge":   `{"question": "What is the capital of France?"}`,
	"notes":   `{"ids": ["n1", "n2"], "channel": "team"}`,
	"report":  `{"day": "2026-02-01"}`,
	"review":  `{"number": 7}`,
	"tenants": `{"month": "2026-01"}`,
	"webhook": `{"event": {"kind": "push", "ref": "refs/heads/main", "commits": [{"id": "c1"}, {"id": "c2"}]}}`,
}

func recipe(name string) string {
	if name == "notes" {
		return "../../examples/cookbook/notes/notes.flowgen.yaml"
	}
	return "../../examples/cookbook/" + name + ".flowgen.yaml"
}

// Every workflow of the cookbook returns on the server what it returns in one process, and its history replays.
func TestCookbook(t *testing.T) {
	served(t)
	for _, variable := range recipes.Start(t) {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
	for name, input := range cookbook {
		t.Run(name, func(t *testing.T) {
			exe, in, id := build(t, recipe(name)), file(t, "in.json", input), "cookbook_"+name
			want := ok(t, exe, "run", "--quiet", "--no-journal", "--answers", file(t, "answers", "approve\n"), "--input-json", in)
			worker(t, exe, "--queue", id) // examples/service has an expense, too
			ok(t, exe, "start", "--id", id, "--queue", id, "--input-json", in)
			if name == "expense" {
				for ok(t, exe, "questions", id) == "[]\n" {
				}
				ok(t, exe, "respond", id, "approve")
			}
			if got := ok(t, exe, "result", id); got != want {
				t.Errorf("%s\nwant %s", got, want)
			}
			ok(t, exe, "replay", id)
			record(t, exe, id)
		})
	}
}

// repository is one of git with a few commits.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", args, err, out)
		}
	}
	git("init", "--quiet")
	for _, subject := range []string{"feat: count all lines", "fix: end with a line", "docs: say how", "parser: read faster"} {
		git("commit", "--quiet", "--allow-empty", "-m", subject)
	}
	return dir
}

// stock is the database of the example orders, with some tea.
func stock(t *testing.T) string {
	t.Helper()
	schema, err := os.ReadFile("../../examples/orders/schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "orders.db")
	cmd := exec.CommandContext(t.Context(), "python3", "-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.stdin.read())", file)
	cmd.Stdin = strings.NewReader(string(schema) + "insert into stock values ('tea', 10, 3.5);")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}
