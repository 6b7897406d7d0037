package serve_test

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/serve"
)

// A new run begins with what another has done, but for what is to be different.
func TestRerun(t *testing.T) {
	b := &bank{}
	s := start(t, t.TempDir(), b, serve.Options{ExposeCalls: true})
	first := s.want(t, 202, "POST", start10, `{"to": "ada", "euros": 300}`, "Prefer", "wait=30")
	s.want(t, 200, "PUT", "/v1/runs/"+first.ID+"/questions/ask", `{"answer": "yes"}`, "Prefer", "wait=30")
	at := "/v1/runs/" + first.ID + "/rerun"

	again := s.want(t, 201, "POST", at, `{"from": "pay"}`, "Prefer", "wait=30")
	if again.ID == first.ID || again.State != "succeeded" || again.header.Get("Location") != "/v1/runs/"+again.ID || b.paid.Load() != 2 {
		t.Errorf("paid %d times: %s", b.paid.Load(), again.text)
	}
	refused := s.want(t, 201, "POST", at, `{"set": {"ask": "no"}}`, "Prefer", "wait=30")
	if refused.State != "succeeded" || refused.Output.Paid != nil || b.paid.Load() != 2 {
		t.Errorf("paid %d times: %s", b.paid.Load(), refused.text)
	}
	other := s.want(t, 201, "POST", at, `{"set": {"input.to": "bob", "input.euros": 7}}`, "Prefer", "wait=30")
	if other.Output == nil || *other.Output.Paid != "bob" || b.paid.Load() != 3 {
		t.Errorf("paid %d times: %s", b.paid.Load(), other.text)
	}
	for _, c := range []struct{ body, pointer, want string }{
		{`{}`, "", "is required: what is different?"},
		{`{"from": "pai"}`, "/from", "unknown node pai; did you mean pay?"},
		{`{"set": {"pay.x": 1}}`, "/set/pay.x", "unknown field x"},
		{`{"set": {"input.eur": 1}}`, "/set/input.eur", "unknown field eur; did you mean euros?"},
		{`{"set": {"input.euros": "many"}}`, "/euros", "an integer expected"},
		{`{"form": "pay"}`, "", "form"},
	} {
		a := s.want(t, 422, "POST", at, c.body)
		if len(a.Errors) != 1 || c.pointer != "" && a.Errors[0].Pointer != c.pointer || !strings.Contains(a.Errors[0].Detail, c.want) {
			t.Errorf("%s: %s lacks %s at %s", c.body, a.text, c.want, c.pointer)
		}
	}
	s.want(t, 404, "POST", "/v1/runs/none/rerun", `{"from": "pay"}`)
	if list := s.want(t, 200, "GET", "/v1/runs", ""); len(list.Runs) != 4 || b.paid.Load() != 3 {
		t.Errorf("something began: %s", list.text)
	}
	if one := s.want(t, 200, "GET", "/v1/runs/"+first.ID+"/calls/pay", ""); len(one.Calls) != 1 || one.Calls[0].Name != "bank.pay" {
		t.Errorf("%s", one.text)
	}
	s.want(t, 404, "GET", "/v1/runs/"+first.ID+"/calls/pai", "")
}

// Two runs for which the same id was made are two runs all the same: one that is over, one that goes on, and one that is begun again.
func TestSameID(t *testing.T) {
	b := &bank{began: make(chan struct{}, 8)}
	s := start(t, t.TempDir(), b, serve.Options{})
	ids := []string{"pay-1", "pay-1", "pay-2", "pay-1", "pay-2", "pay-3", "pay-3", "pay-4"}
	next := 0
	t.Cleanup(serve.MakeIDs(func(string, time.Time) string {
		next++
		return ids[next-1]
	}))
	const body = `{"to": "ada", "euros": 3}`
	if a := s.want(t, 201, "POST", start10, body, "Prefer", "wait=30"); a.ID != "pay-1" {
		t.Errorf("%s", a.text)
	}
	b.hold = make(chan struct{})
	if a := s.want(t, 202, "POST", start10, body); a.ID != "pay-2" {
		t.Errorf("%s", a.text)
	}
	if a := s.want(t, 202, "POST", start10, body); a.ID != "pay-3" {
		t.Errorf("%s", a.text)
	}
	if a := s.want(t, 202, "POST", "/v1/runs/pay-1/rerun", `{"from": "pay"}`); a.ID != "pay-4" {
		t.Errorf("%s", a.text)
	}
	close(b.hold)
	for _, id := range ids[4:] {
		s.waitFor(t, id, "succeeded")
	}
	if b.paid.Load() != 4 {
		t.Errorf("paid %d times", b.paid.Load())
	}
}

// While a run goes on, another cannot begin with its results.
func TestRerunOfRunning(t *testing.T) {
	b := &bank{hold: make(chan struct{}), began: make(chan struct{}, 1)}
	s := start(t, t.TempDir(), b, serve.Options{})
	a := s.want(t, 202, "POST", start10, `{"to": "ada", "euros": 3}`)
	<-b.began
	if p := s.want(t, 409, "POST", "/v1/runs/"+a.ID+"/rerun", `{"from": "pay"}`); p.Code != "NOT_OVER" {
		t.Errorf("%s", p.text)
	}
	close(b.hold)
	s.waitFor(t, a.ID, "succeeded")
}

// The key of a run that was removed begins no other, no matter who removed it, also behind a restart.
func TestRemovedKey(t *testing.T) {
	b, dir := &bank{}, t.TempDir()
	s := start(t, dir, b, serve.Options{})
	body := `{"to": "ada", "euros": 3}`
	for _, key := range []string{"k", "l"} {
		s.want(t, 201, "POST", start10, body, "Idempotency-Key", key, "Prefer", "wait=30")
	}
	id := s.want(t, 200, "POST", start10, body, "Idempotency-Key", "k").ID
	s.want(t, 204, "DELETE", "/v1/runs/"+id, "")
	if removed, err := runs.Open(dir, runs.Options{}).Prune("", 0); err != nil || len(removed) != 1 {
		t.Fatal(removed, err)
	}
	for range 2 {
		for _, key := range []string{"k", "l"} {
			if p := s.want(t, 410, "POST", start10, body, "Idempotency-Key", key); p.Code != "REMOVED" {
				t.Errorf("%s", p.text)
			}
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		s = start(t, dir, b, serve.Options{})
	}
	s.want(t, 404, "GET", "/v1/runs/"+id, "")
	if list := s.want(t, 200, "GET", "/v1/runs", ""); len(list.Runs) != 0 || b.paid.Load() != 2 {
		t.Errorf("%d: %s", b.paid.Load(), list.text)
	}
	s.want(t, 201, "POST", start10, body, "Idempotency-Key", "m", "Prefer", "wait=30")
}

// The journal says who has answered, and so does the answer to the one that comes second.
func TestAnsweredBy(t *testing.T) {
	dir := t.TempDir()
	auth := func(r *http.Request) (serve.Principal, error) {
		return serve.Principal{Name: r.Header.Get("Who")}, nil
	}
	b := &bank{hold: make(chan struct{}), began: make(chan struct{}, 1)}
	s := start(t, dir, b, serve.Options{Auth: auth})
	a := s.want(t, 202, "POST", start10, `{"to": "ada", "euros": 300}`, "Prefer", "wait=30", "Who", "cleo")
	url := "/v1/runs/" + a.ID + "/questions/ask"
	s.want(t, 200, "PUT", url, `{"answer": "yes", "comment": "as agreed"}`, "Who", "dora")
	<-b.began
	if late := s.want(t, 409, "PUT", url, `{"answer": "no"}`, "Who", "eve"); late.Code != "ANSWERED" || !strings.Contains(late.Detail, "dora has answered at ") {
		t.Errorf("%s", late.text)
	}
	close(b.hold)
	s.waitFor(t, a.ID, "succeeded")
	text, err := os.ReadFile(dir + "/" + a.ID + "/journal.jsonl")
	if err != nil || !strings.Contains(string(text), `"by":"dora","comment":"as agreed"`) {
		t.Errorf("%s %v", text, err)
	}
	by := ""
	for e := range s.follow(t, a.ID, 0) {
		by += e.By
	}
	if by != "dora" {
		t.Errorf("the events say that %q has answered", by)
	}
}
