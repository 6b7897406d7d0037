package diff

import (
	"encoding/json"
	goruntime "runtime"
	"strings"
	"testing"
)

// Values of many mebibytes differ as a whole: comparing their fields would take a hundred times their text.
func TestLargeValues(t *testing.T) {
	list := func(last string) json.RawMessage {
		return json.RawMessage("[" + strings.Repeat("0,", maxParsed/2) + last + "]")
	}
	a, b := list("1"), list("2")
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	same, other := fields("input", a, list("1")), fields("input", a, b)
	goruntime.ReadMemStats(&after)
	if len(same) != 0 || len(other) != 1 || string(other[0].Old) != string(a) || string(other[0].New) != string(b) {
		t.Errorf("%d and %d changes", len(same), len(other))
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 4*maxParsed {
		t.Errorf("comparing %d bytes took %d", len(a)+len(b), took)
	}
}
