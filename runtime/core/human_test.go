package core_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// alwaysAnswers answers every question with the same text.
func alwaysAnswers(text string) runtime.Option {
	return runtime.WithHuman(func(context.Context, runtime.Question) (string, error) { return text, nil })
}

func TestAnswers(t *testing.T) {
	choices := []string{"yes", "no"}
	for _, tt := range []struct {
		q      runtime.Question
		answer string
		wrong  string
	}{
		{runtime.Question{Type: "string"}, " some text ", ""},
		{runtime.Question{Type: "string"}, "  ", "the answer is empty"},
		{runtime.Question{Type: "string", Empty: true}, "  ", ""},
		{runtime.Question{Type: "string"}, "\xff", "the answer is not valid UTF-8"},
		{runtime.Question{Type: "string"}, strings.Repeat("a", 70_000), "the answer has more than 65536 bytes"},
		{runtime.Question{Type: "string", Choices: choices}, " yes\n", ""},
		{runtime.Question{Type: "string", Choices: choices}, "Yes", `"Yes" is none of yes, no`},
		{runtime.Question{Type: "string", Choices: choices}, "", `"" is none of yes, no`},
		{runtime.Question{Type: "int"}, "-12", ""},
		{runtime.Question{Type: "int"}, "1.0", `"1.0" is not an integer`},
		{runtime.Question{Type: "int"}, "9223372036854775808", `"9223372036854775808" is not an integer`},
		{runtime.Question{Type: "float"}, "1e3", ""},
		{runtime.Question{Type: "float"}, "NaN", `"NaN" is not a number`},
		{runtime.Question{Type: "float"}, "1e999", `"1e999" is not a number`},
		{runtime.Question{Type: "bool"}, "no", ""},
		{runtime.Question{Type: "bool"}, "true", ""},
		{runtime.Question{Type: "bool"}, "maybe", `"maybe" is neither yes nor no`},
	} {
		got := ""
		if err := tt.q.Check(tt.answer); err != nil {
			got = strings.TrimPrefix(err.Error(), "VALIDATION_ERROR: ")
		}
		if got != tt.wrong {
			t.Errorf("%+v, %.20q: %q, want %q", tt.q, tt.answer, got, tt.wrong)
		}
	}
}

type choice string

func TestAsk(t *testing.T) {
	n := node("ask")
	r := start(t, t.Context(), alwaysAnswers("12"))
	if got, err := flow.Ask[int64](r, n, runtime.Question{Text: "How many?"}); got != 12 || err != nil {
		t.Errorf("int: %v, %v", got, err)
	}
	if got, err := flow.Ask[float64](r, n, runtime.Question{}); got != 12 || err != nil {
		t.Errorf("float: %v, %v", got, err)
	}
	if got, err := flow.Ask[choice](r, n, runtime.Question{Choices: []string{"12"}}); got != "12" || err != nil {
		t.Errorf("enum: %v, %v", got, err)
	}
	_, err := flow.Ask[choice](r, n, runtime.Question{Choices: []string{"13"}})
	wantCode(t, err, value.ValidationError)
	if want := `w.flowgen.yaml:3:5: node ask: VALIDATION_ERROR: answer: "12" is none of 13`; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = flow.AskOr(r, n, runtime.Question{}, true)
	wantCode(t, err, value.ValidationError) // a wrong answer is not a missing one
}

// Nobody who can be asked, and nobody who answers in time, are the same to a workflow.
func TestNobodyAnswers(t *testing.T) {
	late := runtime.WithHuman(func(ctx context.Context, _ runtime.Question) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
	n := node("ask")
	n.Timeout = 5 * time.Millisecond
	for name, o := range map[string][]runtime.Option{"late": {late}, "nobody": nil} {
		t.Run(name, func(t *testing.T) {
			r := start(t, t.Context(), o...)
			_, err := flow.Ask[string](r, n, runtime.Question{})
			wantCode(t, err, value.Timeout)
			if got, err := flow.AskOr(r, n, runtime.Question{}, "no"); got != "no" || err != nil {
				t.Errorf("default: %q, %v", got, err)
			}
			if got, err := flow.AskOrSkip[string](r, n, runtime.Question{}); got != nil || err != nil {
				t.Errorf("skip: %v, %v", got, err)
			}
		})
	}
}

// A run that is stopped while a question is open ends, and no default hides that.
func TestAskCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := start(t, ctx, runtime.WithHuman(func(ctx context.Context, _ runtime.Question) (string, error) {
		cancel()
		<-ctx.Done()
		return "", ctx.Err()
	}))
	if _, err := flow.AskOr(r, node("ask"), runtime.Question{}, "no"); !runtime.IsCancelled(err) {
		t.Errorf("%v", err)
	}
}

// An answer is recorded, and a replay asks no one.
func TestAskReplayed(t *testing.T) {
	n := node("ask")
	body := func(e engine.Engine, o ...runtime.Option) (out bool, err error) {
		r := start(t, t.Context(), append(o, runtime.WithEngine(e))...)
		defer r.End(&err)
		return flow.Ask[bool](r, n, runtime.Question{Text: "Go on?"})
	}
	rec := journal.NewRecorder()
	if out, err := body(rec, alwaysAnswers("yes")); !out || err != nil {
		t.Fatal(out, err)
	}
	got := rec.Journal().Records()[0]
	if diff := cmp.Diff([]string{"human@1", `{"question":"Go on?","type":"bool"}`, "true"}, []string{got.Tool, string(got.Input), string(got.Output)}); diff != "" {
		t.Error(diff)
	}
	var asked atomic.Int32
	out, err := body(journal.Replay(rec.Journal()), runtime.WithHuman(func(context.Context, runtime.Question) (string, error) {
		asked.Add(1)
		return "no", nil
	}))
	if !out || err != nil || asked.Load() > 0 {
		t.Errorf("%v, %v, asked %d times", out, err, asked.Load())
	}
}

// A secret that got into a question reaches neither a person nor the observers.
func TestQuestionsHoldNoSecrets(t *testing.T) {
	const canary = "s3cret-canary-value"
	rt, err := flow.New(&flow.Info{Name: "w", Secrets: []string{"TOKEN"}}, runtime.WithSecrets(func(string) (string, bool) { return canary, true }),
		runtime.WithObserver(runtime.ObserverFunc(func(e runtime.Event) {
			if b, _ := e.MarshalJSON(); strings.Contains(string(b), canary) {
				t.Errorf("event: %s", b)
			}
			if e.Kind == runtime.Asking && (e.Key != "ask" || !strings.HasPrefix(e.Message, "Use ")) {
				t.Errorf("event %+v", e)
			}
		})),
		runtime.WithHuman(func(_ context.Context, q runtime.Question) (string, error) {
			if strings.Contains(q.Text, canary) || !strings.HasPrefix(q.Text, "Use ") {
				t.Errorf("asked %q", q.Text)
			}
			return "x", nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Start(t.Context())
	defer r.End(&err)
	if _, err := flow.Ask[string](r, node("ask"), runtime.Question{Text: "Use " + canary + "?"}); err != nil {
		t.Error(err)
	}
}
