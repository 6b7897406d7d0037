package main

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"github.com/flowgen-dev/flowgen/examples/internal/cassettes"
)

// The cassettes are what the shop gives today.
func TestCassettes(t *testing.T) {
	port := start(t).Port
	// The shop fails when this customer is first asked for. Two orders are hers, so that either could meet it.
	resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/v1/customers/curie", port))
	if err != nil || resp.StatusCode != http.StatusServiceUnavailable {
		t.Fatal(err, resp)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	cassettes.Current(t, Info, New, apiReportFlowCases, "47110", strconv.Itoa(port))
}
