package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/agent"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// The rows of the tables of Agent Tools 1.0, as they are seen from an agent: one test for a table, one part of it for each
// row. docs/agent-spec.md says which row is held where.

// object is what has JSON fields.
func object(t *testing.T, v any) map[string]json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

// holds compares a field.
func holds(t *testing.T, fields map[string]json.RawMessage, name, want string) {
	t.Helper()
	if got := string(fields[name]); got != want {
		t.Errorf("%s is %s, want %s", name, got, want)
	}
}

// linker is an observer that knows where traces are.
type linker struct{}

func (linker) Observe(runtime.Event) {}
func (linker) TraceURL(_ *flow.Run, key string) string {
	return "https://traces.example/" + key
}

// Agent Tools 3.1.
func TestSpecOutputs(t *testing.T) {
	work := plays(ask(`search {"q":"a"}`, `search {"q":"bad"}`), ask(`echo {"q":"b"}`, `search {"q":"bad 2"}`))
	out := mustRun(t, &agent.Spec{Model: model(work), Tools: tools()}, runtime.WithObserver(linker{}))
	nothing := mustRun(t, &agent.Spec{Model: model(plays(ask(`search {"q":"bad"}`))), Tools: tools()})
	fields := object(t, out)
	t.Run("response", func(t *testing.T) { holds(t, fields, "response", `"done"`) })
	t.Run("tools_by_id", func(t *testing.T) {
		var all map[string]struct {
			ID string `json:"call_id"`
		}
		if err := json.Unmarshal(fields["tools_by_id"], &all); err != nil || len(all) != 4 {
			t.Fatalf("%s: %v", fields["tools_by_id"], err)
		}
		for id, e := range all {
			if e.ID != id || len(id) != 64 {
				t.Errorf("receipt %q stands at %q", e.ID, id)
			}
		}
	})
	t.Run("tool_order", func(t *testing.T) {
		want := []string{"t.search@3 ok", "t.search@3 RATE_LIMIT", "t.echo@1 ok", "t.search@3 RATE_LIMIT"}
		if diff := cmp.Diff(want, codes(out)); diff != "" || len(out.ToolOrder) != 4 {
			t.Error(diff)
		}
	})
	t.Run("last_tool", func(t *testing.T) {
		holds(t, object(t, out.LastTool), "call_id", `"`+out.ToolOrder[2]+`"`) // the last that succeeded
		holds(t, object(t, nothing), "last_tool", "null")
	})
	t.Run("traces_url", func(t *testing.T) {
		holds(t, fields, "traces_url", `"https://traces.example/review"`)
		holds(t, object(t, nothing), "traces_url", "null")
	})
}

// Agent Tools 3.2.
func TestSpecEnvelope(t *testing.T) {
	kept := flow.Bind("t.kept@2", flow.Reads, repeated, flow.CacheForever())
	drawn := flow.Bind("t.drawn@1", flow.Reads, func(ctx context.Context, in query) (string, error) {
		for _, kind := range []string{"image", "table"} {
			if err := tool.Attach(ctx, tool.Attachment{Kind: kind, URL: "https://files.example/" + kind, ContentType: kind + "/x", Bytes: 7}); err != nil {
				return "", err
			}
		}
		return in.Q, nil
	})
	spec := &agent.Spec{MaxResult: 1000, Tools: append(tools(), agent.Use("kept", "", kept, queryArgs, querySchema), agent.Use("drawn", "", drawn, queryArgs, querySchema)),
		Model: model(plays(ask(`search {"q":"a"}`, `search {"q":"bad"}`), ask(`kept {"q":"x"}`), ask(`kept {"q":"x"}`), ask(`echo {"q":"`+strings.Repeat("y", 5000)+`"}`, `drawn {"q":"d"}`)))}
	began := time.Now()
	out := mustRun(t, spec, runtime.WithBlobs(blobs{}))
	ended := time.Now()
	var all []map[string]json.RawMessage
	for _, e := range ordered(out) {
		all = append(all, object(t, e))
	}
	good, bad, first, again, large, attached := all[0], all[1], all[2], all[3], all[4], all[5]
	t.Run("call_id", func(t *testing.T) {
		holds(t, good, "call_id", `"`+engine.CallID("t.search@3", []byte(`{"q":"a"}`), "review[0]/search")+`"`)
	})
	t.Run("name", func(t *testing.T) { holds(t, good, "name", `"t.search"`) })
	t.Run("version", func(t *testing.T) { holds(t, good, "version", `"3"`) })
	t.Run("input", func(t *testing.T) { holds(t, good, "input", `{"q":"a"}`) })
	t.Run("output", func(t *testing.T) {
		holds(t, good, "output", `{"hits":["a","a!"]}`)
		holds(t, bad, "output", "null")
	})
	t.Run("error", func(t *testing.T) {
		holds(t, good, "error", "null")
		holds(t, bad, "error", `{"code":"RATE_LIMIT","message":"slow down","details":null,"retry_after_s":2}`)
	})
	times := func(e map[string]json.RawMessage) (start, end time.Time) {
		for name, into := range map[string]*time.Time{"t_start": &start, "t_end": &end} {
			if err := json.Unmarshal(e[name], into); err != nil || into.Location() != time.UTC {
				t.Errorf("%s is %s: %v", name, e[name], err)
			}
		}
		return start, end
	}
	t.Run("t_start", func(t *testing.T) {
		if start, _ := times(good); start.Before(began) || start.After(ended) {
			t.Errorf("began at %v, the run at %v", start, began)
		}
	})
	t.Run("t_end", func(t *testing.T) {
		if start, end := times(good); end.Before(start) || end.After(ended) {
			t.Errorf("from %v to %v", start, end)
		}
	})
	t.Run("cached", func(t *testing.T) {
		holds(t, first, "cached", "false")
		holds(t, again, "cached", "true")
		holds(t, again, "output", `"x"`)
	})
	t.Run("truncated", func(t *testing.T) {
		holds(t, good, "truncated", "false")
		holds(t, large, "truncated", "true")
	})
	t.Run("attachments", func(t *testing.T) {
		holds(t, good, "attachments", "[]")
		holds(t, large, "attachments", `[{"kind":"blob","url":"blob:1","content_type":"text/plain; charset=utf-8","bytes":5000}]`)
		holds(t, attached, "attachments", `[{"kind":"image","url":"https://files.example/image","content_type":"image/x","bytes":7},`+
			`{"kind":"table","url":"https://files.example/table","content_type":"table/x","bytes":7}]`)
	})
}

// Agent Tools 3.3.
func TestSpecTool(t *testing.T) {
	var ran atomic.Int64
	f := func(_ context.Context, in query) (found, error) { ran.Add(1); return found{[]string{in.Q}}, nil }
	var auth, tenant string
	called := flow.Bind("t.called@7", flow.Reads, func(ctx context.Context, in query) (found, error) {
		i := tool.Context(ctx)
		auth, tenant = i.Auth("KEY"), i.TenantID()
		return f(ctx, in)
	}, flow.Secrets("KEY"))
	one := func(bound agent.Tool, o ...runtime.Option) agent.Envelope {
		t.Helper()
		o = append(o, runtime.WithSecrets(func(string) (string, bool) { return "the key", true }))
		return ordered(mustRun(t, &agent.Spec{Model: model(plays(ask(`tool {"q":"a"}`))), Tools: []agent.Tool{bound}}, o...))[0]
	}
	use := func(x *flow.Tool[query, found]) agent.Tool {
		return agent.Use("tool", "", x, queryArgs, querySchema)
	}
	e := one(use(called), runtime.WithTenant("acme"))
	t.Run("name", func(t *testing.T) {
		if e.Name != "t.called" || called.Name() != "t.called" {
			t.Errorf("%s, %s", e.Name, called.Name())
		}
	})
	t.Run("version", func(t *testing.T) {
		if e.Version != "7" || called.Version() != "7" {
			t.Errorf("%s, %s", e.Version, called.Version())
		}
	})
	t.Run("input_schema", func(t *testing.T) {
		var told []llm.Tool
		s := script(func(turn int, c *llm.Conversation) (llm.Message, error) {
			told = c.Tools
			if turn == 0 {
				return ask(`tool {"q":7}`), nil
			}
			return say("done"), nil
		})
		before := ran.Load()
		out := mustRun(t, &agent.Spec{Model: model(s), Tools: []agent.Tool{use(flow.Bind("t.called@7", flow.Reads, f))}})
		if string(told[0].Schema) != querySchema || codes(out)[0] != "t.called@7 VALIDATION_ERROR" || ran.Load() != before {
			t.Errorf("told %s, %v", told[0].Schema, codes(out))
		}
	})
	t.Run("output_schema", func(t *testing.T) {
		type graded struct {
			Grade string `json:"grade" flow:"enum=good|bad"`
		}
		wrong := flow.Bind("t.grade@1", flow.None, func(context.Context, query) (graded, error) { return graded{"so-so"}, nil })
		if e := one(agent.Use("tool", "", wrong, queryArgs, querySchema)); e.Error == nil || e.Error.Code != value.ValidationError || !strings.Contains(e.Error.Message, "output: grade") {
			t.Errorf("%+v", e.Error)
		}
	})
	allowed := func(e flow.Effects, policy ...flow.Effects) bool {
		x := flow.Bind("t.effects@1", e, f)
		out, err := run(t, &agent.Spec{Model: model(plays(ask(`tool {"q":"a"}`))), Tools: []agent.Tool{use(x)}, Policy: &runtime.Policy{Effects: policy}})
		if err != nil {
			t.Fatal(err)
		}
		return ordered(out)[0].Error == nil
	}
	t.Run("side_effects none", func(t *testing.T) {
		if !allowed(flow.None, flow.None) || allowed(flow.Reads, flow.None) {
			t.Error("a policy of none")
		}
	})
	t.Run("side_effects reads", func(t *testing.T) {
		if !allowed(flow.Reads, flow.None, flow.Reads) || allowed(flow.Writes, flow.None, flow.Reads) {
			t.Error("a policy of reads")
		}
	})
	t.Run("side_effects writes", func(t *testing.T) {
		if !allowed(flow.Writes, flow.None, flow.Reads, flow.Writes) || allowed(flow.External, flow.None, flow.Reads, flow.Writes) {
			t.Error("a policy of writes")
		}
	})
	times := func(o ...flow.ToolOption) int64 {
		ran.Store(0)
		x := flow.Bind("t.cached@1", flow.Reads, f, o...)
		mustRun(t, &agent.Spec{Model: model(plays(ask(`tool {"q":"a"}`), ask(`tool {"q":"a"}`))), Tools: []agent.Tool{use(x)}})
		return ran.Load()
	}
	t.Run("cache none", func(t *testing.T) {
		if n := times(); n != 2 {
			t.Errorf("ran %d times", n)
		}
	})
	t.Run("cache ttl", func(t *testing.T) {
		if n := times(flow.CacheFor(time.Hour)); n != 1 {
			t.Errorf("ran %d times", n)
		}
	})
	t.Run("cache_ttl_s", func(t *testing.T) {
		if n := times(flow.CacheFor(1)); n != 2 { // a nanosecond
			t.Errorf("ran %d times", n)
		}
	})
	t.Run("cache forever", func(t *testing.T) {
		if n := times(flow.CacheForever()); n != 1 {
			t.Errorf("ran %d times", n)
		}
	})
	t.Run("execute", func(t *testing.T) {
		if got := encoded(t, e.Output); got != `{"hits":["a"]}` {
			t.Errorf("%s", got)
		}
	})
	t.Run("auth", func(t *testing.T) {
		if auth != "the key" || strings.Contains(encoded(t, e), "the key") {
			t.Errorf("%q; %s", auth, encoded(t, e))
		}
	})
	t.Run("tenant_id", func(t *testing.T) {
		if tenant != "acme" {
			t.Errorf("%q", tenant)
		}
	})
}

// Agent Tools 3.4: each code as it comes about, and the model is told it.
func TestSpecErrors(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/429" {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		if r.URL.Path == "/slow" {
			<-r.Context().Done()
		}
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer server.Close()
	defer httptool.CloseIdleConnections()
	get := func(url string) agent.Tool {
		return agent.Use("tool", "", httptool.Text("t.get@1", flow.Reads, func(query) httptool.Request {
			return httptool.Request{Method: "GET", URL: httptool.URL(url)}
		}, httptool.Allow("loopback")), queryArgs, querySchema)
	}
	fine := agent.Use("tool", "", echo, queryArgs, querySchema)
	isolated := flow.Bind("t.isolated@1", flow.None, repeated, tool.Require(runtime.Process),
		tool.Obtain(func(context.Context, runtime.Tier) (runtime.Tier, error) {
			return runtime.Native, fmt.Errorf("no Landlock here")
		}))
	secret := flow.Bind("t.secret@1", flow.None, repeated, flow.Secrets("KEY"))
	panics := flow.Bind("t.panics@1", flow.None, func(context.Context, query) (string, error) { panic("oh") })
	call := func(t *testing.T, bound agent.Tool, what string) (*value.ToolError, string) {
		t.Helper()
		var told string
		s := script(func(turn int, c *llm.Conversation) (llm.Message, error) {
			if turn == 0 {
				return ask(what), nil
			}
			told = c.Messages[len(c.Messages)-1].Results[0].Text
			return say("done"), nil
		})
		n := *node
		n.Timeout = time.Minute
		out, err := agent.Run(start(t, runtime.WithSecrets(func(string) (string, bool) { return "", false })), &n, &agent.Spec{Model: model(s), Tools: []agent.Tool{bound}}, llm.Prompt{Text: "Go"})
		if err != nil {
			t.Fatal(err)
		}
		return ordered(out)[0].Error, told
	}
	is := func(want value.Code, bound agent.Tool, what string) func(t *testing.T) {
		return func(t *testing.T) {
			te, told := call(t, bound, what)
			if te == nil || te.Code != want || !strings.HasPrefix(told, `{"code":"`+string(want)+`","message":"`) {
				t.Errorf("%v, and the model is told %s", te, told)
			}
		}
	}
	late := flow.Bind("t.late@1", flow.Reads, func(ctx context.Context, _ query) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		<-ctx.Done()
		return "", ctx.Err()
	})
	t.Run("VALIDATION_ERROR", is(value.ValidationError, fine, `tool {"q":7}`))
	t.Run("TIMEOUT", is(value.Timeout, agent.Use("tool", "", late, queryArgs, querySchema), `tool {"q":"a"}`))
	t.Run("RATE_LIMIT", is(value.RateLimit, get(server.URL+"/429"), `tool {"q":"a"}`))
	t.Run("POLICY_DENIED", is(value.PolicyDenied, fine, `another {"q":"a"}`))
	t.Run("AUTH_REQUIRED", is(value.AuthRequired, agent.Use("tool", "", secret, queryArgs, querySchema), `tool {"q":"a"}`))
	t.Run("PROVIDER_ERROR", is(value.ProviderError, get(server.URL+"/500"), `tool {"q":"a"}`))
	t.Run("NETWORK_ERROR", is(value.NetworkError, get("http://127.0.0.1:1"), `tool {"q":"a"}`))
	t.Run("SANDBOX_ERROR", is(value.SandboxError, agent.Use("tool", "", isolated, queryArgs, querySchema), `tool {"q":"a"}`))
	t.Run("UNKNOWN", is(value.Unknown, agent.Use("tool", "", panics, queryArgs, querySchema), `tool {"q":"a"}`))
	limited, told := call(t, get(server.URL+"/429"), `tool {"q":"a"}`)
	t.Run("message", func(t *testing.T) {
		if !strings.HasSuffix(limited.Message, "answered 429 Too Many Requests") {
			t.Errorf("%q", limited.Message)
		}
	})
	t.Run("details", func(t *testing.T) {
		if status, _ := limited.Details.Get("status"); status.Int() != 429 || !strings.Contains(told, `"details":{"status":429,`) {
			t.Errorf("%v, told %s", limited.Details, told)
		}
	})
	t.Run("retry_after_s", func(t *testing.T) {
		if limited.RetryAfterS == nil || *limited.RetryAfterS != 7 || !strings.Contains(told, `"retry_after_s":7`) {
			t.Errorf("%v, told %s", limited.RetryAfterS, told)
		}
	})
}

// TestReceiptsCompare: go-cmp compares outputs of agents, and a receipt has both names of its tool.
func TestReceiptsCompare(t *testing.T) {
	run := func(q string) agent.Outputs {
		s := &agent.Spec{Model: model(plays(ask(`find {"q":"`+q+`"}`, `nosuch {"q":1}`))), Tools: []agent.Tool{agent.Use("find", "", search, queryArgs, querySchema)}}
		out, err := agent.Run(start(t), node, s, llm.Prompt{Text: "x"})
		if err != nil {
			t.Fatal(err)
		}
		for id, e := range out.ToolsByID { // times differ
			e.TStart, e.TEnd = time.Time{}, time.Time{}
			out.ToolsByID[id] = e
		}
		if out.LastTool != nil {
			out.LastTool.TStart, out.LastTool.TEnd = time.Time{}, time.Time{}
		}
		return out
	}
	a, b, other := run("a"), run("a"), run("b")
	if diff := cmp.Diff(a, b); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(a, other) {
		t.Error("calls with other arguments are equal")
	}
	if e := a.LastTool; e.Tool != "find" || e.Name != "t.search" || e.Version != "3" {
		t.Errorf("%+v", e)
	}
}

// TestRefusedCallsJoin: events of all calls, refused ones too, have the tool's name and the call id of the receipt.
func TestRefusedCallsJoin(t *testing.T) {
	ids := map[string]string{} // by call id: the tool
	var mu sync.Mutex
	o := runtime.ObserverFunc(func(e runtime.Event) {
		mu.Lock()
		defer mu.Unlock()
		if id := e.CallID(); id != "" {
			ids[id] = e.Tool
		}
	})
	s := &agent.Spec{Model: model(plays(ask(`search {"q":"a"}`, `nosuch {"q":1}`, `echo {"q":1}`, `echo {`))), Tools: tools()}
	out, err := agent.Run(start(t, runtime.WithObserver(o)), node, s, llm.Prompt{Text: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"t.search@3", "nosuch", "t.echo@1", "t.echo@1"} {
		if got := ids[out.ToolOrder[i]]; got != want {
			t.Errorf("call %d is told of as %q, want %q", i, got, want)
		}
	}
}
