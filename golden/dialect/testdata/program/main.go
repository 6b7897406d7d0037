// Command program holds the cases of golden/dialect that compile. It runs the one that is named, with each of its inputs, as
// plain Go, recorded and replayed, and prints what it gives with the keys of its calls. All three must give the same.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

type workflow func(ctx context.Context, input []byte, o ...runtime.Option) (any, error)

var flows = map[string]workflow{}

// add is called for every case with its New.
func add[W interface {
	Run(context.Context, In) (Out, error)
}, In, Out any](name string, start func(...runtime.Option) (W, error)) {
	flows[name] = func(ctx context.Context, input []byte, o ...runtime.Option) (any, error) {
		var in In
		if err := value.Decode(input, &in); err != nil {
			return nil, err
		}
		w, err := start(o...)
		if err != nil {
			return nil, err
		}
		return w.Run(ctx, in)
	}
}

func main() {
	f := flows[os.Args[1]]
	if f == nil {
		fail("the case is not linked")
	}
	stop := serve()
	defer stop()
	inputs, err := os.ReadFile("inputs.jsonl")
	if errors.Is(err, fs.ErrNotExist) {
		inputs = []byte(os.Args[2])
	} else if err != nil {
		fail(err.Error())
	}
	for input := range bytes.SplitSeq(bytes.TrimSpace(inputs), []byte("\n")) {
		try(f, input)
	}
	worker.Shutdown()
	tell()
}

// try runs a case with one input.
func try(f workflow, input []byte) {
	recorder := journal.NewRecorder()
	listening.Store(true)
	plain := outcome(f, input)
	listening.Store(false)
	recorded := outcome(f, input, runtime.WithEngine(recorder))
	worker.Shutdown()
	replayed := outcome(f, input, runtime.WithEngine(journal.Replay(recorder.Journal())))
	if plain != recorded {
		fail("recorded, it gives\n" + recorded + "and else\n" + plain)
	}
	if replayed != recorded {
		fail("replayed, it gives\n" + replayed + "and recorded\n" + recorded)
	}
	os.Stdout.WriteString(plain)
	var keys []string
	for _, r := range recorder.Journal().Records() {
		keys = append(keys, r.Key)
	}
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		fmt.Println("  " + key)
	}
}

// contexts put what the packages of a dialect ask the program for into the context of a run. Its files add to them.
var contexts []func(ctx context.Context) context.Context

// outcome is what a run gives, as text.
func outcome(f workflow, input []byte, o ...runtime.Option) string {
	secret := func(name string) (string, bool) { return "value of " + name, true }
	ctx := context.Background()
	for _, with := range contexts {
		ctx = with(ctx)
	}
	if answers, err := os.ReadFile("answers.json"); err == nil {
		o = append(o, runtime.WithHuman(person(answers)))
	}
	out, err := f(ctx, input, append(o, runtime.WithStandIn(model), runtime.WithSecrets(secret))...)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if wrong := enc.Encode(out); wrong != nil {
		fail(wrong.Error())
	}
	switch {
	case err == nil:
		return b.String()
	case !bytes.HasPrefix(b.Bytes(), []byte(`{"status":"failed",`)): // the dialect's runs give nothing when they fail
		b.Reset()
	}
	return strings.ReplaceAll(b.String()+"error: "+err.Error()+"\n", base, "http://server")
}

// model answers in place of all models: with what it was told, or with what the prompt has after "answer: ". After
// "first fails: 2 times 503" the first two calls of the node first fail. A line "call: name {...}" asks for a tool.
func model(_ context.Context, op engine.Op, out any, tool func() error) error {
	reply, ok := out.(*llm.Reply)
	if !ok {
		return tool()
	}
	in, err := op.EncodeIn(nil)
	if err != nil {
		return err
	}
	var asked llm.Conversation
	if err := json.Unmarshal(in, &struct{ Conv *llm.Conversation }{&asked}); err != nil {
		return err
	}
	if asked.Messages == nil {
		if err := json.Unmarshal(in, &asked); err != nil {
			return err
		}
	}
	hear(asked)
	if r := works(in); r != nil {
		*reply = *r
		return nil
	}
	text := asked.Messages[0].Text
	var times, status int
	for id, more := op.Head().Node.ID, true; more; _, id, more = strings.Cut(id, "_") { // keep_one is what convert makes of one
		if _, fails, ok := strings.Cut(text, id+" fails: "); ok {
			if _, err := fmt.Sscanf(fails, "%d times %d", &times, &status); err == nil && calls(op.Head(), status) <= times {
				return failed(status)
			}
		}
	}
	if _, answer, ok := strings.Cut(text, "answer: "); ok {
		text = strings.TrimSpace(answer)
	} else {
		text = asked.System + "|" + text
	}
	cost := usage.USD(1e6)
	*reply = llm.Reply{Model: "test", Stop: llm.End, Usage: llm.Usage{Input: 10, Output: 5}, CostUSD: &cost, Message: llm.Message{Role: llm.Assistant, Text: text}}
	return nil
}

// calls is how often a node has asked, when all calls before have failed with a status.
func calls(h *engine.Head, status int) int {
	each := 1
	if r := h.Node.Retry; r != nil && (status == 0 || status == http.StatusTooManyRequests || status >= http.StatusInternalServerError) {
		each = max(r.Attempts, 1)
	}
	visit := int(h.Visit) - 1
	if rounds := round.FindStringSubmatch(h.Key()); rounds != nil { // convert makes a loop of attempts, first[2]/ask_first
		visit, _ = strconv.Atoi(rounds[1])
	}
	return visit*each + int(h.Attempt)
}

var round = regexp.MustCompile(`^\w+\[(\d+)\]/ask_`)

// failed is the error of a provider that answers with a status, or with 0 of one that cannot be reached.
func failed(status int) error {
	if status == 0 {
		return value.Errorf(value.NetworkError, "no connection to the model")
	}
	e := value.Errorf(httptool.StatusCode(status), "the model answered %d", status)
	e.Details = value.Map(value.Entry{Key: "status", Value: value.Int(int64(status))})
	return e
}

// person answers what a case has an answer to in answers.json, by question.
func person(answers []byte) runtime.Asker {
	return func(_ context.Context, q runtime.Question) (string, error) {
		byQuestion := map[string]string{}
		if err := json.Unmarshal(answers, &byQuestion); err != nil {
			return "", err
		}
		if answer, ok := byQuestion[q.Text]; ok {
			return answer, nil
		}
		return "", runtime.Nobody("there is no answer to " + q.Text)
	}
}

func fail(text string) {
	fmt.Fprintln(os.Stderr, text)
	os.Exit(1)
}
