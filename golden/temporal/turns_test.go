//go:build unix

package temporal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/fake"
)

const asking = `flowgen: 1
name: asking
tools:
  look: {command: [echo, "page {{ n }}"], in: {n: int}, description: Looks., effects: reads, sandbox: none}
models: {m: {model: "ollama:llama3.2", base_env: OLLAMA_BASE_URL}}
nodes:
  talk: {agent: m, system: "You are an old hand.", prompt: "Read on", tools: [look], policy: {max_iterations: 10}}
  card: {llm: m, prompt: "Write a card about {{ talk.response }}"}
edges: [talk -> card -> end]
output: {card: $card}
`

// turn asks for the next page, or ends.
func turn(r *fake.Request) *fake.Response {
	if text := r.Last().Text; strings.Contains(text, "card") {
		return fake.Say("a card, " + text)
	}
	if n := r.Turn(); n < 4 {
		return fake.Ask(llm.Call{ID: fmt.Sprint("c", n), Name: "look", Args: fmt.Sprintf(`{"n":%d}`, n)})
	}
	return fake.Say("read")
}

// The worker is lost while a model is asked for the turn of an agent. A worker of a program with another agent neither asks the model nor
// does other harm, and names the node; one of a program that has changed after the agent goes on in the middle of the conversation.
func TestChangedInATurn(t *testing.T) {
	served(t)
	var lost func()
	var third atomic.Bool
	m, err := fake.Start("", func(r *fake.Request) *fake.Response {
		if r.Turn() == 2 && third.CompareAndSwap(false, true) {
			lost()
		}
		return turn(r)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	t.Setenv("OLLAMA_BASE_URL", m.Base(fake.OpenAI))
	program := func(name, old, now string) string {
		text := strings.Replace(asking, old, now, 1)
		return build(t, filepath.Join(folder(t, name, map[string]string{"asking.flowgen.yaml": text}), "asking.flowgen.yaml"))
	}
	old, other, newer := program("old", "", ""), program("other", "an old hand", "a new hand"), program("newer", "Write a card", "Print a card")
	flags := []string{"--queue", "asking", "--unpinned", "--heartbeat", "2s"}
	first := worker(t, old, flags...)
	dead := make(chan bool)
	lost = func() { _ = first.Process.Kill(); close(dead) }
	ok(t, old, "start", "--id", "asking", "--queue", "asking")
	<-dead
	_ = first.Wait()
	stop := wrong(t, other, "run asking does not continue with this program: ", flags...)
	for len(pendingFailure(t, old, "asking")) == 0 { // it was given the turn as well, and could not be told what came before
	}
	stop()
	asked := len(m.Requests())
	if asked != 3 {
		t.Errorf("%d requests before the right worker came", asked)
	}
	worker(t, newer, flags...)
	out := ok(t, newer, "result", "asking")
	if !strings.Contains(out, "Print a card about read") {
		t.Error(out)
	}
	all := m.Requests()
	if len(all) != 7 { // 5 turns and one again, and the card
		t.Errorf("%d requests", len(all))
	}
	for i, r := range all[:len(all)-1] {
		if r.System != "You are an old hand." || !strings.Contains(string(r.Body), "Read on") {
			t.Errorf("request %d: %s", i, r.Body)
		}
	}
	if last := string(all[len(all)-2].Body); strings.Count(last, "page ") != 4 {
		t.Errorf("the last turn does not have what came before: %s", last)
	}
	ok(t, newer, "replay", "asking")
	fails(t, 1, "node talk", other, "replay", "asking")
}

// pendingFailure is why the last attempt of a call has failed.
func pendingFailure(t *testing.T, exe, id string) string {
	s := fields[struct{ Pending []struct{ Failure string } }](t, ok(t, exe, "describe", id))
	for _, p := range s.Pending {
		if strings.Contains(p.Failure, "came before") {
			return p.Failure
		}
	}
	return ""
}

// A conversation of more bytes than the workflow is asked for at a time, with a prompt that goes to the store, is whole in each turn, with a
// codec before the server, and on a worker that begins in the middle.
func TestLongConversation(t *testing.T) {
	served(t)
	codec := newCodec(t)
	t.Setenv("TEMPORAL_CODEC_ENDPOINT", codec.URL)
	text := strings.Replace(asking, `command: [echo, "page {{ n }}"]`, `shell: ['printf "page %s" "$1"; head -c 40000 /dev/zero | tr "\0" x', "{{ n }}"]`, 1)
	text = strings.Replace(text, "tools:\n", "input: {text: string}\ntools:\n", 1)
	text = strings.Replace(text, `prompt: "Read on"`, `prompt: "Read on {{ input.text }}"`, 1)
	in := file(t, "in.json", `{"text": "`+strings.Repeat("x", 200_000)+`"}`)
	var kill atomic.Pointer[func()]
	m, err := fake.Start("", func(r *fake.Request) *fake.Response {
		if r.Turn() == 3 {
			if f := kill.Swap(nil); f != nil {
				(*f)()
			}
		}
		return turn(r)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	t.Setenv("OLLAMA_BASE_URL", m.Base(fake.OpenAI))
	exe := build(t, filepath.Join(folder(t, "long", map[string]string{"asking.flowgen.yaml": text}), "asking.flowgen.yaml"))
	store := t.TempDir()
	flags := []string{"--queue", "long", "--heartbeat", "2s", "--blobs", store}
	first := worker(t, exe, flags...)
	dead := make(chan bool)
	f := func() { _ = first.Process.Kill(); close(dead) }
	kill.Store(&f)
	ok(t, exe, "start", "--id", "long", "--queue", "long", "--blobs", store, "--input-json", in)
	<-dead
	_ = first.Wait()
	worker(t, exe, flags...)
	if out := ok(t, exe, "result", "long", "--blobs", store); !strings.Contains(out, "a card") {
		t.Error(out)
	}
	for _, r := range m.Requests() {
		if n := strings.Count(string(r.Body), "x"); !strings.Contains(r.Last().Text, "Write a card") && n < 200_000+40_000*r.Turn() {
			t.Errorf("turn %d has %d bytes", r.Turn(), n)
		}
	}
	if s := fields[state](t, ok(t, exe, "describe", "long")); s.Bytes > 600_000 {
		t.Errorf("the history has %d bytes", s.Bytes)
	}
	ok(t, exe, "replay", "long", "--blobs", store)
	if strings.Contains(ok(t, exe, "history", "long"), "eHh4eHh4") { // base64 of it
		t.Error("the history is not encoded")
	}
	files, err := filepath.Glob(filepath.Join(store, "*", "*"))
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil || strings.Contains(string(b), "xxxxxxxxxxxx") {
			t.Errorf("%s is not encoded: %v", f, err)
		}
	}
}
