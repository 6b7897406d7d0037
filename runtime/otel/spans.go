package otel

import (
	"context"
	"errors"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// spans are the open spans of a run. A run that nobody ended keeps them.
type spans struct {
	ctx  context.Context // with the run's own span
	root trace.Span
	mu   sync.Mutex
	open map[string]opened // by the key of the node

	begun map[*runtime.Attempt]trace.Span // of attempts that have not ended
}

type opened struct {
	ctx  context.Context
	span trace.Span
}

// Observe implements runtime.Observer.
func (t *Tracer) Observe(e runtime.Event) {
	switch e.Kind {
	case runtime.RunStart:
		t.begin(e)
	case runtime.RunEnd:
		t.end(e)
	case runtime.NodeStart:
		if s := t.of(e.Run); s != nil {
			t.nodeStart(s, e)
		}
	case runtime.NodeEnd:
		if s := t.of(e.Run); s != nil {
			s.nodeEnd(e)
		}
	case runtime.Retrying:
		if s := t.of(e.Run); s != nil {
			if at, ok := s.at(e.Key); ok {
				at.span.AddEvent("retry", trace.WithTimestamp(e.Time), trace.WithAttributes(attemptNo.Int(e.Attempt), attribute.Float64("flowgen.wait_s", e.Wait.Seconds())))
			}
		}
	case runtime.Warning:
		if s := t.of(e.Run); s != nil {
			s.root.AddEvent("warning", trace.WithTimestamp(e.Time), trace.WithAttributes(attribute.String("message", e.Message)))
		}
	}
}

func (t *Tracer) of(r *flow.Run) *spans {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.runs[r]
}

// begin opens the trace of a run, or a span in the trace that the run's context is in.
func (t *Tracer) begin(e runtime.Event) {
	info := e.Run.Info()
	ctx, span := t.tracer.Start(e.Run.Context(), opWorkflow+" "+info.Name, trace.WithTimestamp(e.Time), trace.WithAttributes(runID.String(e.Run.ID())))
	if span.IsRecording() {
		span.SetAttributes(operationName.String(opWorkflow), workflowName.String(info.Name))
		if id := e.Run.Tenant(); id != "" {
			span.SetAttributes(tenant.String(id))
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs[e.Run] = &spans{ctx: ctx, root: span, open: map[string]opened{}, begun: map[*runtime.Attempt]trace.Span{}}
}

func (t *Tracer) end(e runtime.Event) {
	t.mu.Lock()
	s := t.runs[e.Run]
	delete(t.runs, e.Run)
	t.mu.Unlock()
	if s == nil {
		return
	}
	s.mu.Lock()
	for _, at := range s.open { // of nodes that a cancellation left behind
		at.span.End(trace.WithTimestamp(e.Time))
	}
	for _, span := range s.begun {
		span.End(trace.WithTimestamp(e.Time))
	}
	s.open, s.begun = nil, nil
	s.mu.Unlock()
	fail(s.root, e.Err)
	s.root.End(trace.WithTimestamp(e.Time))
}

// nodeStart opens the span of a call, an agent or a map.
func (t *Tracer) nodeStart(s *spans, e runtime.Event) {
	name, op := "call "+e.Node.ID, ""
	switch e.Tool {
	case "":
		name = "map " + e.Node.ID
	case engine.AgentTool:
		name, op = opAgent+" "+e.Node.ID, opAgent
	}
	ctx, span := t.tracer.Start(s.around(e.Key), name, trace.WithTimestamp(e.Time), trace.WithAttributes(runID.String(e.Run.ID())))
	if span.IsRecording() {
		span.SetAttributes(nodeKey.String(e.Key), nodePosition.String(e.Node.Pos))
		if op != "" {
			span.SetAttributes(operationName.String(op), agentName.String(e.Node.ID))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open != nil {
		s.open[e.Key] = opened{ctx, span}
	}
}

func (s *spans) nodeEnd(e runtime.Event) {
	s.mu.Lock()
	at, ok := s.open[e.Key]
	delete(s.open, e.Key)
	s.mu.Unlock()
	if !ok {
		return
	}
	if at.span.IsRecording() {
		if e.Attempt > 0 {
			at.span.SetAttributes(attribute.Int("flowgen.attempts", e.Attempt))
		}
		fail(at.span, e.Err)
	}
	at.span.End(trace.WithTimestamp(e.Time))
}

func (s *spans) at(key string) (opened, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.open[key]
	return at, ok
}

// around is the context of the innermost open span that key is inside of: "a[3]/b" is inside of "a".
func (s *spans) around(key string) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		end := strings.LastIndexByte(key, '/')
		if end < 0 {
			return s.ctx
		}
		key = key[:end]
		if i := strings.LastIndexByte(key, '['); i > strings.LastIndexByte(key, '/') {
			if at, ok := s.open[key[:i]]; ok {
				return at.ctx
			}
		}
		if at, ok := s.open[key]; ok {
			return at.ctx
		}
	}
}

// parent is the context of the node of an attempt.
func (s *spans) parent(a *runtime.Attempt) context.Context {
	if at, ok := s.at(a.Key); ok {
		return at.ctx
	}
	return s.ctx
}

// Attempting implements runtime.Propagator.
func (t *Tracer) Attempting(a *runtime.Attempt) (traceparent string) {
	s := t.of(a.Run)
	if s == nil {
		return ""
	}
	name, _ := engine.SplitTool(a.Tool)
	title, o := opTool+" "+name, []trace.SpanStartOption{trace.WithTimestamp(a.Admitted)}
	if _, model, isModel := strings.Cut(name, ":"); isModel {
		title, o = opChat+" "+model, append(o, trace.WithSpanKind(trace.SpanKindClient))
	}
	_, span := t.tracer.Start(s.parent(a), title, append(o, trace.WithAttributes(runID.String(a.Run.ID())))...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun == nil { // the run has ended
		span.End(trace.WithTimestamp(a.Admitted))
		return ""
	}
	s.begun[a] = span
	c := span.SpanContext()
	if !c.IsValid() {
		return ""
	}
	return "00-" + c.TraceID().String() + "-" + c.SpanID().String() + "-" + c.TraceFlags().String()
}

// Attempted implements runtime.Tracer.
func (t *Tracer) Attempted(a *runtime.Attempt) {
	s := t.of(a.Run)
	if s == nil {
		return
	}
	if a.Policed || a.Denied {
		t.policy(s.parent(a), a)
	}
	s.mu.Lock()
	span := s.begun[a]
	delete(s.begun, a)
	s.mu.Unlock()
	if span == nil { // denied, or the run could not begin
		return
	}
	name, version := engine.SplitTool(a.Tool)
	provider, model, isModel := strings.Cut(name, ":")
	if isModel {
		t.chat(span, a, provider, model)
		return
	}
	if span.IsRecording() {
		span.SetAttributes(operationName.String(opTool), toolName.String(name), toolType.String("function"), toolCallID.String(a.CallID()), toolVersion.String(version))
		t.attempt(span, a, toolArguments, toolResult)
	}
	span.End(trace.WithTimestamp(a.End))
}

func (t *Tracer) policy(parent context.Context, a *runtime.Attempt) {
	_, span := t.tracer.Start(parent, "policy", trace.WithTimestamp(a.Start), trace.WithAttributes(runID.String(a.Run.ID())))
	if span.IsRecording() {
		said := "allowed"
		if a.Denied {
			said = "denied"
			fail(span, a.Err)
		}
		span.SetAttributes(verdict.String(said), effects.String(a.Effects.String()))
	}
	span.End(trace.WithTimestamp(a.Admitted))
}

func (t *Tracer) chat(span trace.Span, a *runtime.Attempt, provider, model string) {
	if span.IsRecording() {
		span.SetAttributes(operationName.String(opChat), providerName.String(conventional(provider)), requestModel.String(model))
		if a.Model != "" {
			span.SetAttributes(responseModel.String(a.Model))
		}
		if u := a.Usage; u != nil {
			span.SetAttributes(inputTokens.Int64(u.InputTokens), outputTokens.Int64(u.OutputTokens))
			if u.CachedTokens > 0 {
				span.SetAttributes(cachedTokens.Int64(u.CachedTokens))
			}
		}
		t.attempt(span, a, modelInput, modelOutput)
	}
	span.End(trace.WithTimestamp(a.End))
}

// attempt sets what all attempts have.
func (t *Tracer) attempt(span trace.Span, a *runtime.Attempt, input, output attribute.Key) {
	span.SetAttributes(attemptNo.Int(a.Number), effects.String(a.Effects.String()))
	if a.Replayed {
		span.SetAttributes(replayed.Bool(true))
	}
	if a.Cached {
		span.SetAttributes(cached.Bool(true))
	}
	switch {
	case a.Usage != nil && a.Usage.CostUSD != nil:
		span.SetAttributes(costUSD.String(a.Usage.CostUSD.String()))
	case a.Cost > 0:
		span.SetAttributes(costUSD.String(a.Cost.String()))
	}
	if t.content {
		if b, err := a.Input(); err == nil {
			span.SetAttributes(input.String(string(b)))
		}
		if b, err := a.Output(); err == nil && a.Err == nil {
			span.SetAttributes(output.String(string(b)))
		}
	}
	fail(span, a.Err)
}

// fail marks a span whose work has failed. Errors of runs hold no secrets.
func fail(span trace.Span, err error) {
	if err == nil || !span.IsRecording() {
		return
	}
	var waits *runtime.Waiting
	if errors.As(err, &waits) { // it goes on later, as another span
		span.SetAttributes(attribute.Bool("flowgen.waiting", true))
		return
	}
	span.SetAttributes(errorType.String(errorOf(err)))
	span.SetStatus(codes.Error, err.Error())
}

// errorOf is the error.type of an error, "" without one.
func errorOf(err error) string {
	var te *value.ToolError
	var re *runtime.RunError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &te):
		return string(te.Code)
	case errors.As(err, &re):
		return string(re.Kind)
	}
	return "_OTHER"
}

// TraceURL implements runtime.TraceLinker: the address of the span of a node, or of the run's when the node has none.
func (t *Tracer) TraceURL(r *flow.Run, key string) string {
	s := t.of(r.Root())
	if t.template == "" || s == nil {
		return ""
	}
	span := s.root
	if at, ok := s.at(key); ok {
		span = at.span
	}
	c := span.SpanContext()
	if !c.IsSampled() {
		return ""
	}
	return strings.NewReplacer("{trace_id}", c.TraceID().String(), "{span_id}", c.SpanID().String()).Replace(t.template)
}

var _ runtime.Propagator = (*Tracer)(nil)
