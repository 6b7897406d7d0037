package core

import (
	"context"
	"testing"
)

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

// TestShortSecrets: calls of a tool get a secret that is too short only where the workflow or the tool lets it be short.
func TestShortSecrets(t *testing.T) {
	for _, c := range []struct {
		name     string
		workflow bool
		tool     []ToolOption
		want     string
	}{
		{"neither", false, nil, ""},
		{"workflow", true, nil, "x"},
		{"tool", false, []ToolOption{ShortSecrets()}, "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rt, err := New(&Info{Name: "w", ShortKeys: c.workflow}, WithSecrets(func(string) (string, bool) { return "x", true }))
			if err != nil {
				t.Fatal(err)
			}
			bound := Bind("t.key@1", External, func(ctx context.Context, _ struct{}) (string, error) {
				key, _ := Secret(ctx, "KEY")
				return key, nil
			}, append(c.tool, Secrets("KEY"))...)
			got, err := Call(rt.Start(t.Context()), &Node{ID: "a", Index: -1}, bound, struct{}{})
			if got != c.want || (err != nil) != (c.want == "") {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
