package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/fake"
)

// modelServer starts a server of the OpenAI interface for a script and returns its base URL. Asked for JSON it chooses the
// route that the prompt demands; as an agent it searches, and then says what it found.
func modelServer(t *testing.T) *fake.Server {
	s, err := fake.Start("", func(r *fake.Request) *fake.Response {
		switch {
		case len(r.Tools) > 0 && r.Turn() == 0:
			return fake.Ask(llm.Call{ID: "1", Name: r.Tools[0], Args: `{"q":"needle"}`}, llm.Call{ID: "2", Name: r.Tools[0], Args: `{"q":"$hay {{ stack }}"}`})
		case len(r.Tools) > 0:
			return fake.Say("found it")
		case strings.Contains(r.Last().Text, "Be strict."):
			return fake.Say(`{"route":"review"}`)
		}
		return fake.Say(`{"route":"skip"}`)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// proxyServer is a forward proxy that passes on what is asked of models.invalid to a model and answers for all other hosts.
func proxyServer(t *testing.T, model *fake.Server) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Host == "models.invalid" {
			model.ServeHTTP(w, r)
			return
		}
		_, _ = io.WriteString(w, "the proxy asked "+r.URL.Host)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// ids sets variables to the names of the runs in a list: ids runs.json NEWEST OLDER...
func ids(ts *testscript.TestScript, neg bool, args []string) {
	var list []struct {
		ID string `json:"id"`
	}
	if neg || len(args) < 2 {
		ts.Fatalf("usage: ids runs.json NAME...")
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &list))
	if len(list) != len(args)-1 {
		ts.Fatalf("there are %d runs", len(list))
	}
	for i, name := range args[1:] {
		ts.Setenv(name, list[i].ID)
	}
}
