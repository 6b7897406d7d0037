package llm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/anthropic"
	"github.com/flowgen-dev/flowgen/runtime/llm/fake"
	"github.com/flowgen-dev/flowgen/runtime/llm/gemini"
	"github.com/flowgen-dev/flowgen/runtime/llm/openai"
	"github.com/flowgen-dev/flowgen/runtime/llm/responses"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil { // most tests wait for a deadline
		panic(err)
	}
	// Google's library starts a goroutine when a program starts that links it, and never ends it.
	leaks.Main(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

const (
	key  = "sk-very-secret-0123456789"
	mark = "MARK"

	// deadline is that of an attempt that has to meet it, and grace how much longer it may take.
	deadline = 400 * time.Millisecond
	grace    = 250 * time.Millisecond
)

var at = map[fake.Dialect]func(string) llm.Provider{fake.OpenAI: openai.At, fake.Anthropic: anthropic.At, fake.Gemini: gemini.At, fake.Responses: responses.At}

// byDialect are the codes of a cell that is not the same for all: openai, anthropic, gemini, openai-responses.
type byDialect [4]value.Code

func same(c value.Code) byDialect { return byDialect{c, c, c, c} }

// ok is the code of what is not an error.
const ok value.Code = ""

// A cell is one thing that goes wrong. Its code decides whether there is another attempt.
type cell struct {
	name   string
	fault  fake.Fault
	reply  *llm.Reply                // nil: mark
	base   func(t *testing.T) string // nil: the fake server
	whole  *byDialect                // nil: there is no such cell for answers that come as a whole
	stream *byDialect
	after  *float64 // seconds that are asked for
	free   bool     // the provider cannot have billed it
}

// hangs tells whether a provider would wait without a deadline.
func (c *cell) hangs() bool {
	return c.fault.End == fake.Stall || c.fault.End == fake.Drip || c.fault.End == fake.Silence
}

func both(c value.Code) (whole, stream *byDialect) { d := same(c); return &d, &d }

// replace edits a body; every place of old is replaced.
func replace(old, with string) func(fake.Dialect, []byte) []byte {
	return func(_ fake.Dialect, b []byte) []byte { return bytes.ReplaceAll(b, []byte(old), []byte(with)) }
}

// perDialect replaces by texts that are not the same for all.
func perDialect(pairs map[fake.Dialect][2]string) func(fake.Dialect, []byte) []byte {
	return func(d fake.Dialect, b []byte) []byte {
		return bytes.ReplaceAll(b, []byte(pairs[d][0]), []byte(pairs[d][1]))
	}
}

// event is one of a stream's.
func events(edit func(d fake.Dialect, list []string) []string) func(fake.Dialect, []byte) []byte {
	return func(d fake.Dialect, b []byte) []byte {
		end := "\n\n"
		if d == fake.Gemini {
			end = "\r\n\r\n"
		}
		list := strings.SplitAfter(string(b), end)
		return []byte(strings.Join(edit(d, list[:len(list)-1]), ""))
	}
}

func is(body string) func(fake.Dialect, []byte) []byte {
	return func(fake.Dialect, []byte) []byte { return []byte(body) }
}

func statusCells() []cell {
	var list []cell
	for _, c := range []struct {
		status int
		code   value.Code
	}{{400, value.ValidationError}, {401, value.AuthRequired}, {403, value.AuthRequired}, {404, value.ProviderError}, {408, value.Timeout},
		{409, value.ProviderError}, {413, value.ProviderError}, {422, value.ValidationError}, {429, value.RateLimit}, {500, value.ProviderError},
		{502, value.ProviderError}, {503, value.ProviderError}, {504, value.ProviderError}, {529, value.ProviderError}, {304, value.ProviderError}} {
		x := cell{name: fmt.Sprint("status ", c.status), fault: fake.Fault{Status: c.status}, free: c.status != 502 && c.status != 504}
		x.whole, x.stream = both(c.code)
		list = append(list, x)
	}
	for _, c := range []struct {
		name, value string
		after       *float64
	}{{"seconds", "7", new(7.0)}, {"date", "Fri, 21 Nov 2025 10:00:30 GMT", new(30.0)}, {"negative", "-5", nil}, {"a billion", "1000000000", new(86400.0)},
		{"garbage", "soon", nil}} {
		x := cell{name: "retry-after " + c.name, after: c.after, free: true,
			fault: fake.Fault{Status: 429, Header: map[string]string{"Retry-After": c.value, "Date": "Fri, 21 Nov 2025 10:00:00 GMT"}}}
		x.whole, x.stream = both(value.RateLimit)
		list = append(list, x)
	}
	overload := cell{name: "503 with retry-after", free: true, after: new(3.0), fault: fake.Fault{Status: 503, Header: map[string]string{"Retry-After": "3"}}}
	overload.whole, overload.stream = both(value.ProviderError)
	moved := cell{name: "redirect", free: true, fault: fake.Fault{Status: 307, Header: map[string]string{"Location": "http://169.254.169.254/latest"}}}
	moved.whole, moved.stream = both(value.ProviderError)
	page := cell{name: "502 with a page", fault: fake.Fault{Status: 502, Header: map[string]string{"Content-Type": "text/html"}, Edit: is("<html><h1>Bad gateway")}}
	page.whole, page.stream = both(value.ProviderError)
	echo := cell{name: "401 that repeats the key", free: true, fault: fake.Fault{Status: 401, Edit: is(`{"error":{"message":"key ` + key + ` is wrong"}}`)}}
	echo.whole, echo.stream = both(value.AuthRequired)
	slow := cell{name: "500 whose body does not come", free: true, fault: fake.Fault{Status: 500, End: fake.Stall, At: 3}}
	slow.whole, slow.stream = both(value.ProviderError)
	return append(list, overload, moved, page, echo, slow)
}

func networkCells() []cell {
	var list []cell
	add := func(name string, f fake.Fault, base func(*testing.T) string, code value.Code) {
		c := cell{name: name, fault: f, base: base, free: base != nil}
		c.whole, c.stream = both(code)
		list = append(list, c)
	}
	add("refused", fake.Fault{}, func(*testing.T) string { return "http://127.0.0.1:1" }, value.NetworkError)
	add("no such host", fake.Fault{}, func(*testing.T) string { return "http://no-such-host.invalid" }, value.NetworkError)
	add("no TLS", fake.Fault{}, func(t *testing.T) string {
		s := start(t, func(*fake.Request) *fake.Response { return nil })
		return strings.Replace(s.URL, "http:", "https:", 1)
	}, value.NetworkError)
	add("no URL of the web", fake.Fault{}, func(*testing.T) string { return "ftp://127.0.0.1:1" }, value.ValidationError)
	add("no host", fake.Fault{}, func(*testing.T) string { return "localhost" }, value.ValidationError)
	add("no URL", fake.Fault{}, func(*testing.T) string { return "http://[::1" }, value.ValidationError)
	add("reset at once", fake.Fault{End: fake.Reset}, nil, value.NetworkError)
	add("reset mid-body", fake.Fault{End: fake.Reset, At: 60}, nil, value.NetworkError)
	add("half close", fake.Fault{End: fake.HalfClose, At: 60}, nil, value.NetworkError)
	add("close", fake.Fault{End: fake.Close, At: -3}, nil, value.NetworkError)
	add("stall mid-body", fake.Fault{End: fake.Stall, At: 40}, nil, value.Timeout)
	add("slow loris", fake.Fault{End: fake.Drip, At: 10}, nil, value.Timeout)
	add("executed, then nothing", fake.Fault{End: fake.Silence}, nil, value.Timeout)
	return list
}

// bodyCells are answers that are not what they should be, whether they come in pieces or not.
func bodyCells() []cell {
	var list []cell
	add := func(name string, edit func(fake.Dialect, []byte) []byte, whole, stream byDialect) *cell {
		list = append(list, cell{name: name, fault: fake.Fault{Edit: edit}, whole: &whole, stream: &stream})
		return &list[len(list)-1]
	}
	p := same(value.ProviderError)
	add("garbage", is("<html>no JSON</html>"), p, same(value.NetworkError))
	add("garbage in an event", is("data: <html>no JSON</html>\n\n"), p, p)
	add("nothing", is(""), p, same(value.NetworkError))
	add("null", is("null"), p, same(value.NetworkError))
	add("null in an event", is("data: null\n\n"), p, byDialect{value.NetworkError, value.ProviderError, value.NetworkError, value.ProviderError})
	add("a list in an event", is("data: []\n\n"), p, p)
	add("NaN", replace("4242", "NaN"), p, p)
	add("a number too large", replace("4242", "1e400"), p, p)
	add("a negative count", replace("4242", "-4242"), p, p)
	add("a count that is text", replace("4242", `"many"`), p, p)
	add("10000 lists", replace(`"MARK"`, strings.Repeat("[", 10_001)+strings.Repeat("]", 10_001)), p, p)
	add("1000 lists", replace(`"MARK"`, strings.Repeat("[", 1000)+strings.Repeat("]", 1000)), p, p)
	add("a text that is a number", replace(`"MARK"`, "5"), p, p)
	add("a text that is an object", replace(`"MARK"`, `{"a":1}`), p, p)
	add("no UTF-8", replace(mark, "\xff\xfe\xc3"), p, p)
	add("an escape that is none", replace(mark, `\x00`), p, p)
	add("no choices", perDialect(map[fake.Dialect][2]string{
		fake.OpenAI:    {`"choices":[{`, `"choices":[],"others":[{`},
		fake.Anthropic: {`"content":[`, `"others":[`},
		fake.Gemini:    {`"candidates":[`, `"others":[`},
		fake.Responses: {`"output":[`, `"others":[`},
	}), p, byDialect{value.ProviderError, ok, value.NetworkError, value.ProviderError})
	add("the reason is missing", perDialect(map[fake.Dialect][2]string{
		fake.OpenAI: {`"finish_reason":"stop"`, `"x":1`}, fake.Anthropic: {`"stop_reason":"end_turn"`, `"x":1`}, fake.Gemini: {`"finishReason":"STOP"`, `"x":1`},
		fake.Responses: {`"status":"completed"`, `"x":1`},
	}), p, byDialect{value.ProviderError, value.ProviderError, value.NetworkError, value.ProviderError})
	add("the reason is a number", perDialect(map[fake.Dialect][2]string{
		fake.OpenAI: {`"finish_reason":"stop"`, `"finish_reason":1`}, fake.Anthropic: {`"stop_reason":"end_turn"`, `"stop_reason":1`},
		fake.Gemini: {`"finishReason":"STOP"`, `"finishReason":1`}, fake.Responses: {`"status":"completed"`, `"status":1`},
	}), p, p)
	add("a reason that nobody knows", perDialect(map[fake.Dialect][2]string{
		fake.OpenAI: {`"finish_reason":"stop"`, `"finish_reason":"new"`}, fake.Anthropic: {`"stop_reason":"end_turn"`, `"stop_reason":"new"`},
		fake.Gemini: {`"finishReason":"STOP"`, `"finishReason":"NEW"`}, fake.Responses: {`"status":"completed"`, `"status":"new"`},
	}), byDialect{ok, ok, value.ProviderError, value.ProviderError}, byDialect{ok, ok, value.ProviderError, value.ProviderError})

	calls := func(calls ...llm.Call) *llm.Reply {
		return &llm.Reply{Stop: llm.CallStop, Message: llm.Message{Calls: calls}, Usage: llm.Usage{Input: 4242, Output: 3}}
	}
	add("a tool that nobody has", nil, same(ok), same(ok)).reply = calls(llm.Call{ID: "a", Name: "made_up", Args: "{}"})
	add("two calls of one id", nil, p, p).reply = calls(llm.Call{ID: "a", Name: "f", Args: "{}"}, llm.Call{ID: "a", Name: "g", Args: "{}"})
	add("a call without a name", nil, p, p).reply = calls(llm.Call{ID: "a", Args: "{}"})
	add("a call without an id", nil, byDialect{p[0], p[1], ok, p[3]}, byDialect{p[0], p[1], ok, p[3]}).reply = calls(llm.Call{Name: "f", Args: "{}"})
	many := make([]llm.Call, 10_001)
	for i := range many {
		many[i] = llm.Call{ID: fmt.Sprint(i), Name: "f", Args: "{}"}
	}
	all := add("10001 calls", nil, p, p)
	all.reply = calls(many...)
	return list
}

func streamCells() []cell {
	var list []cell
	add := func(name string, edit func(fake.Dialect, []byte) []byte, codes byDialect) {
		list = append(list, cell{name: name, fault: fake.Fault{Edit: edit}, stream: &codes})
	}
	n, p := value.NetworkError, value.ProviderError
	add("cut mid-event", func(_ fake.Dialect, b []byte) []byte { return b[:len(b)*2/5] }, same(n))
	add("the first event twice", events(func(_ fake.Dialect, l []string) []string { return append([]string{l[0]}, l...) }), byDialect{ok, p, ok, ok})
	add("the first event is missing", events(func(_ fake.Dialect, l []string) []string { return l[1:] }), byDialect{ok, p, n, ok})
	add("the last event is missing", events(func(_ fake.Dialect, l []string) []string { return l[:len(l)-1] }), byDialect{ok, n, n, n})
	add("the last event twice", events(func(_ fake.Dialect, l []string) []string { return append(l, l[len(l)-1]) }), same(ok))
	add("backwards", events(func(_ fake.Dialect, l []string) []string { slices.Reverse(l); return l }), byDialect{p, p, ok, ok})
	add("an event that nobody knows", events(func(_ fake.Dialect, l []string) []string {
		return slices.Insert(l, 1, "event: novelty\ndata: {\"type\":\"novelty\",\"x\":[1]}\n\n")
	}), same(ok))
	add("comments and empty events", events(func(_ fake.Dialect, l []string) []string {
		return slices.Insert(l, 1, ": hello\n\n", "\n\n", "retry: 5\nid: 7\n\n")
	}), same(ok))
	add("an error in the middle", events(func(d fake.Dialect, l []string) []string {
		return slices.Insert(l, 1, map[fake.Dialect]string{
			fake.OpenAI:    `data: {"error":{"message":"too many","code":429}}` + "\n\n",
			fake.Anthropic: "event: error\n" + `data: {"type":"error","error":{"type":"rate_limit_error","message":"too many"}}` + "\n\n",
			fake.Gemini:    `data: {"error":{"code":429,"message":"too many","status":"RESOURCE_EXHAUSTED"}}` + "\n\n",
			fake.Responses: "event: error\n" + `data: {"type":"error","code":"rate_limit_exceeded","message":"too many","param":null}` + "\n\n",
		}[d])
	}), same(value.RateLimit))
	add("an event of 9 MB", events(func(_ fake.Dialect, l []string) []string {
		return slices.Insert(l, 1, "data: "+strings.Repeat("x", 9<<20)+"\n\n")
	}), same(value.PolicyDenied))
	add("parts out of order", perDialect(map[fake.Dialect][2]string{
		fake.OpenAI: {`"delta":{"content":"MARK"}`, `"delta":{"tool_calls":[{"index":7}]}`}, fake.Anthropic: {`"index":0`, `"index":7`}, fake.Gemini: {`"index":0`, `"index":7`},
		fake.Responses: {`"output_index":0`, `"output_index":7`},
	}), byDialect{p, p, ok, ok})

	large := same(value.PolicyDenied)
	return append(list, cell{name: "33 MB", fault: fake.Fault{Edit: func(_ fake.Dialect, b []byte) []byte {
		return append(b, bytes.Repeat([]byte(" "), 33<<20)...)
	}}, whole: &large})
}

func start(t *testing.T, answer func(*fake.Request) *fake.Response) *fake.Server {
	t.Helper()
	s, err := fake.Start(key, answer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestFaults is the matrix of faults: every cell has one code, which decides alone whether there is another attempt
// (reliability P8), in all dialects, for whole answers and for streams.
func TestFaults(t *testing.T) {
	cells := slices.Concat(statusCells(), networkCells(), bodyCells(), streamCells())
	for i, d := range fake.Dialects {
		n := 0
		for _, c := range cells {
			for _, streamed := range []bool{false, true} {
				codes := c.whole
				if streamed {
					codes = c.stream
				}
				if codes == nil {
					continue
				}
				n++
				t.Run(fmt.Sprintf("%s/%s/stream=%v", d, c.name, streamed), func(t *testing.T) {
					t.Parallel()
					c.try(t, d, streamed, codes[i])
				})
			}
		}
		t.Logf("%s: %d cells", d, n)
		if n < 100 {
			t.Errorf("%s has %d cells only", d, n)
		}
	}
}

// transient are the codes after which an attempt is repeated.
var transient = []value.Code{value.RateLimit, value.Timeout, value.NetworkError, value.ProviderError}

func (c *cell) try(t *testing.T, d fake.Dialect, streamed bool, want value.Code) {
	s := start(t, func(*fake.Request) *fake.Response {
		r := &fake.Response{Pieces: 1, Fault: c.fault, Reply: llm.Reply{Stop: llm.End, Message: llm.Message{Text: mark}, Usage: llm.Usage{Input: 4242, Output: 3}}}
		if c.reply != nil {
			r.Reply = *c.reply
		}
		return r
	})
	base := s.Base(d)
	if c.base != nil {
		base = c.base(t)
	}
	limits := []time.Duration{time.Minute}
	if c.hangs() { // a machine that is busy is late sometimes, a provider that hangs is late always
		limits = []time.Duration{deadline, 3 * deadline, 9 * deadline, 27 * deadline}
	}
	var wrong string
	for _, limit := range limits {
		begin := time.Now()
		again, kept, err := attempt(t, at[d](base), "m", streamed, limit)
		if wrong = c.wrong(want, again, kept, err); wrong == "" && c.hangs() && time.Since(begin) > limit+grace {
			wrong = fmt.Sprintf("took %v with %v to go", time.Since(begin), limit)
		}
		if wrong == "" {
			return
		}
	}
	t.Error(wrong)
}

// wrong says what of an attempt is not as it should be.
func (c *cell) wrong(want value.Code, again bool, kept usage.USD, err error) string {
	var te *value.ToolError
	if err != nil && !errors.As(err, &te) {
		return fmt.Sprintf("not an error of a tool: %v", err)
	}
	got := ok
	if te != nil {
		got = te.Code
	}
	if got != want {
		return fmt.Sprintf("got %v, want code %q", err, want)
	}
	if again != slices.Contains(transient, want) {
		return fmt.Sprintf("another attempt: %v, after %v", again, err)
	}
	if want := keeps(want, c.free); kept != want {
		return fmt.Sprintf("%d of what was reserved are kept, want %d", kept, want)
	}
	if te == nil {
		return ""
	}
	if (te.RetryAfterS == nil) != (c.after == nil) || c.after != nil && *te.RetryAfterS != *c.after {
		return fmt.Sprintf("waits %v, want %v", te.RetryAfterS, c.after)
	}
	if all, _ := json.Marshal(te); bytes.Contains(all, []byte(key)) {
		return fmt.Sprintf("the key is in %s", all)
	}
	if c.fault.Status != 0 {
		status, _ := te.Details.Get("status")
		headers, _ := te.Details.Get("headers")
		id, _ := headers.Get("x-request-id")
		if status.Int() != int64(c.fault.Status) || id.String() != "req_fake" {
			return fmt.Sprintf("details: status %v, request id %v", status, id)
		}
	}
	return ""
}

// What a call reserves, and what it takes when it succeeds.
const reserved, taken usage.USD = 1000, 7

// keeps is what a budget has lost after an attempt: nothing when the provider has not begun, everything when it may have.
func keeps(code value.Code, free bool) usage.USD {
	switch {
	case code == ok:
		return taken
	case free, code == value.RateLimit, code == value.AuthRequired:
		return 0
	}
	return reserved
}

// attempt calls a model once, in a run as a program has it, and reports whether the runtime would call it again, and what
// it keeps of what it has reserved.
func attempt(t *testing.T, p llm.Provider, model string, streamed bool, limit time.Duration) (again bool, kept usage.USD, err error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rt, err := flow.New(&flow.Info{Name: "t"}, runtime.WithSecrets(func(string) (string, bool) { return key, true }),
		runtime.WithUsage(runtime.UsageFunc(func(a *runtime.Attempt) { kept = a.Cost })),
		runtime.WithObserver(runtime.ObserverFunc(func(e runtime.Event) {
			if e.Kind == runtime.Retrying {
				again = true
				err = e.Err
				cancel() // instead of waiting
			}
		})))
	if err != nil {
		t.Error(err)
		return false, 0, err
	}
	var seen error
	tool := flow.Bind("p@1", flow.External, func(ctx context.Context, in string) (string, error) {
		req := &llm.Request{Model: model, Key: "KEY", Conv: &llm.Conversation{Messages: []llm.Message{{Role: llm.User, Text: in}}}}
		if streamed {
			req.Delta = func(string) {}
		}
		reply, err := p.Complete(ctx, req)
		if err != nil {
			seen = err
			return "", err
		}
		if reply.Stop == "" || reply.Message.Role != llm.Assistant {
			t.Errorf("reply %+v", reply)
		}
		return reply.Message.Text, nil
	}, flow.Secrets("KEY"), tool.Metered(func(*string) usage.Spend { return usage.Spend{Cost: reserved} },
		func(*string, *string) usage.Spend { return usage.Spend{Cost: taken} }))
	node := &flow.Node{ID: "n", Pos: "f.yaml:1:1", Timeout: limit, Retry: &flow.Retry{Attempts: 2, Base: time.Hour}}
	_, failed := flow.Call(rt.Start(ctx), node, tool, "hello")
	if again {
		return true, kept, err
	}
	if failed == nil && seen != nil {
		t.Errorf("%v was lost", seen)
	}
	return false, kept, failed
}

// TestGarbledAtRandom changes bytes of good answers: nothing makes a provider panic or hang, and the codes are those of
// answers that cannot be read.
func TestGarbledAtRandom(t *testing.T) {
	rounds := 150
	if testing.Short() {
		rounds = 30
	}
	for _, d := range fake.Dialects {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, 2))
			s, err := fake.Start("", func(*fake.Request) *fake.Response {
				seed := random.Uint64() // one request at a time
				return &fake.Response{Fault: fake.Fault{Edit: func(_ fake.Dialect, b []byte) []byte { return garble(b, seed) }},
					Reply: llm.Reply{Stop: llm.CallStop, Message: llm.Message{Text: "some text", Calls: []llm.Call{{ID: "a", Name: "f", Args: `{"x":[1,2]}`}, {ID: "b", Name: "g", Args: `{}`}}}}}
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			p := at[d](s.Base(d))
			for i := range rounds {
				req := &llm.Request{Model: "m", Conv: &llm.Conversation{Messages: []llm.Message{{Role: llm.User, Text: "x"}}}}
				if i%2 == 0 {
					req.Delta = func(string) {}
				}
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				_, err := p.Complete(ctx, req)
				cancel()
				var te *value.ToolError
				if err != nil && (!errors.As(err, &te) || !slices.Contains([]value.Code{value.ProviderError, value.NetworkError, value.AuthRequired}, te.Code)) {
					t.Fatalf("round %d: %v", i, err)
				}
			}
		})
	}
}

func garble(b []byte, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	b = bytes.Clone(b)
	for range 1 + r.IntN(3) {
		i := r.IntN(len(b))
		switch r.IntN(4) {
		case 0:
			b[i] = byte(r.IntN(256))
		case 1:
			j := min(len(b), i+r.IntN(30))
			b = append(b[:i:i], b[j:]...)
		case 2:
			j := min(len(b), i+r.IntN(30))
			b = slices.Insert(b, i, bytes.Clone(b[i:j])...)
		default:
			b = slices.Insert(b, i, []byte{'{', '}', '[', ']', '"', ',', '\n', '0'}[r.IntN(8)])
		}
		if len(b) == 0 {
			return b
		}
	}
	return b
}
