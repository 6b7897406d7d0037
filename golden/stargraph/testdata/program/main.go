// Command program holds the cases of golden/stargraph that compile. It runs the one that is named, with each of its inputs, as plain Go, recorded
// and replayed, and prints what it gives with the keys of its calls. All three must give the same.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/nautilus"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

type flow struct {
	info *runtime.Info
	run  func(context.Context, []byte, ...runtime.Option) (any, error)
}

var flows = map[string]flow{}

// add is called for every case.
func add(name string, info *runtime.Info, run func(context.Context, []byte, ...runtime.Option) (any, error)) {
	flows[name] = flow{info, run}
}

func main() {
	f, ok := flows[os.Args[1]]
	if !ok {
		fail("the case is not linked")
	}
	inputs, err := os.ReadFile("inputs.jsonl")
	if err != nil {
		inputs = []byte("{}")
	}
	for _, input := range bytes.Split(bytes.TrimSpace(inputs), []byte("\n")) {
		try(f, input)
	}
	worker.Shutdown()
}

// try runs a case with one input.
func try(f flow, input []byte) {
	recorder := journal.NewRecorder()
	plain := outcome(f, input)
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

// outcome is what a run gives, as text.
func outcome(f flow, input []byte, o ...runtime.Option) string {
	ctx := context.Background()
	if response, err := os.ReadFile("broker.json"); err == nil {
		ctx = nautilus.WithBroker(ctx, broker(response))
	}
	out, err := f.run(ctx, input, o...)
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		fail(err.Error())
	}
	return b.String()
}

// A broker gives the response that a case has in broker.json, with what it was asked.
type broker []byte

// Request implements nautilus.Broker.
func (b broker) Request(_ context.Context, agentID, intent string) (runtime.Value, error) {
	v, err := runtime.ParseValue(b)
	if err != nil || v.Kind() != runtime.MapKind {
		return v, err
	}
	entries := []runtime.Entry{{Key: "asked", Value: runtime.StringValue(agentID + ": " + intent)}}
	for _, k := range v.Keys() {
		x, _ := v.Get(k)
		entries = append(entries, runtime.Entry{Key: k, Value: x})
	}
	return runtime.MapValue(entries...), nil
}

func fail(text string) {
	fmt.Fprintln(os.Stderr, text)
	os.Exit(1)
}
