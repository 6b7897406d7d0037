package tools_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/examples/release-notes/tools"
)

func TestClassify(t *testing.T) {
	for subject, want := range map[string]tools.Change{
		"feat: a":             {Kind: tools.Feature, Summary: "a"},
		"feat(parser)!: b":    {Kind: tools.Feature, Summary: "b", Breaking: true},
		"Fix the door":        {Kind: tools.Fix, Summary: "Fix the door"},
		"docs: c":             {Kind: tools.Docs, Summary: "c"},
		"refactor!: d":        {Kind: tools.Other, Summary: "refactor!: d", Breaking: true},
		"Merge: a long story": {Kind: tools.Other, Summary: "Merge: a long story"},
		"":                    {Kind: tools.Other},
	} {
		got, err := tools.Classify(t.Context(), tools.ClassifyInput{Commit: tools.Commit{Subject: subject}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Classify(%q) (-want +got):\n%s", subject, diff)
		}
	}
}

func TestParseRefusesOtherText(t *testing.T) {
	for _, line := range []string{"", "abc", "h\x1fa\x1fyesterday\x1fs"} {
		if c, err := tools.Parse(line); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", line, c)
		}
	}
}
