package temporal

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/workflow"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A call arrives as it was sent, and what the server knows of it is in no payload.
func TestSent(t *testing.T) {
	limited := func(c engine.Carried, d time.Duration) engine.Carried {
		c.Limit = limitOf(d).Limit
		return c
	}
	c := engine.Carried{Tool: "w.t@1", Path: "each[3]/sub#2/", Node: "n", Visit: 4, Attempt: 2, Run: "r", In: json.RawMessage(`{"a":"@~1"}`)}
	tenant, other, list, named := c, c, c, c
	list.In, named.In = json.RawMessage(`["a"]`), json.RawMessage(`{"tool":1}`)
	tenant.Tenant = "acme"
	other.Node = "m"
	for _, tt := range []struct {
		call engine.Carried
		want string
	}{
		{c, `{"a":"@~1"}`},
		{list, `[["a"]]`},
		{named, `[{"tool":1}]`},
		{limited(c, time.Minute), `[{"a":"@~1"},0]`},
		{tenant, `[{"a":"@~1"},{"tool":"","node":"","tenant":"acme","in":null}]`},
		{limited(tenant, time.Minute), `[{"a":"@~1"},{"tool":"","node":"","tenant":"acme","limit":{"left":60000000000,"of":60000000000},"in":null}]`},
		{other, `[{"a":"@~1"},{"tool":"","node":"m","path":"each[3]/sub#2/","visit":4,"attempt":2,"in":null}]`},
	} {
		const id = "each[3]/sub#2/n#4~2@abcdefgh"
		b, err := json.Marshal(sent{Carried: tt.call, id: id})
		if err != nil || string(b) != tt.want {
			t.Errorf("%s, %v\nwant %s", b, err, tt.want)
		}
		var there sent
		if err := json.Unmarshal(b, &there); err != nil {
			t.Fatal(err)
		}
		i := activity.Info{ActivityID: id, WorkflowExecution: workflow.Execution{ID: "r"}, StartToCloseTimeout: time.Minute + spare}
		if err := there.complete(i, c.Tool); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.call, there.Carried, cmp.Comparer(func(a, b json.RawMessage) bool { return string(a) == string(b) })); diff != "" {
			t.Errorf("%s: %s", b, diff)
		}
	}
}

// A payload that is none is told with the call's name and what to do; decoding it never fails, which the server would repeat without end.
func TestSentWrong(t *testing.T) {
	for _, text := range []string{`{"tool":"w.t@1","node":"n","in":{}}`, `[]`, `[1,2,3]`, `[1,"x"]`, `7`, `null`} {
		var s sent
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(text, err)
		}
		err := s.complete(activity.Info{ActivityID: "n@abcdefgh"}, "w.t@1")
		if err == nil || !strings.Contains(err.Error(), "call n@abcdefgh") || !strings.Contains(err.Error(), "Run a worker") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Payloads of the format before are read.
func TestFormer(t *testing.T) {
	var s sent
	var g got
	if err := errors.Join(json.Unmarshal([]byte(`[{"a":1}]`), &s), json.Unmarshal([]byte(`[7]`), &g)); err != nil || s.wrong != nil || string(s.In) != `{"a":1}` || string(g.Out) != "7" || !g.Ran {
		t.Errorf("%v, %+v, %+v", err, s, g)
	}
}

// A result arrives as it was sent.
func TestGot(t *testing.T) {
	for want, l := range map[string]engine.Landed{
		`7`:                               {Ran: true, Out: json.RawMessage("7")},
		`"[7"`:                            {Ran: true, Out: json.RawMessage(`"[7"`)},
		`[{"a":7}]`:                       {Ran: true, Out: json.RawMessage(`{"a":7}`)},
		`[null]`:                          {Ran: true, Out: json.RawMessage("null")},
		`[[],"n@abcdefgh"]`:               {Ran: true, Out: json.RawMessage("[]"), Asked: "n@abcdefgh"},
		`{"out":7}`:                       {Out: json.RawMessage("7")},
		`{"out":7,"ran":true,"tokens":3}`: {Ran: true, Out: json.RawMessage("7"), Tokens: 3},
		`{"error":{"code":"TIMEOUT","message":"late","details":null,"retry_after_s":null},"ran":true}`: {Ran: true, Error: value.Errorf(value.Timeout, "late")},
	} {
		b, err := json.Marshal(got{l})
		if err != nil || string(b) != want {
			t.Errorf("%s, %v\nwant %s", b, err, want)
		}
		var back got
		if err := json.Unmarshal(b, &back); err != nil || back.Tokens != l.Tokens || back.Asked != l.Asked || string(back.Out) != string(l.Out) || back.Ran != l.Ran {
			t.Errorf("%s: %+v, %v", b, back, err)
		}
	}
	for _, text := range []string{`[]`, `[1,2,3]`, `[1,2]`} {
		if json.Unmarshal([]byte(text), new(got)) == nil {
			t.Errorf("%s was taken", text)
		}
	}
}
