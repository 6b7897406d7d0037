package main

import (
	"strconv"
	"testing"

	"github.com/flowgen-dev/flowgen/examples/internal/cassettes"
)

// The cassettes are what the shop gives today.
func TestCassettes(t *testing.T) {
	cassettes.Current(t, Info, New, apiReportFlowCases, "47110", strconv.Itoa(start(t).Port))
}
