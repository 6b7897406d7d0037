package serve_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/serve"
)

// named is the workflow pay under another name.
func named(name string, b *bank) *serve.Workflow {
	info := *payInfo
	info.Name = name
	return serve.Of(&info, func(o ...runtime.Option) (*payFlow, error) {
		rt, err := flow.New(&info, o...)
		return &payFlow{rt, b}, err
	})
}

// Several workflows are served by one process, those too whose names differ in little: each has its runs, keys and types.
func TestSeveral(t *testing.T) {
	one, two := &bank{}, &bank{}
	folder := runs.Open(t.TempDir(), runs.Options{})
	h, err := serve.Handler(serve.Options{Runs: folder}, named("pay-out", one), named("pay_out", two), named("pay out", two))
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(h)
	t.Cleanup(func() {
		_ = h.Shutdown(context.Background()) // nothing runs
		web.Close()
	})
	s := &service{h, web.URL}
	const body = `{"to": "ada", "euros": 3}`
	a := s.want(t, 201, "POST", "/v1/workflows/pay-out/runs", body, "Idempotency-Key", "k", "Prefer", "wait=30")
	b := s.want(t, 201, "POST", "/v1/workflows/pay_out/runs", body, "Idempotency-Key", "k", "Prefer", "wait=30")
	c := s.want(t, 202, "POST", "/v1/workflows/pay%20out/runs", `{"to": "ada", "euros": 300}`, "Prefer", "wait=30")
	if a.ID == b.ID || a.Workflow != "pay-out" || b.Workflow != "pay_out" || c.State != "waiting" || one.paid.Load() != 1 || two.paid.Load() != 1 {
		t.Errorf("%s %s %s", a.text, b.text, c.text)
	}
	for name, id := range map[string]string{"pay-out": a.ID, "pay_out": b.ID, "pay+out": c.ID} {
		if list := s.want(t, 200, "GET", "/v1/runs?workflow="+name, ""); len(list.Runs) != 1 || list.Runs[0].ID != id {
			t.Errorf("%s: %s", name, list.text)
		}
	}
	if list := s.want(t, 200, "GET", "/v1/runs", ""); len(list.Runs) != 3 {
		t.Errorf("%s", list.text)
	}
	if q := s.want(t, 200, "GET", "/v1/questions", ""); len(q.Questions) != 1 || q.Questions[0].Run != c.ID {
		t.Errorf("%s", q.text)
	}
	s.want(t, 404, "POST", "/v1/workflows/payout/runs", body)
	s.want(t, 404, "GET", "/v1/runs?workflow=payout", "")
	doc := s.want(t, 200, "GET", "/v1/openapi.json", "").text
	for _, want := range []string{`"/v1/workflows/pay-out/runs"`, `"/v1/workflows/pay_out/runs"`, `"operationId":"beginPayOut"`, `"operationId":"beginPayOut2"`, `"operationId":"beginPayOut3"`, `"PayOut2Input":`} {
		if !strings.Contains(doc, want) {
			t.Errorf("the document lacks %s", want)
		}
	}
	if _, err := serve.Handler(serve.Options{Runs: folder}, named("pay", one), named("pay", two)); err == nil || !strings.Contains(err.Error(), "two workflows are named pay") {
		t.Error(err)
	}
}
