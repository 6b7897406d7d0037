package value

import "testing"

func TestCast(t *testing.T) {
	v, err := Parse([]byte(`{"a": [1, 2], "b": null}`))
	if err != nil {
		t.Fatal(err)
	}
	type in struct {
		A []int64 `json:"a"`
		B *string `json:"b"`
	}
	got, err := Cast[in]("args", v)
	if err != nil || len(got.A) != 2 || got.B != nil {
		t.Error(got, err)
	}
	for want, f := range map[string]func() error{
		"VALIDATION_ERROR: query: a string expected, an object given": func() error { _, err := Cast[string]("query", v); return err },
		"VALIDATION_ERROR: n: an integer expected, 1.5 given":         func() error { _, err := Cast[int64]("n", Float(1.5)); return err },
		"VALIDATION_ERROR: l[1]: a string expected, a number given":   func() error { _, err := Cast[[]string]("l", List(String("a"), Int(1))); return err },
		"VALIDATION_ERROR: m.k: an integer expected, a string given": func() error {
			_, err := Cast[map[string]int64]("m", Map(Entry{"k", String("x")}))
			return err
		},
		"VALIDATION_ERROR: d: a number expected, null given": func() error { _, err := Cast[float64]("d", Null()); return err },
	} {
		if err := f(); err == nil || err.Error() != want {
			t.Errorf("%v, not %s", err, want)
		}
	}
}
