package main

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/examples/internal/cassettes"
	"github.com/flowgen-dev/flowgen/examples/triage/host"
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/llm/fake"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// models is the model server of all tests here, which is never stopped: a program looks up the address of its model once.
var models struct {
	once   sync.Once
	server *fake.Server
	err    error
	answer atomic.Pointer[func(*fake.Request) *fake.Response]
}

// begin starts a code host, and makes the model server answer with f.
func begin(t *testing.T, f func(*fake.Request) *fake.Response) (*host.Server, *fake.Server) {
	t.Helper()
	h, err := host.Start()
	if err != nil {
		t.Fatal(err)
	}
	models.once.Do(func() {
		models.server, models.err = fake.Start("key-of-the-test", func(r *fake.Request) *fake.Response { return (*models.answer.Load())(r) })
	})
	if models.err != nil {
		t.Fatal(models.err)
	}
	models.answer.Store(&f)
	return h, models.server
}

func TestTriage(t *testing.T) {
	var dead atomic.Bool
	h, m := begin(t, func(r *fake.Request) *fake.Response {
		answer := model(r)
		if dead.Load() && r.Schema == nil {
			answer.Fault = fake.Fault{End: fake.Reset, At: 1}
		}
		return answer
	})
	t.Setenv("OPENAI_API_KEY", "key-of-the-test")
	t.Setenv("OPENAI_BASE_URL", m.Base(fake.OpenAI))
	in := Input{Repo: "acme/shop", PR: 7, Port: int64(h.Port)}

	rec := journal.NewRecorder()
	w, err := New(runtime.WithEngine(rec))
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Prices lose their dollar sign in 2 places that print them. Is that meant?\n\nUsed in 2 other places; ask ada."}
	if diff := cmp.Diff(want, h.Comments()); diff != "" {
		t.Errorf("comments (-want +got):\n%s", diff)
	}
	if len(got.Calls) != 2 {
		t.Errorf("calls: %v", got.Calls)
	}
	if all, err := rec.Journal().MarshalText(); err != nil || strings.Contains(string(all), "key-of-the-test") {
		t.Errorf("the journal holds the key, or cannot be written: %v", err)
	}

	// The cassettes of the cases are what the two servers say today.
	cassettes.Current(t, Info, New, triageFlowCases, "47110", strconv.Itoa(h.Port))

	// A model server that dies in the middle is an error with a code, at the node's place.
	dead.Store(true)
	w, err = New()
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Run(t.Context(), in)
	var te *value.ToolError
	if !errors.As(err, &te) || te.Code != value.NetworkError || !strings.HasPrefix(err.Error(), "triage.flowgen.yaml:") {
		t.Errorf("a dead model server: %v", err)
	}
	if n := len(h.Comments()); n != 1 {
		t.Errorf("%d comments", n)
	}

	// The recorded run again, with no code host there, and without a question to the model.
	asked := len(m.Requests())
	if err := h.Stop(); err != nil {
		t.Fatal(err)
	}
	w, err = New(runtime.WithEngine(journal.Replay(rec.Journal())))
	if err != nil {
		t.Fatal(err)
	}
	again, err := w.Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, again); diff != "" {
		t.Errorf("replayed (-want +got):\n%s", diff)
	}
	if n := len(m.Requests()) - asked; n != 0 || asked == 0 {
		t.Errorf("the replay has asked the model %d times, after %d", n, asked)
	}
}
