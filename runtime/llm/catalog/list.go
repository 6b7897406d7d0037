package catalog

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"sync"
	"time"
)

// A List is what models cost on a day.
type List struct {
	Date   string           `json:"date"`   // 2006-01-02
	Models map[string]Model `json:"models"` // by provider:id
}

// prices.json has list prices as the providers published them, for estimates and caps, without the surcharge for writing to a
// cache, which no provider here asks for. `price:` of a model overrides them; a model that is not there has no cost unless it
// has a price. Prompts of Anthropic's are those without the beta header for longer ones.
//
//go:embed prices.json
var prices []byte

// Released is the list of this release.
var Released = sync.OnceValue(func() *List {
	l, err := Parse(prices)
	if err != nil {
		panic(err)
	}
	return l
})

// maxTokens bounds what a list may say of the length of prompts and answers: 100 times the longest of today.
const maxTokens = 100_000_000

// Parse reads a list and checks it.
func Parse(data []byte) (*List, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	l := &List{}
	if err := d.Decode(l); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the list")
	}
	if _, err := time.Parse(time.DateOnly, l.Date); err != nil {
		return nil, errors.New("`date` is the day of the prices, such as 2025-11-30")
	}
	for name, m := range l.Models {
		if provider, id, ok := strings.Cut(name, ":"); !ok || provider == "" || id == "" {
			return nil, fmt.Errorf("%q is not provider:id", name)
		}
		if err := m.wrong(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return l, nil
}

func (m *Model) wrong() error {
	for _, n := range []int64{m.Prompt, m.Answer} {
		if n < 0 || n > maxTokens {
			return fmt.Errorf("%d is not a token count from 1 to %d", n, int64(maxTokens))
		}
	}
	if err := m.Price.wrong(); err != nil || m.Long == nil {
		return err
	}
	if err := m.Long.wrong(); err != nil {
		return fmt.Errorf("long: %w", err)
	}
	for _, p := range [][2]string{{m.Price.Input, m.Long.Input}, {m.Price.Output, m.Long.Output}} {
		if amount(p[1]).Cmp(amount(p[0])) < 0 {
			return errors.New("long prompts cost less than short ones")
		}
	}
	return nil
}

func (p *Price) wrong() error {
	for _, f := range []struct{ name, value string }{{"input", p.Input}, {"cached", p.Cached}, {"output", p.Output}} {
		if f.name == "cached" && f.value == "" {
			continue
		}
		if !decimal(f.value) {
			return fmt.Errorf("%s: %q is not a decimal such as \"0.10\"", f.name, f.value)
		}
	}
	return nil
}

// decimal reports whether text is what the runtime reads as dollars: at most twelve digits, and nine behind a point.
func decimal(text string) bool {
	whole, part, point := strings.Cut(text, ".")
	digits := func(s string, most int) bool { return s != "" && len(s) <= most && strings.Trim(s, "0123456789") == "" }
	return digits(whole, 12) && (!point || digits(part, 9))
}

func amount(decimal string) *big.Rat {
	r, _ := new(big.Rat).SetString(decimal)
	return r
}
