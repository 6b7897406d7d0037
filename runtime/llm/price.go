package llm

import (
	"math/big"

	"github.com/flowgen-dev/flowgen/runtime/llm/catalog"
	"github.com/flowgen-dev/flowgen/runtime/usage"
)

// Price is what a million tokens cost in dollars, as decimals. An empty Cached is the price of Input.
type Price struct {
	Input, Cached, Output string
}

// Of returns what usage costs, rounded up to a billionth of a dollar.
func (p *Price) Of(u Usage) usage.USD {
	cached := p.Cached
	if cached == "" {
		cached = p.Input
	}
	sum := new(big.Int)
	for _, part := range []struct {
		tokens int64
		price  string
	}{{max(u.Input-u.Cached, 0), p.Input}, {u.Cached, cached}, {u.Output, p.Output}} {
		usd, err := usage.ParseUSD(part.price)
		if err != nil || part.tokens < 0 {
			continue
		}
		sum.Add(sum, new(big.Int).Mul(big.NewInt(part.tokens), big.NewInt(int64(usd))))
	}
	million := big.NewInt(1e6)
	sum.Add(sum, big.NewInt(1e6-1)).Div(sum, million)
	if !sum.IsInt64() {
		return 1<<63 - 1
	}
	return usage.USD(sum.Int64())
}

// priceOf is the list price of provider:id, nil when it is not known. A dated version has the price of its model.
func priceOf(name string) *Price {
	m, ok := catalog.Find(name)
	if !ok {
		return nil
	}
	p := Price(m.Price)
	return &p
}
