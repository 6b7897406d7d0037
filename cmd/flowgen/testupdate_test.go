package main

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

type textFiles map[string]string

func (f textFiles) ReadFile(name string) ([]byte, error) { return []byte(f[name]), nil }

// What --update writes reads as the value that came out, whatever that is.
func TestYAMLText(t *testing.T) {
	const flow = "flowgen: 1\nname: w\ninput: {v: any}\nnodes: {n: {let: {v: $input.v}}}\noutput: {v: $n.v}\n"
	sink := &diag.Sink{}
	wf := parser.Parse(textFiles{"w.flowgen.yaml": flow}, "w.flowgen.yaml", sink)
	bind.Resolve(wf, bind.Options{Dir: "."}, sink)
	program := check.Check(wf, sink)
	if program == nil {
		t.Fatal(sink.List())
	}
	word := rapid.OneOf(rapid.StringN(0, 12, -1), rapid.SampledFrom([]string{"yes", "NO", "null", "~", "1", "1.5", "0x1f", "a: b", "a #b", "- a", "true", "Hello, world", "a b", "x.", "y", "2026-01-01", "a\nb", "{a}", "[a", "'", "\"", "é", "<<", "=", "ok!", "End-", "a/b?"}))
	tried := 0
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(map[string]any{"s": word.Draw(t, "s"), word.Draw(t, "key"): []any{word.Draw(t, "item"), rapid.Int64().Draw(t, "n"), rapid.Float64().Draw(t, "x"), json.Number(rapid.StringMatching("-?[1-9][0-9]{0,40}").Draw(t, "digits")), nil, true, map[string]any{}}})
		if err != nil {
			t.Fatal(err)
		}
		v, err := value.Parse(raw)
		if err != nil {
			return // not valid UTF-8
		}
		text := "flowgen: 1\ncases: {c: {input: {v: " + yamlText(v, schema.AnyType) + "}}}\n"
		sink := &diag.Sink{}
		f := parser.ParseCases(textFiles{"w.test.yaml": text}, "w.test.yaml", sink)
		if f == nil {
			t.Fatalf("%v\n%s", sink.List(), text)
		}
		checked := check.CheckCases(program, f, sink)
		if checked == nil {
			t.Fatalf("%v\n%s", sink.List(), text)
		}
		got, err := value.Parse([]byte(checked.JSON(f.Cases[0].Input[0].Value)))
		if err != nil || !got.Equal(v) {
			t.Fatalf("%v: %s\nbecame %s\nin %s", err, raw, checked.JSON(f.Cases[0].Input[0].Value), text)
		}
		tried++
	})
	if tried < 50 {
		t.Errorf("only %d values", tried)
	}
}
