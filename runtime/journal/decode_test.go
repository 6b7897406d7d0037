package journal

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A line that is read by hand is what package json makes of it, and what package json refuses is not read by hand.
func TestScanRecord(t *testing.T) {
	names := []string{"kind", "key", "attempt", "tool", "effects", "call_id", "input", "output", "error", "cancelled", "node", "broken", "stack", "cached", "truncated",
		"attachments", "sandbox", "cost_usd", "tokens", "metered", "denied", "abandoned", "logs", "start_ns", "end_ns", "limit_ns", "Key", "other"}
	values := []string{`"k"`, `"k[1]/b"`, `"é"`, `"a\n"`, `"\u0041"`, `"0.25"`, `1`, `0`, `-1`, `-0`, `1.0`, `1e3`, `9223372036854775807`, `9223372036854775808`, `true`, `false`, `null`,
		`{}`, `{"a":[1,{"b":"]}"}]}`, `[]`, `[1,"\"",2]`, `{"code":"TIMEOUT","message":"m","details":null,"retry_after_s":null}`, "\"\xff\"", `[{"kind":"blob","url":"u"}]`}
	byHand, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		line := `{"kind":"end","key":"k","attempt":1`
		used := map[string]bool{"kind": true, "key": true, "attempt": true}
		if rapid.IntRange(0, 5).Draw(t, "bare") == 0 {
			line, used = `{"kind":"end"`, map[string]bool{"kind": true}
		}
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 0, 5).Draw(t, "names") {
			if !used[name] {
				line += fmt.Sprintf(",%q:%s", name, rapid.SampledFrom(values).Draw(t, name))
			}
			used[name] = true
		}
		line += "}"
		if value.Check([]byte(line)) != nil {
			return
		}
		var got Record
		if !got.scan([]byte(line)) {
			refused++
			return
		}
		byHand++
		var want callLine
		if err := strict([]byte(line), &want); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if diff := cmp.Diff(want.Record, got); diff != "" {
			t.Fatalf("%s:\n%s", line, diff)
		}
	})
	if byHand == 0 || refused == 0 {
		t.Errorf("%d lines by hand, %d not", byHand, refused)
	}
}
