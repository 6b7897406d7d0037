package main

import (
	"strconv"
	"testing"

	"github.com/flowgen-dev/flowgen/examples/incident/services"
	"github.com/flowgen-dev/flowgen/examples/internal/cassettes"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
)

// The cassettes are what the tools give today.
func TestCassettes(t *testing.T) {
	interpreters(t)
	s, err := services.Start()
	if err != nil {
		t.Fatal(err)
	}
	cassettes.Current(t, Info, New, incidentFlowCases, "47110", strconv.Itoa(s.Port))
	httptool.CloseIdleConnections()
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}
