package core

import "testing"

// TestShortKeys: a secret that is too short to keep secret ends the program, unless the keys of the workflow may be short.
func TestShortKeys(t *testing.T) {
	lookup := WithSecrets(func(string) (string, bool) { return "x", true })
	if _, err := New(&Info{Name: "w", Secrets: []string{"KEY"}}, lookup); err == nil {
		t.Error("a key of one byte is taken")
	}
	if _, err := New(&Info{Name: "w", Secrets: []string{"KEY"}, ShortKeys: true}, lookup); err != nil {
		t.Error(err)
	}
}
