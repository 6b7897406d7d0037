package main

import (
	"testing"

	"github.com/flowgen-dev/flowgen/examples/internal/cassettes"
)

// The cassettes are what git says today.
func TestCassettes(t *testing.T) {
	repo := repository(t, "Start", "feat(parser)!: read YAML", "fix: close the file", "docs: say how", "feat: write Go")
	cassettes.Current(t, Info, New, releaseNotesFlowCases, "THE_REPOSITORY", repo)
}
