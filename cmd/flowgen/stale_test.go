package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFirstDifference: of a long line only the place is shown where it differs, and no character is cut.
func TestFirstDifference(t *testing.T) {
	before, after := strings.Repeat("aé", 200), strings.Repeat("éz", 200)
	tests := []struct{ old, now, at, want string }{
		{"a\nb\n", "a\nc\n", "b", "this line would be `c`"},
		{"a\nb", "a", "b", "this line would not be there"},
		{"a\n" + before + "x" + after, "a\n" + before + "y" + after, "x",
			"here it would be `...é" + strings.Repeat("aé", 13) + "y" + strings.Repeat("éz", 13) + "...`"},
		{before + "é", before + "è", "é", "here it would be `..." + strings.Repeat("aé", 13) + "è`"},
		{before, before[:300], "a", "here it would be `...é" + strings.Repeat("aé", 13) + "`"},
		{before[:300], before, "", "here it would be `...é" + strings.Repeat("aé", 26) + "a...`"},
	}
	for _, test := range tests {
		span, why := firstDifference("x_flow.go", test.old, test.now)
		if diff := cmp.Diff([]string{test.at, test.want}, []string{span.Text(), why}); diff != "" {
			t.Error(diff)
		}
	}
}
