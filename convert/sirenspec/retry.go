package sirenspec

import (
	"strconv"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/sirenspec"
)

// retried reports whether an agent has a policy of its own around the attempts of the client of its provider.
func (s *siren) retried(n *sirenspec.Node) bool {
	return n.Retry != nil && n.Retry.Attempts > 1 && s.nodes[n.ID.Name] == n
}

// rechecked reports whether an agent is asked again when a guardrail refuses its answer.
func (s *siren) rechecked(n *sirenspec.Node) bool {
	return s.retried(n) && n.Retry.Guards && len(s.guards(n, true)) > 0
}

// retry asks an agent in a loop, each round of which is an attempt of its policy: within it the client of the provider asks
// again. After an attempt that failed a node decides whether another follows, and how long to wait before it.
func (s *siren) retry(n *sirenspec.Node, id string, llm *ir.LLM) *ir.Node {
	r, v := n.Retry, &ir.Loop{Max: n.Retry.Attempts, Until: convert.Ref(id + " != null")}
	node := s.add(n, id, v)
	outer := s.making
	s.making = &making{node: n, body: &v.Do}
	asked := s.FreeID("ask_" + id)
	tried := s.FreeID(id + "_tried")
	attempt := s.attempt(n, asked, llm)
	attempt.Catch = []*ir.Catch{{Code: convert.Name("any"), Target: convert.Name(tried)}}
	on := &ir.List{}
	for _, word := range r.On {
		on.Items = append(on.Items, convert.Literal(word))
	}
	with := []*ir.Entry{
		convert.Pair("code", convert.Ref(asked+".error.code")), convert.Pair("message", convert.Ref(asked+".error.message")),
		convert.Pair("details", convert.Ref(asked+".error.details")), convert.Pair("tried", convert.Ref("state."+tried)),
		convert.Pair("attempts", convert.Number(r.Attempts)), convert.Pair("on", on),
		convert.Pair("guards", flag(s.rechecked(n))), convert.Pair("backoff", convert.Literal(r.Backoff)),
		convert.Pair("base", seconds(r.Base)), convert.Pair("most", seconds(r.Most)),
	}
	s.add(nil, tried, convert.Call(guardPath+"Again", with...)).Set = []*ir.Set{convert.Set(tried, "state."+tried+" + 1")}
	s.Out.State = append(s.Out.State, &ir.State{Name: convert.Name(tried), Type: schema.IntType, Init: &schema.Default{JSON: "0"}})
	if v.Do.Result = convert.Ref(asked); s.unsaid(n) { // its answer is text after a failure, too
		done := s.FreeID(id + "_done")
		s.Out.State = append(s.Out.State, &ir.State{Name: convert.Name(done), Type: schema.BoolType, Init: &schema.Default{JSON: "false"}})
		attempt.Set = []*ir.Set{convert.Set(done, "true")}
		v.Do.Result, v.Until = convert.Ref("default("+asked+`, "")`), convert.Ref("state."+done)
	}
	if r.Base > 0 {
		wait := s.FreeID(id + "_wait")
		s.add(nil, wait, &ir.Wait{Value: convert.Ref(tried)})
		v.Do.Edges = append(v.Do.Edges, convert.Edge(tried, source.Span{}, wait))
	}
	if r.Jitter {
		s.Note(r.Span, "", "the waits of %s do not vary: the engine makes each up to a fifth longer or shorter", n.ID.Name)
	}
	s.making = outer
	return node
}

// attempt adds one attempt: the question, and where an answer that a guardrail refuses is asked for again, its guardrails.
func (s *siren) attempt(n *sirenspec.Node, id string, llm *ir.LLM) *ir.Node {
	if !s.rechecked(n) {
		node := s.add(nil, id, llm)
		node.Retry = sirenspec.ClientRetry()
		return node
	}
	once := &ir.Loop{Max: 1}
	node := s.add(nil, id, once)
	outer := s.making
	s.making = &making{node: n, body: &once.Do}
	defer func() { s.making = outer }()
	answer := s.FreeID("once_" + id)
	s.add(nil, answer, llm).Retry = sirenspec.ClientRetry()
	once.Do.Result = convert.Ref(s.check(n, answer))
	names := []string{answer}
	for _, g := range s.guards(n, true) {
		names = append(names, g.id)
	}
	once.Do.Edges = chained(names)
	return node
}

func flag(yes bool) *ir.Scalar {
	return &ir.Scalar{Tag: "!!bool", Text: source.Text{Value: strconv.FormatBool(yes)}}
}

func seconds(n float64) *ir.Scalar {
	return &ir.Scalar{Tag: "!!float", Text: source.Text{Value: strconv.FormatFloat(n, 'f', -1, 64)}}
}
