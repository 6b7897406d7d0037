package journal_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMain(m *testing.M) { leaks.Main(m) }

type query struct {
	Q    string   `json:"q"`
	Deep []nested `json:"deep"`
}

type nested struct {
	N int64 `json:"n"`
}

var (
	searchNode = flow.Node{ID: "search", Pos: "w.yaml:3:1"}
	writeNode  = flow.Node{ID: "write", Pos: "w.yaml:4:1"}
	upper      = func(_ context.Context, in query) (string, error) { return strings.ToUpper(in.Q), nil }
	search     = flow.Bind("w.search@1", flow.Reads, upper)
	write      = flow.Bind("w.write@1", flow.Writes, upper)
)

// run runs a body with an engine.
func run(t testing.TB, e engine.Engine, body func(r *flow.Run) (string, error)) (out string, err error) {
	t.Helper()
	rt, err := flow.New(&flow.Info{Name: "w"}, runtime.WithEngine(e))
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Start(t.Context())
	defer r.End(&err)
	return body(r)
}

func ask(text string, deep ...nested) func(r *flow.Run) (string, error) {
	return func(r *flow.Run) (string, error) {
		return flow.Call(r, &searchNode, search, query{text, deep})
	}
}

func recorded(t testing.TB, body func(r *flow.Run) (string, error)) *journal.Journal {
	t.Helper()
	rec := journal.NewRecorder()
	if _, err := run(t, rec, body); err != nil {
		t.Log(err)
	}
	return rec.Journal()
}

func TestEnvelopes(t *testing.T) {
	rec := journal.NewRecorder()
	before := time.Now()
	after := 2.0
	_, err := run(t, rec, func(r *flow.Run) (string, error) {
		if _, err := flow.Call(r, &searchNode, search, query{Q: "a"}); err != nil {
			return "", err
		}
		limited := flow.Bind("w.limited@2", flow.None, func(context.Context, int) (int, error) {
			return 0, &value.ToolError{Code: value.RateLimit, Message: "slow", Details: value.Int(1), RetryAfterS: &after}
		})
		_, err := flow.Call(r.At(&writeNode, 3), &searchNode, limited, 7)
		return "", flow.Skipped(err)
	})
	if err != nil {
		t.Fatal(err)
	}
	es := rec.Envelopes()
	if len(es) != 2 {
		t.Fatalf("%d envelopes", len(es))
	}
	for _, e := range es {
		if e.TStart.Before(before.Add(-time.Second)) || e.TEnd.Before(e.TStart) || e.TStart.Location() != time.UTC {
			t.Errorf("%v to %v", e.TStart, e.TEnd)
		}
	}
	es[0].TStart, es[0].TEnd, es[1].TStart, es[1].TEnd = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	in := []byte(`{"deep":null,"q":"a"}`)
	want := []engine.Envelope{
		{CallID: engine.CallID("w.search@1", in, "search"), Name: "w.search", Version: "1", Input: in, Output: []byte(`"A"`)},
		{CallID: engine.CallID("w.limited@2", []byte("7"), "write[3]/search"), Name: "w.limited", Version: "2", Input: []byte("7"),
			Error: &value.ToolError{Code: value.RateLimit, Message: "slow", Details: value.Int(1), RetryAfterS: &after}},
	}
	if diff := cmp.Diff(want, es); diff != "" {
		t.Error(diff)
	}
}

func TestRefusedInputLeavesAReceipt(t *testing.T) {
	type in struct {
		N int `json:"n" flow:"max=1"`
	}
	tool := flow.Bind("w.t@1", flow.None, func(context.Context, in) (int, error) { t.Error("called"); return 0, nil })
	rec := journal.NewRecorder()
	_, err := run(t, rec, func(r *flow.Run) (string, error) {
		_, err := flow.Call(r, &searchNode, tool, in{2})
		return "", err
	})
	es := rec.Envelopes()
	if err == nil || len(es) != 1 || es[0].Error == nil || es[0].Error.Code != value.ValidationError || es[0].Output != nil {
		t.Fatalf("%v, %+v", err, es)
	}
}

func TestARecordedCallAllocatesOnce(t *testing.T) {
	rec := journal.NewRecorder()
	rt, err := flow.New(&flow.Info{Name: "w", Nodes: []*flow.Node{&searchNode}}, runtime.WithEngine(rec))
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Start(t.Context())
	same := flow.Bind("w.same@1", flow.None, func(_ context.Context, in query) (query, error) { return in, nil })
	if got := testing.AllocsPerRun(2000, func() { flow.Call(r, &searchNode, same, query{Q: "x"}) }); got > 1 {
		t.Errorf("a recorded call allocates %v times", got)
	}
}

func BenchmarkRecordedCall(b *testing.B) {
	same := flow.Bind("w.same@1", flow.None, func(_ context.Context, in query) (query, error) { return in, nil })
	b.ReportAllocs()
	var r *flow.Run
	for i := 0; b.Loop(); i++ {
		if i%1000 == 0 { // the length of a run
			rt, _ := flow.New(&flow.Info{Name: "w", Nodes: []*flow.Node{&searchNode}}, runtime.WithEngine(journal.NewRecorder()))
			r = rt.Start(b.Context())
		}
		flow.Call(r, &searchNode, same, query{Q: "x"})
	}
}

func TestDivergenceNamesNodeAndField(t *testing.T) {
	j := recorded(t, ask("a", nested{1}, nested{2}))
	other := flow.Bind("w.other@1", flow.Reads, upper)
	missing := flow.Node{ID: "extra", Pos: "w.yaml:9:1"}
	cases := []struct {
		name string
		body func(r *flow.Run) (string, error)
		want string
	}{
		{"field", ask("b", nested{1}, nested{2}), `w.yaml:3:1: node search: diverged: call search: input field q is "b", was "a" when recorded`},
		{"nested field", ask("a", nested{1}, nested{3}), "w.yaml:3:1: node search: diverged: call search: input field deep[1].n is 3, was 2 when recorded"},
		{"length", ask("a", nested{1}), "w.yaml:3:1: node search: diverged: call search: input field deep has length 1, was 2 when recorded"},
		{"tool", func(r *flow.Run) (string, error) { return flow.Call(r, &searchNode, other, query{Q: "a"}) },
			"w.yaml:3:1: node search: diverged: call search: tool is w.other@1, recorded w.search@1"},
		{"call", func(r *flow.Run) (string, error) { return flow.Call(r, &missing, search, query{Q: "a"}) },
			"w.yaml:9:1: node extra: diverged: the journal has no call extra, attempt 1"},
	}
	for _, c := range cases {
		for name, e := range map[string]engine.Engine{"replay": journal.Replay(j), "resume": journal.Resume(j)} {
			if c.name == "call" && name == "resume" {
				continue // a resumed run carries it out
			}
			if _, err := run(t, e, c.body); err == nil || err.Error() != c.want {
				t.Errorf("%s, %s: %v\nwant %s", c.name, name, err, c.want)
			}
		}
	}
}

func TestADivergenceCannotBeCaught(t *testing.T) {
	j := recorded(t, ask("a"))
	_, err := run(t, journal.Replay(j), func(r *flow.Run) (string, error) {
		ask("b")(r) // a body that drops the error
		return "fine", nil
	})
	if err == nil || !strings.Contains(err.Error(), "diverged") {
		t.Fatalf("the run ended with %v", err)
	}
}

func TestDifference(t *testing.T) {
	cases := []struct{ now, then, want string }{
		{`1`, `1`, ""},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, ""},
		{`1`, `2`, "input is 1, was 2"},
		{`{"a":{}}`, `{"a":{"b":1}}`, "input field a.b is missing, was 1"},
		{`{"a":{"b":1}}`, `{"a":{}}`, "input field a.b is new"},
		{`[1,2]`, `[1,"2"]`, `input field [1] is 2, was "2"`},
		{`[`, `1`, "input: VALIDATION_ERROR: invalid JSON at byte 1: the text ends where a value is expected"},
		{`1`, `]`, "earlier input: VALIDATION_ERROR: invalid JSON at byte 0: ']' where a value is expected"},
		{`"` + strings.Repeat("x", 99) + `"`, `1`, `input is "` + strings.Repeat("x", 59) + "…, was 1"},
	}
	for _, c := range cases {
		if got := journal.Difference([]byte(c.now), []byte(c.then)); got != c.want {
			t.Errorf("%s against %s: %s, want %s", c.now, c.then, got, c.want)
		}
	}
}

func TestR1ARecordedResultAnswersInACancelledScope(t *testing.T) {
	other := flow.Node{ID: "other", Pos: "w.yaml:5:1"}
	body := func(hold bool) func(r *flow.Run) (string, error) {
		return func(r *flow.Run) (out string, err error) {
			ended := make(chan struct{})
			perr := flow.Parallel(r,
				func(r *flow.Run) (err error) {
					if hold { // in the replay the sibling fails first
						<-r.Context().Done()
					} else {
						defer close(ended)
					}
					out, err = flow.Call(r, &searchNode, search, query{Q: "a"})
					return err
				},
				func(r *flow.Run) error {
					if !hold {
						<-ended
					}
					_, err := flow.Call(r, &other, search, query{Q: "b"})
					return errors.Join(err, errors.New("boom"))
				})
			if perr == nil || !strings.Contains(perr.Error(), "boom") {
				t.Errorf("the branches ended with %v", perr)
			}
			return out, nil
		}
	}
	j := recorded(t, body(false))
	if out, err := run(t, journal.Replay(j), body(true)); out != "A" || err != nil {
		t.Fatalf("%q, %v", out, err)
	}
}

func TestR2AMissWaitsForTheOthers(t *testing.T) {
	synctest.Test(t, testAMissWaitsForTheOthers)
}

func testAMissWaitsForTheOthers(t *testing.T) {
	fails := flow.Node{ID: "fails", Pos: "w.yaml:6:1"}
	boom := flow.Bind("w.boom@1", flow.None, func(context.Context, int) (int, error) { return 0, errors.New("boom") })
	j := recorded(t, func(r *flow.Run) (string, error) {
		_, err := flow.Call(r, &fails, boom, 1)
		return "", err
	})
	body := func(failing bool) func(r *flow.Run) (string, error) {
		return func(r *flow.Run) (string, error) {
			return "", flow.Parallel(r,
				func(r *flow.Run) error { _, err := flow.Call(r, &searchNode, search, query{Q: "a"}); return err },
				func(r *flow.Run) error {
					synctest.Wait() // the miss waits
					_, err := flow.Call(r, &fails, boom, 1)
					if failing {
						return err
					}
					return nil
				})
		}
	}
	if _, err := run(t, journal.Replay(j), body(true)); err == nil || err.Error() != "w.yaml:6:1: node fails: UNKNOWN: boom" {
		t.Errorf("cancelled by then: %v", err)
	}
	if _, err := run(t, journal.Replay(j), body(false)); err == nil || !strings.Contains(err.Error(), "the journal has no call search") {
		t.Errorf("a miss: %v", err)
	}
}

func TestInDoubt(t *testing.T) {
	body := func(r *flow.Run) (string, error) { return flow.Call(r, &writeNode, write, query{Q: "a"}) }
	j := recorded(t, body)
	rec, _ := j.Lookup("write", 1)
	rec.Done, rec.Output = false, nil
	j.Put(rec)
	_, err := run(t, journal.Resume(j), body)
	var re *runtime.RunError
	if !errors.As(err, &re) || re.Kind != runtime.InDoubt || !strings.Contains(err.Error(), "call write had started") || !strings.Contains(err.Error(), rec.CallID) {
		t.Fatal(err)
	}
	var asked []string
	e := journal.Resume(j, journal.RunAgain(func(r journal.Record) bool { asked = append(asked, r.Key); return true }))
	if out, err := run(t, e, body); out != "A" || err != nil || len(asked) != 1 {
		t.Fatal(out, err, asked)
	}
	if r, _ := e.Journal().Lookup("write", 1); !r.Result() {
		t.Error("the resumed call is not recorded")
	}
	// the same without effects runs again by itself
	j = recorded(t, ask("a"))
	rec, _ = j.Lookup("search", 1)
	rec.Cancelled, rec.Output = runtime.ByRun, nil
	j.Put(rec)
	if out, err := run(t, journal.Resume(j), ask("a")); out != "A" || err != nil {
		t.Fatal(out, err)
	}
}

func TestAnEngineServesOneRun(t *testing.T) {
	j := recorded(t, ask("a"))
	for _, e := range []engine.Engine{journal.NewRecorder(), journal.Replay(j), journal.Resume(j)} {
		if _, err := run(t, e, ask("a")); err != nil {
			t.Fatal(err)
		}
		var re *runtime.RunError
		_, err := run(t, e, func(r *flow.Run) (string, error) {
			out, err := flow.Map(r, &flow.Node{ID: "m"}, []string{"a"}, func(r *flow.Run, s string) (string, error) { return ask(s)(r) })
			return strings.Join(out, ""), err
		})
		if !errors.As(err, &re) || re.Kind != runtime.JournalUnavailable {
			t.Errorf("%T: %v", e, err)
		}
	}
}

func TestReplayNeedsNoSecretAndDrawsTheSameNumbers(t *testing.T) {
	info := &flow.Info{Name: "w", Secrets: []string{"GONE"}}
	none := runtime.WithSecrets(func(string) (string, bool) { return "", false })
	if _, err := flow.New(info, none, runtime.WithEngine(journal.NewRecorder())); err == nil {
		t.Error("a run without its secret began")
	}
	rec := journal.NewRecorder()
	draw := func(e engine.Engine) [3]uint64 {
		rt, err := flow.New(&flow.Info{Name: "w"}, runtime.WithEngine(e))
		if err != nil {
			t.Fatal(err)
		}
		r := rt.Start(t.Context())
		return [3]uint64{r.Rand(&searchNode), r.Rand(&searchNode), r.In(&writeNode).Rand(&searchNode)}
	}
	first := draw(rec)
	if first[0] == first[1] || first[0] == first[2] {
		t.Error("the numbers repeat", first)
	}
	j := rec.Journal()
	if again := draw(journal.Replay(j)); again != first {
		t.Errorf("drew %v, recorded %v", again, first)
	}
	if _, err := flow.New(info, none, runtime.WithEngine(journal.Replay(j))); err != nil {
		t.Error(err)
	}
}

func TestReplayTakesNoTime(t *testing.T) {
	n := flow.Node{ID: "n", Pos: "w.yaml:1:1", Retry: &flow.Retry{Attempts: 2, Base: time.Millisecond}}
	calls := 0
	flaky := flow.Bind("w.flaky@1", flow.None, func(context.Context, int) (string, error) {
		if calls++; calls == 1 {
			return "", value.Errorf(value.Timeout, "late")
		}
		return "ok", nil
	})
	body := func(r *flow.Run) (string, error) { return flow.Call(r, &n, flaky, 1) }
	j := recorded(t, body)
	if len(j.Records()) != 2 || calls != 2 {
		t.Fatalf("%d records, %d calls", len(j.Records()), calls)
	}
	n.Retry.Base = time.Hour
	e := journal.Replay(j)
	if out, err := run(t, e, body); out != "ok" || err != nil || calls != 2 {
		t.Fatal(out, err, calls)
	}
	if u := e.Unused(); len(u) != 0 {
		t.Error(u)
	}
	if err := e.Sleep(nil, time.Hour); err != nil {
		t.Error(err)
	}
	if u := journal.Replay(j).Unused(); len(u) != 1 || u[0] != "n" {
		t.Error(u)
	}
}

func TestUnencodableOutputIsNotReplayed(t *testing.T) {
	nan := flow.Bind("w.nan@1", flow.None, func(context.Context, int) (value.Value, error) {
		zero := 0.0
		return value.Float(zero / zero), nil
	})
	body := func(r *flow.Run) (string, error) { _, err := flow.Call(r, &searchNode, nan, 1); return "", err }
	j := recorded(t, body)
	_, err := run(t, journal.Replay(j), body)
	var re *runtime.RunError
	if !errors.As(err, &re) || re.Kind != runtime.JournalUnavailable {
		t.Fatal(err)
	}
}

func TestText(t *testing.T) {
	j := recorded(t, func(r *flow.Run) (string, error) {
		for i := range 3 {
			if _, err := ask("<&> ř", nested{int64(i)})(r.At(&writeNode, 2-i)); err != nil {
				return "", err
			}
		}
		return "", nil
	})
	text, err := j.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 5 || !strings.Contains(lines[4], `"outcome":"succeeded"`) || !strings.Contains(lines[1], `"key":"write[0]/search"`) ||
		!strings.Contains(lines[3], `"key":"write[2]/search"`) || !strings.Contains(lines[1], `<&> ř`) {
		t.Errorf("%s", text)
	}
	back, err := journal.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(j.Records(), back.Records()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(j.Header(), back.Header()); diff != "" {
		t.Error(diff)
	}
}

func TestParseRefuses(t *testing.T) {
	header := `{"kind":"run","format":1,"workflow":"w","seed":"1","begin":"2020-01-01T00:00:00Z"}` + "\n"
	record := `{"kind":"end","key":"a","attempt":1,"tool":"t@1","effects":"none","call_id":"","input":1,"start_ns":0,"end_ns":0}` + "\n"
	if _, err := journal.Parse([]byte(header + record)); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":                       "empty",
		"x":                      "line 1",
		header + "{":             "line 2",
		header + "\n":            "line 2",
		header + record + record: "a second record of a, attempt 1",
		record:                   "the first line",
		header + header:          "a second header",
		strings.Replace(header, `"format":1`, `"format":2`, 1):                                 "has format 2",
		header + `{"kind":"wish"}`:                                                             "another version",
		header + `{"kind":"finish","outcome":"won"}`:                                           `unknown outcome "won"`,
		header + strings.Replace(record, `"tool":"t@1",`, ``, 1):                               "does not say its tool",
		header + strings.Replace(record, `"key":"a"`, `"key":""`, 1):                           "needs a key",
		header + strings.Replace(record, `"attempt":1`, `"attempt":0`, 1):                      "needs a key and an attempt",
		header + strings.Replace(record, `"tool"`, `"tol"`, 1):                                 "unknown field",
		header + strings.Replace(record, `"attempt":1`, `"attempt":1,"key":""`, 1):             "appears twice",
		header + strings.Replace(record, `"input":1`, `"input":`+strings.Repeat("[", 2000), 1): "deep",
	} {
		if _, err := journal.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	text, _ := recorded(f, ask("a")).MarshalText()
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		j, err := journal.Parse(text)
		if err != nil {
			return
		}
		run(t, journal.Replay(j), ask("a"))
		run(t, journal.Resume(j, journal.RunAgain(func(journal.Record) bool { return true })), ask("a"))
	})
}
