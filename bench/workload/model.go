package workload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
)

// Calls is how many tools the model wants called in every turn.
const Calls = 3

// longestLoop is the most turns that the model server has answers for.
const longestLoop = 200

// modelServer speaks OpenAI's chat completions on loopback. To a conversation that begins with "turns=n;" it answers n times
// that it wants three tools called, and then "done". Reading a request and answering it costs the same number of
// allocations however long the conversation is.
type modelServer struct {
	base    string // http://127.0.0.1:PORT/v1
	answers [longestLoop][]byte
	done    []byte
	bodies  sync.Pool
	watch   atomic.Pointer[func(body []byte)] // sees each request
}

// model is the server of this process. It lives as long as that, because the provider reads the address of the
// environment once.
var model = sync.OnceValues(func() (*modelServer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &modelServer{base: "http://" + l.Addr().String() + "/v1", bodies: sync.Pool{New: func() any { return new(bytes.Buffer) }}}
	for t := range s.answers {
		m := chatMessage{Role: "assistant"}
		for i := range Calls {
			c := chatCall{ID: callID(t, i), Type: "function"}
			c.Function.Name, c.Function.Arguments = "add", fmt.Sprintf(`{"a":%d,"b":%d}`, t, i)
			m.ToolCalls = append(m.ToolCalls, c)
		}
		s.answers[t] = completion(t, m, "tool_calls")
	}
	s.done = completion(longestLoop, chatMessage{Role: "assistant", Content: "done"}, "stop")
	go func() { _ = http.Serve(l, s) }()
	return s, os.Setenv("OPENAI_BASE_URL", s.base)
})

func callID(turn, i int) string { return fmt.Sprintf("c%d_%d", turn, i) }

// completion is the answer of a turn, with an id of its own, by which LangGraph tells messages apart.
func completion(turn int, m chatMessage, finish string) []byte {
	b, _ := json.Marshal(map[string]any{"id": fmt.Sprintf("chatcmpl-%d", turn), "object": "chat.completion", "model": "fake", // of texts and numbers
		"choices": []any{map[string]any{"index": 0, "message": m, "finish_reason": finish}},
		"usage":   map[string]any{"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}})
	return b
}

func (s *modelServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	buf := s.bodies.Get().(*bytes.Buffer)
	defer s.bodies.Put(buf)
	buf.Reset()
	if _, err := io.Copy(buf, r.Body); err != nil {
		return
	}
	body := buf.Bytes()
	if f := s.watch.Load(); f != nil {
		(*f)(body)
	}
	answer := s.done
	if r.Header.Get("Authorization") != "Bearer "+token {
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	_, rest, _ := bytes.Cut(body, []byte("turns="))
	digits, _, _ := bytes.Cut(rest[:min(len(rest), 20)], []byte(";"))
	most, err := strconv.Atoi(string(digits))
	if err != nil || most > longestLoop {
		http.Error(w, "how many turns?", http.StatusBadRequest)
		return
	}
	if t := bytes.Count(body, []byte(`"role":"assistant"`)); t < most {
		answer = s.answers[t]
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer)
}
