package diag

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
)

// What JSON and SARIF say of a hostile file cannot move a cursor or hide text where it is printed, and is the same value.
func TestJSONIsHarmless(t *testing.T) {
	hostile := "a\x1b[31m\u009b31m\u0085\u202e\u2028\ufeff\U000e0041\x7fé日<&"
	for name, write := range map[string]func(io.Writer, []Diagnostic) error{
		"JSON":  JSON,
		"SARIF": func(w io.Writer, list []Diagnostic) error { return SARIF(w, list, SARIFOptions{}) },
	} {
		var b bytes.Buffer
		if err := write(&b, []Diagnostic{{Code: "FG0101", Message: hostile}}); err != nil {
			t.Fatal(err)
		}
		for _, r := range b.String() {
			if r != '\n' && hidden(r) {
				t.Errorf("%s has %U", name, r)
			}
		}
		var v any
		if err := json.Unmarshal(b.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(v)
		want, _ := json.Marshal(hostile) // text always marshals
		if err != nil || !bytes.Contains(again, want) {
			t.Errorf("%s lost the text: %v, %s", name, err, b.Bytes())
		}
	}
}
