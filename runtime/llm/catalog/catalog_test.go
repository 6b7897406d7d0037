package catalog

import (
	"math/big"
	"regexp"
	"strings"
	"testing"
)

var decimal = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,9})?$`)

func TestModels(t *testing.T) {
	for name, m := range models {
		if before, id, ok := strings.Cut(name, ":"); !ok || before == "" || id == "" {
			t.Errorf("%q is no provider:id", name)
		}
		if m.Output < AnswerBound || m.Input <= m.Output {
			t.Errorf("%s reads %d tokens and writes %d", name, m.Input, m.Output)
		}
		prices := []Price{m.Price}
		if m.Long != (Price{}) {
			prices = append(prices, m.Long)
		}
		var before *big.Rat
		for _, p := range prices {
			var usd [3]*big.Rat
			for i, text := range []string{p.Cached, p.Input, p.Output} {
				if !decimal.MatchString(text) {
					t.Fatalf("%s: %q is no price", name, text)
				}
				usd[i], _ = new(big.Rat).SetString(text)
				if usd[i].Sign() == 0 || i > 0 && usd[i].Cmp(usd[i-1]) <= 0 {
					t.Errorf("%s: cached %s, input %s and output %s are not in that order", name, p.Cached, p.Input, p.Output)
				}
			}
			if before != nil && before.Cmp(usd[2]) >= 0 {
				t.Errorf("%s: long prompts cost less", name)
			}
			before = usd[2]
		}
	}
}

func TestHighest(t *testing.T) {
	long, short := models["gemini:gemini-2.5-pro"], models["openai:gpt-4o"]
	if long.Highest() != long.Long || short.Highest() != short.Price {
		t.Errorf("%v and %v", long.Highest(), short.Highest())
	}
}
