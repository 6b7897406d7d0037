package pytool

import (
	"testing"
	"testing/fstest"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

// TestNoMoments: data that only look like a date reach a function of a dialect as the mapping that they are.
func TestNoMoments(t *testing.T) {
	needPython(t)
	source := &Source{Files: fstest.MapFS{"seen.py": {Data: []byte("def seen(v):\n    return repr(v)\n")}}, Inherit: true}
	for args, want := range map[string]string{
		`{"v":{"\u0000datetime":5}}`: `"{'\\x00datetime': 5}"`,
		`{"v":{"\u0000sys":"x"}}`:    `"{'\\x00sys': 'x'}"`,
		`{"v":{"\u0000":"x"}}`:       `"{'\\x00': 'x'}"`,
	} {
		f := Func{Source: source, Module: "seen", Name: "seen"}
		if got, err := f.call(t.Context(), flow.None, []byte(args), worker.DefaultMaxOutput); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", args, got, err, want)
		}
	}
}
