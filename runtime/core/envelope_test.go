package core_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestErrorAndEnvelopeJSON(t *testing.T) {
	te := value.Errorf(value.RateLimit, "x")
	b, err := json.Marshal(te)
	if want := `{"code":"RATE_LIMIT","message":"x","details":null,"retry_after_s":null}`; err != nil || string(b) != want {
		t.Errorf("%s, %v", b, err)
	}
	te.RetryAfterS, te.Details = flow.Ptr(1.5), value.Int(1)
	b, _ = json.Marshal(te)
	var back value.ToolError
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(te, &back); diff != "" {
		t.Error(diff)
	}
	b, err = json.Marshal(engine.Envelope{Output: json.RawMessage("1"), Error: te})
	want := `{"call_id":"","name":"","version":"","input":null,"output":null,"error":{"code":"RATE_LIMIT","message":"x","details":1,"retry_after_s":1.5},` +
		`"t_start":"0001-01-01T00:00:00Z","t_end":"0001-01-01T00:00:00Z","cached":false,"truncated":false,"attachments":[]}`
	if err != nil || string(b) != want {
		t.Errorf("%s, %v", b, err)
	}
}

func TestCallID(t *testing.T) {
	a := engine.CallID("t@1", []byte("{}"), "k")
	if len(a) != 64 || a != engine.CallID("t@1", []byte("{}"), "k") {
		t.Error(a)
	}
	for _, b := range []string{engine.CallID("t@2", []byte("{}"), "k"), engine.CallID("t@1", []byte("[]"), "k"), engine.CallID("t@1", []byte("{}"), "k2")} {
		if a == b {
			t.Error("two calls have one id")
		}
	}
}
