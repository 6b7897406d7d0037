package llm_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/fake"
)

// Every message is encoded once, however many turns follow (W7). Whoever encodes a message allocates its bytes at least
// once, so the bytes that later turns allocate say how often a large message was encoded again: in 25 turns not once.
func TestEncodedOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("encodes gigabytes")
	}
	const large, turns = 8 << 20, 25
	text := strings.Repeat("abcdefgh", large/8)
	everywhere(t, func(t *testing.T, d fake.Dialect) {
		for _, of := range []struct {
			role  llm.Role
			first []llm.Message
		}{
			{llm.User, []llm.Message{{Role: llm.User, Text: text}}},
			{llm.Assistant, []llm.Message{{Role: llm.User, Text: "Go."}, {Role: llm.Assistant, Text: text}, {Role: llm.User, Text: "Go on."}}},
			{llm.Tools, []llm.Message{{Role: llm.User, Text: "Go."}, {Role: llm.Assistant, Calls: []llm.Call{{ID: "big", Name: "search", Args: `{"q":"x"}`}}},
				{Role: llm.Tools, Results: []llm.Result{{ID: "big", Name: "search", Text: text}}}}},
		} {
			for _, streamed := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/stream=%v", of.role, streamed), func(t *testing.T) {
					s, sent := discards(t, d, streamed)
					c := &llm.Conversation{Messages: of.first, Tools: []llm.Tool{{Name: "search", Schema: []byte(toolSchema)}}}
					p := at[d](s.URL + strings.TrimPrefix(fakeBase(d), "http://x"))
					ask := func() {
						t.Helper()
						req := &llm.Request{Model: "m", Conv: c}
						if streamed {
							req.Delta = func(string) {}
						}
						reply, err := p.Complete(t.Context(), req)
						if err != nil {
							t.Fatal(err)
						}
						c.Messages = append(c.Messages, reply.Message, llm.Message{Role: llm.Tools, Results: []llm.Result{{ID: reply.Message.Calls[0].ID, Name: "search", Text: "hit"}}})
					}
					ask()
					var before, after goruntime.MemStats
					goruntime.ReadMemStats(&before)
					for range turns {
						ask()
					}
					goruntime.ReadMemStats(&after)
					again := float64(after.TotalAlloc-before.TotalAlloc) / large
					t.Logf("%.2f times the bytes of the large message in %d turns", again, turns)
					if again >= 1 {
						t.Errorf("%.1f times the bytes of the large message: it was encoded again", again)
					}
					if *sent < (turns+1)*large {
						t.Errorf("only %d bytes were sent", *sent)
					}
				})
			}
		}
	})
}

func fakeBase(d fake.Dialect) string { return (&fake.Server{URL: "http://x"}).Base(d) }

// discards is a server that reads requests without keeping them, and wants a tool called. sent is how much it has read; it
// is for when nothing is on its way.
func discards(t *testing.T, d fake.Dialect, streamed bool) (s *httptest.Server, sent *int64) {
	t.Helper()
	answer := recorded(t, d, streamed)
	sent = new(int64)
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		*sent += n
		w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
		_, _ = io.WriteString(w, answer.Body.String())
	}))
	t.Cleanup(s.Close)
	return s, sent
}

// recorded is what the fake server answers, in the dialect's own form.
func recorded(t *testing.T, d fake.Dialect, streamed bool) *httptest.ResponseRecorder {
	t.Helper()
	s := start(t, func(*fake.Request) *fake.Response {
		return fake.Ask(llm.Call{ID: "a", Name: "search", Args: `{"q":"x"}`})
	})
	var kept *httptest.ResponseRecorder
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kept = httptest.NewRecorder()
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("X-Api-Key", key)
		r.Header.Set("X-Goog-Api-Key", key)
		s.ServeHTTP(kept, r)
		w.Header().Set("Content-Type", kept.Header().Get("Content-Type"))
		_, _ = io.WriteString(w, kept.Body.String())
	}))
	defer front.Close()
	req := &llm.Request{Model: "m", Conv: &llm.Conversation{Messages: []llm.Message{{Role: llm.User, Text: "x"}}, Tools: []llm.Tool{{Name: "search", Schema: []byte(toolSchema)}}}}
	if streamed {
		req.Delta = func(string) {}
	}
	if _, err := at[d](front.URL+strings.TrimPrefix(fakeBase(d), "http://x")).Complete(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	return kept
}
