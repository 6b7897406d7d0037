package js_test

import (
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/dynamic/js"
)

// TestParse: integers beyond 64 bits are rounded at any depth, and nothing else changes.
func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		`{"b": [12345678901234567890, "12345678901234567890"], "a": 9007199254740993}`: `{"b":[12345678901234567000.0,"12345678901234567890"],"a":9007199254740993}`,
		`[1, 2.5]`: `[1,2.5]`,
	} {
		v, err := js.Parse([]byte(in))
		if err != nil || v.String() != want {
			t.Errorf("%s is %s, %v", in, v, err)
		}
	}
}
