//go:build unix

package temporal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/llm/fake"
)

// folder writes the files of a workflow and returns their folder, whose name the program has.
func folder(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for file, text := range files {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const talking = `flowgen: 1
name: talking
input: {turns: string}
tools:
  note: {command: [echo, "a remark of constant length about {{ n }}"], in: {n: int}, description: Notes., effects: none, sandbox: none}
models: {m: "scripted:answers.yaml"}
nodes:
  talk: {agent: m, prompt: "talk-{{ input.turns }}", tools: [note], policy: {max_iterations: 50, max_tool_calls: 50}}
output: {said: $talk.response}
`

// What an agent adds to a history grows with its turns, and not with their square: a turn holds what is new, and its activity asks the
// workflow for the rest. On a worker that begins in the middle it is the same.
func TestTurnsGrowLinearly(t *testing.T) {
	served(t)
	all := []int{5, 10, 20, 40}
	var answers strings.Builder
	answers.WriteString("answers:\n")
	for _, turns := range all {
		for i := range turns - 1 {
			fmt.Fprintf(&answers, "  - {prompt: talk-%02d, calls: [{name: note, args: {n: %d}}]}\n", turns, 1000+i)
		}
		fmt.Fprintf(&answers, "  - {prompt: talk-%02d, text: done}\n", turns)
	}
	exe := build(t, filepath.Join(folder(t, "talking", map[string]string{"talking.flowgen.yaml": talking, "answers.yaml": answers.String()}), "talking.flowgen.yaml"))
	worker(t, exe)
	bytes := map[int]float64{}
	for _, turns := range all {
		id := fmt.Sprint("talk-", turns)
		input := []string{"--input", fmt.Sprintf("turns=%02d", turns)}
		if out := ok(t, exe, append([]string{"start", "--id", id, "--wait"}, input...)...); !strings.Contains(out, "done") {
			t.Fatal(out)
		}
		bytes[turns] = float64(fields[state](t, ok(t, exe, "describe", id)).Bytes)
		t.Logf("%d turns: %.0f bytes, %.0f a turn", turns, bytes[turns], bytes[turns]/float64(turns))
		if turns == 10 {
			ok(t, exe, "replay", id)
		}
	}
	if grows := (bytes[40] - bytes[20]) / (bytes[20] - bytes[10]); grows > 2.2 { // 2: it is a line; 4: a square
		t.Errorf("from 20 to 40 turns the history grows %.2f times as much as from 10 to 20", grows)
	}
}

// A pin with on_missing: keep has what the latest run that has ended had, of the same tenant.
func TestEarlierRuns(t *testing.T) {
	served(t)
	exe := build(t, filepath.Join(folder(t, "keeping", map[string]string{"answers.yaml": `answers:
  - {prompt: look, calls: [{name: search, args: {q: books}}]}
  - {prompt: look, text: found}
  - {prompt: nothing, text: nothing}
`, "keeping.flowgen.yaml": `flowgen: 1
name: keeping
input: {what: string}
tools:
  search: {command: [echo, "about {{ q }}"], in: {q: string}, out: string, description: Searches., effects: reads, sandbox: none}
models: {m: "scripted:answers.yaml"}
nodes:
  find: {agent: m, prompt: "{{ input.what }}", tools: [search], pins: {hit: {tool: search, on_missing: keep}}}
output: {hit: $find.hit}
`}), "keeping.flowgen.yaml"))
	worker(t, exe)
	hit := func(id string, more ...string) string {
		out := fields[map[string]any](t, ok(t, exe, append([]string{"start", "--id", id, "--wait"}, more...)...))
		if out["hit"] == nil {
			return ""
		}
		return strings.TrimSpace(out["hit"].(string))
	}
	if got := hit("keeps-0", "--input", "what=nothing"); got != "" {
		t.Errorf("without an earlier run: %q", got)
	}
	if got := hit("keeps-1", "--input", "what=look"); got != "about books" {
		t.Errorf("of its own: %q", got)
	}
	for i := 0; hit(fmt.Sprint("keeps-listed-", i), "--input", "what=nothing") == ""; i++ { // the server lists what has ended a little later
	}
	if got := hit("keeps-2", "--input", "what=nothing"); got != "about books" {
		t.Errorf("of the run before: %q", got)
	}
	if got := hit("keeps-3", "--input", "what=nothing", "--tenant", "acme"); got != "" {
		t.Errorf("of another tenant: %q", got)
	}
	ok(t, exe, "replay", "keeps-2")
}

// A SirenSpec file's environment variables are put into what a model is asked on the worker that asks it, and are in no history.
func TestFilledElsewhere(t *testing.T) {
	served(t)
	const word = "open-sesame-of-the-worker"
	m, err := fake.Start("", func(*fake.Request) *fake.Response { return fake.Say("said") })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	t.Setenv("OLLAMA_BASE_URL", m.Base(fake.OpenAI))
	t.Setenv("WORD", word)
	exe := build(t, filepath.Join(folder(t, "filled", map[string]string{"filled.yaml": `version: "0.1"
agents: {a: {model: "ollama:llama3.2", system: "The word is {{ env.WORD }}"}}
nodes:
  first: {agent: a, writes: output.first}
  both: {type: swrm, agents: [{id: x, provider: ollama, model: llama3.2, prompt: "Say {{ env.WORD }}"}]}
edges: [{from: first, to: both}]
`}), "filled.yaml"))
	worker(t, exe)
	ok(t, exe, "start", "--id", "filled", "--wait", "--input", "message=hello")
	told := 0
	for _, r := range m.Requests() {
		if strings.Contains(string(r.Body), word) {
			told++
		}
	}
	if told != 2 {
		t.Errorf("%d of %d requests have the word", told, len(m.Requests()))
	}
	if strings.Contains(ok(t, exe, "history", "filled"), word) || strings.Contains(ok(t, exe, "inspect", "--temporal", "filled", "--format", "jsonl"), word) {
		t.Error("the word is in the history")
	}
	ok(t, exe, "replay", "filled")
}
