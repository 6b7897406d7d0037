package plan

import (
	"math/big"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/runtime/llm/catalog"
)

// Cost is the most that the calls of a workflow cost together.
type Cost struct {
	USD       *string  `json:"usd"`                 // a decimal, rounded up to a billionth; null when nothing bounds it, or it is not known
	Unbounded []string `json:"unbounded,omitempty"` // why nothing bounds it
	Unknown   []string `json:"unknown,omitempty"`   // why it is not known
	Free      []string `json:"free,omitempty"`      // models without a price that are asked without a key: taken to cost nothing
}

// money is dollars without rounding. The zero value is nothing.
type money struct {
	usd     *big.Rat
	open    []string // why nothing bounds it; a cap does
	unknown []string // why it is not known; no cap helps, as it counts what is known
}

func (a money) zero() bool {
	return (a.usd == nil || a.usd.Sign() == 0) && a.open == nil && a.unknown == nil
}

func (a money) amount() *big.Rat {
	if a.usd == nil {
		return new(big.Rat)
	}
	return a.usd
}

func (a money) plus(b money) money {
	return money{new(big.Rat).Add(a.amount(), b.amount()), union(a.open, b.open), union(a.unknown, b.unknown)}
}

func (a money) most(b money) money {
	usd := a.amount()
	if b.amount().Cmp(usd) > 0 {
		usd = b.amount()
	}
	return money{usd, union(a.open, b.open), union(a.unknown, b.unknown)}
}

// times is a repeated; why is said when nothing bounds n.
func (a money) times(n Bound, why string) money {
	switch {
	case a.zero() || n == Bound{}:
		return money{}
	case n.Open && a.amount().Sign() == 0:
		return a
	case n.Open:
		return money{a.usd, union(a.open, []string{why}), a.unknown}
	}
	return money{new(big.Rat).Mul(a.amount(), new(big.Rat).SetInt64(n.N)), a.open, a.unknown}
}

// within is a under a cap.
func (a money) within(limit *big.Rat) money {
	if a.open == nil && a.amount().Cmp(limit) <= 0 {
		return a
	}
	return money{usd: limit, unknown: a.unknown}
}

func union(a, b []string) []string {
	for _, x := range b {
		if !slices.Contains(a, x) {
			a = append(a[:len(a):len(a)], x)
		}
	}
	return a
}

// dollars reads a decimal that the parser has checked.
func dollars(decimal string) *big.Rat {
	r, ok := new(big.Rat).SetString(decimal)
	if !ok {
		return new(big.Rat)
	}
	return r
}

// decimal writes an amount, rounded up to a billionth of a dollar as the runtime does.
func decimal(r *big.Rat) string {
	scaled := new(big.Int).Mul(r.Num(), big.NewInt(1e9))
	scaled.Add(scaled, new(big.Int).Sub(r.Denom(), big.NewInt(1))).Div(scaled, r.Denom())
	whole, part := new(big.Int).DivMod(scaled, big.NewInt(1e9), new(big.Int))
	if part.Sign() == 0 {
		return whole.String()
	}
	digits := part.String()
	return whole.String() + "." + strings.TrimRight(strings.Repeat("0", 9-len(digits))+digits, "0")
}

// bill is what a part costs.
type bill struct {
	models  money
	fees    money    // of tools
	dearest *big.Rat // what a token of its models costs at most; nil: no model has a price
}

func (b bill) plus(c bill) bill {
	return bill{b.models.plus(c.models), b.fees.plus(c.fees), dearer(b.dearest, c.dearest)}
}

func (b bill) most(c bill) bill {
	return bill{b.models.most(c.models), b.fees.most(c.fees), dearer(b.dearest, c.dearest)}
}

func (b bill) times(n Bound, why string) bill {
	return bill{b.models.times(n, why), b.fees.times(n, why), b.dearest}
}

func dearer(a, b *big.Rat) *big.Rat {
	if a == nil || b != nil && b.Cmp(a) > 0 {
		return b
	}
	return a
}

// under is a bill that a policy caps: dollars themselves, and tokens, of which each costs what the dearest one does.
func (b bill) under(p *ir.Policy) bill {
	if p == nil {
		return b
	}
	if p.MaxTokens != nil && b.dearest != nil {
		b.models = b.models.within(new(big.Rat).Mul(b.dearest, new(big.Rat).SetInt64(*p.MaxTokens)))
	}
	if p.MaxCostUSD != "" {
		limit := dollars(p.MaxCostUSD)
		if all := b.models.plus(b.fees); all.open != nil || all.amount().Cmp(limit) > 0 {
			b.models, b.fees = all.within(limit), money{}
		}
	}
	return b
}

func capped(p *ir.Policy) bool { return p != nil && (p.MaxTokens != nil || p.MaxCostUSD != "") }

// question is what one question to a model costs: the longest prompt that it reads and the longest answer that it can give.
func (m *meter) question(s *check.Step, model *ir.Model) bill {
	name := model.Model.Name
	known, _ := check.Listed(model)
	price := known.Highest()
	if p := model.Price; p != nil {
		price = catalog.Price{Input: p.Input, Cached: p.Cached, Output: p.Output}
	}
	if !check.Priced(model) {
		if check.ModelKey(m.wf, model) == "" {
			m.free = union(m.free, []string{name})
			return bill{}
		}
		return bill{models: money{unknown: []string{"the price of " + name + " is not known"}}}
	}
	in, out := dollars(price.Input), dollars(price.Output)
	if price.Cached != "" {
		in = dearer(in, dollars(price.Cached))
	}
	million := big.NewRat(1e6, 1)
	in, out = in.Quo(in, million), out.Quo(out, million)
	b := bill{dearest: dearer(in, out)}
	if b.dearest.Sign() == 0 {
		return b
	}
	answer := known.Answer
	switch limit := model.Params.MaxTokens; {
	case limit != nil && (answer == 0 || *limit < answer):
		answer = *limit
	case limit == nil && (m.capped || capped(m.wf.Policy) || s.Agent != nil && capped(s.Agent.Policy)):
		answer = catalog.AnswerBound
	case limit == nil && answer == 0:
		b.models.open = union(b.models.open, []string{"nothing bounds an answer of " + name})
	}
	if known.Prompt == 0 {
		b.models.open = union(b.models.open, []string{"how long a prompt of " + name + " can be is not known"})
	}
	cost := new(big.Rat).Mul(in, new(big.Rat).SetInt64(known.Prompt))
	b.models.usd = cost.Add(cost, new(big.Rat).Mul(out, new(big.Rat).SetInt64(answer)))
	return b
}

// costOf is what a workflow costs; nil when it asks no model and calls no tool that says what it costs.
func (m *meter) costOf(p *check.Program, b bill) *Cost {
	counted := slices.ContainsFunc(p.Table, func(s *check.Step) bool {
		return len(s.Models()) > 0 || slices.ContainsFunc(s.Tools(), func(t *ir.Tool) bool { return t.CostUSD != "" })
	})
	if !counted {
		return nil
	}
	all := b.models.plus(b.fees)
	if all.amount().Cmp(big.NewRat(maxCount, 1)) > 0 {
		all.open = union(all.open, []string{"the bounds multiply to more than can be said"})
	}
	out := &Cost{Unbounded: all.open, Unknown: all.unknown, Free: m.free}
	if all.open == nil && all.unknown == nil {
		usd := decimal(all.amount())
		out.USD = &usd
	}
	return out
}
