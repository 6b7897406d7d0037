package llm

import (
	"context"
	"io"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/tool"
)

// Model is a model with its parameters, as a workflow declares it. It is read-only and safe for concurrent use.
type Model struct {
	name     string // provider:id
	id       string
	provider Provider
	key      string
	short    bool // the key may be too short to be taken out of texts
	params   Params
	price    *Price
	tool     *flow.Tool[Turn, Reply]
}

// ModelOption configures NewModel.
type ModelOption func(*Model)

// Key names the secret that authenticates calls.
func Key(secret string) ModelOption { return func(m *Model) { m.key = secret } }

// ShortKey lets the key have fewer bytes than can be found in texts and taken out, such as that of a stand-in.
func ShortKey() ModelOption { return func(m *Model) { m.short = true } }

// With sets the parameters of all calls.
func With(p Params) ModelOption { return func(m *Model) { m.params = p } }

// Priced says what a million tokens cost, instead of the table.
func Priced(p Price) ModelOption { return func(m *Model) { m.price = &p } }

// NewModel returns the model id of a provider. name is what records and events call it: provider:id.
func NewModel(name, id string, p Provider, o ...ModelOption) *Model {
	m := &Model{name: name, id: id, provider: p}
	for _, opt := range o {
		opt(m)
	}
	if m.price == nil {
		m.price = priceOf(name)
	}
	// A model that was asked when the program died is asked again: that changes nothing, and what it may have cost was
	// reserved in the journal.
	opts := []flow.ToolOption{tool.Metered(m.most, m.took), flow.OnInDoubt(flow.Doubt{Policy: flow.RetryWithKey})}
	if m.key != "" {
		opts = append(opts, flow.Secrets(m.key))
		if m.short {
			opts = append(opts, tool.ShortSecrets())
		}
	}
	m.tool = flow.Bind(name+"@1", flow.External, m.exec, opts...)
	return m
}

// Fake is an argument of runtime.WithFakes: p answers in place of the provider. Its answers are checked, counted and
// priced like those of the provider; package scripted has providers that answer from a script.
func (m *Model) Fake(p Provider) runtime.Option {
	if p == nil {
		return m.tool.Fake(nil)
	}
	own := *m
	own.provider, own.key = p, ""
	return m.tool.Fake(own.exec)
}

// Name returns provider:id.
func (m *Model) Name() string { return m.name }

func (m *Model) exec(ctx context.Context, t Turn) (Reply, error) {
	req := &Request{Model: m.id, Key: m.key, Params: t.params, Conv: t.conv}
	if t.conv.Fill != nil {
		full, err := t.conv.Fill.fill(*t.conv)
		if err != nil {
			return Reply{}, err
		}
		req.Conv = &full
	}
	if says := tool.Context(ctx).Says(); says != nil {
		defer func() { _ = says.Close() }()
		req.Delta = func(text string) { _, _ = io.WriteString(says, text) }
	}
	if t.run != nil {
		t.asked = m.in(t.run)
	}
	provider := m.provider
	if _, elsewhere := provider.(provided); elsewhere && t.asked != nil {
		provider = t.asked
	}
	reply, err := provider.Complete(ctx, req)
	if err != nil {
		return Reply{}, err
	}
	if m.price != nil {
		cost := m.price.Of(reply.Usage)
		reply.CostUSD = &cost
	}
	return *reply, nil
}

// Callable returns the tool that calls of the model are, for engines that make calls in other processes.
func (m *Model) Callable() engine.Callable { return m.tool }

// Complete asks for the next message of c at node n and appends it to c. The error is a *runtime.NodeError.
func (m *Model) Complete(r *flow.Run, n *flow.Node, c *Conversation) (*Reply, error) {
	reply, err := flow.Call(r, n, m.tool, c.turn(r, m))
	if err != nil {
		return nil, err
	}
	c.Messages = append(c.Messages, reply.Message)
	c.told = len(c.Messages)
	return &reply, nil
}
