package plain_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
)

// TestMisfit: whatever JSON is decoded into a type that it does not fit, the message has no word of encoding/json or of Go.
func TestMisfit(t *testing.T) {
	type inner struct{ N int8 }
	type record struct {
		Kind  string
		Count int
		List  []string
		In    inner
		At    time.Time
		Flag  bool
		Map   map[string]float32
	}
	values := []string{`"x"`, `1`, `1.5`, `1e99`, `-9223372036854775809`, `true`, `null`, `[]`, `[1]`, `{}`, `{"N": 500}`, `{"n": "x"}`, `"2026-13-01T00:00:00Z"`, `{"a": []}`, `[{}]`, `{`, `[1,`, `"x`, `nul`, `\u0000`}
	fields := []string{"Kind", "Count", "List", "In", "At", "Flag", "Map", "Other"}
	rapid.Check(t, func(t *rapid.T) {
		text := `{"` + rapid.SampledFrom(fields).Draw(t, "field") + `":` + rapid.SampledFrom(values).Draw(t, "value") + `}`
		text = text[:rapid.SampledFrom([]int{len(text), len(text) - 1}).Draw(t, "length")]
		var r record
		dec := json.NewDecoder(strings.NewReader(text))
		dec.DisallowUnknownFields()
		err := dec.Decode(&r)
		if err == nil {
			return
		}
		said := plain.Misfit(err).Error()
		for _, word := range []string{"json:", "Go ", "unmarshal", "struct", "Time.", "int8", "float32", "record", "EOF", "layout", "parsing"} {
			if strings.Contains(said, word) {
				t.Fatalf("%s: %s (%v)", text, said, err)
			}
		}
	})
}
