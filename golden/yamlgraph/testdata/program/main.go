// Command program holds the cases of golden/yamlgraph that compile. It runs the one that is named, as plain Go, recorded
// and replayed, and prints what it gives with the keys of its calls. All three must give the same.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal"
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
	out, err := f.run(context.Background(), o...)
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

func fail(text string) {
	fmt.Fprintln(os.Stderr, text)
	os.Exit(1)
}

// input is the JSON that a case gives, an empty object when it gives none.
func input() []byte {
	b, err := os.ReadFile("input.json")
	if errors.Is(err, fs.ErrNotExist) {
		return []byte("{}")
	}
	if err != nil {
		fail(err.Error())
	}
	return b
}
