// Command program holds the cases of golden/sirenspec that compile. It runs the one that is named, as plain Go, recorded
// and replayed, and prints what it gives with the keys of its calls. All three must give the same.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

type flow struct {
	info *runtime.Info
	run  func(context.Context, ...runtime.Option) (any, error)
}

var flows = map[string]flow{}

// add is called for every case.
func add(name string, info *runtime.Info, run func(context.Context, ...runtime.Option) (any, error)) {
	flows[name] = flow{info, run}
}

func main() {
	f, ok := flows[os.Args[1]]
	if !ok {
		fail("the case is not linked")
	}
	stop := serve()
	defer stop()
	recorder := journal.NewRecorder()
	plain := outcome(f)
	recorded := outcome(f, runtime.WithEngine(recorder))
	worker.Shutdown()
	replayed := outcome(f, runtime.WithEngine(journal.Replay(recorder.Journal())))
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
		fmt.Println(key)
	}
}

// outcome is what a run gives, as text.
func outcome(f flow, o ...runtime.Option) string {
	secret := func(name string) (string, bool) { return "value of " + name, true }
	out, err := f.run(context.Background(), append(o, runtime.WithStandIn(model), runtime.WithSecrets(secret))...)
	if err != nil {
		return strings.ReplaceAll("error: "+err.Error()+"\n", base, "http://server")
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		fail(err.Error())
	}
	return b.String()
}

// model answers in place of all models: with what it was told, or with what the prompt has after "answer: ".
func model(_ context.Context, op runtime.Op, out any, tool func() error) error {
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
	text := asked.Messages[0].Text
	if _, answer, ok := strings.Cut(text, "answer: "); ok {
		text = strings.TrimSpace(answer)
	} else {
		text = asked.System + "|" + text
	}
	*reply = llm.Reply{Model: "test", Stop: llm.End, Message: llm.Message{Role: llm.Assistant, Text: text}}
	return nil
}

func fail(text string) {
	fmt.Fprintln(os.Stderr, text)
	os.Exit(1)
}
