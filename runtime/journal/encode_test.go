package journal_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// What is written by hand is what package json makes of the same record: nothing is lost on the way to a file and back.
func TestEncodeRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOf(rapid.RuneFrom([]rune("aé\"\\\n\t<&\u2028\x00\x1f]{[$"))).Draw
		v := func(name string) json.RawMessage {
			s := word(t, name)
			if s == "" {
				return nil
			}
			b, _ := value.AppendCanonical(nil, s)
			return b
		}
		flag := func(name string) bool { return rapid.Bool().Draw(t, name) }
		r := journal.Record{Key: "k" + word(t, "key"), Attempt: rapid.IntRange(1, 9).Draw(t, "attempt"), Tool: "t" + word(t, "tool"),
			Effects: word(t, "effects"), CallID: word(t, "id"), Input: v("in"), Output: v("out"), Cancelled: word(t, "cancelled"),
			Node: word(t, "node"), Broken: word(t, "broken"), Cached: flag("cached"), Truncated: flag("truncated"), Sandbox: word(t, "sandbox"),
			CostUSD: usage.USD(rapid.Int64Range(0, 1e12).Draw(t, "cost")), Tokens: rapid.Int64Range(0, 1e6).Draw(t, "tokens"),
			Metered: flag("metered"), Denied: flag("denied"), Abandoned: flag("abandoned"), Start: time.Duration(rapid.Int64Range(0, 1e15).Draw(t, "start")), End: time.Duration(rapid.Int64Range(0, 1e15).Draw(t, "end"))}
		if flag("failed") {
			r.Error = value.Errorf(value.Timeout, "%s", word(t, "message"))
		}
		if flag("attached") {
			r.Attachments = []tool.Attachment{{Kind: "blob", URL: word(t, "url"), Bytes: 7}}
		}
		done := flag("done")
		line := journal.EncodeRecord(r, done)
		kind := journal.KindIntent
		if done {
			kind = journal.KindEnd
		}
		var got, want any
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		b, err := json.Marshal(struct {
			Kind string `json:"kind"`
			journal.Record
		}{kind, r})
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}
