package catalog

import (
	"math/big"
	"strings"
	"testing"
)

func TestReleased(t *testing.T) {
	for name, m := range Released().Models {
		if m.Answer < AnswerBound || m.Prompt <= m.Answer {
			t.Errorf("%s reads %d tokens and writes %d", name, m.Prompt, m.Answer)
		}
		prices := []Price{m.Price}
		if m.Long != nil {
			prices = append(prices, *m.Long)
		}
		var before *big.Rat
		for _, p := range prices {
			cached, input, output := amount(p.Cached), amount(p.Input), amount(p.Output)
			if cached.Sign() == 0 || input.Cmp(cached) <= 0 || output.Cmp(input) <= 0 {
				t.Errorf("%s: cached %s, input %s and output %s are not in that order", name, p.Cached, p.Input, p.Output)
			}
			if before != nil && before.Cmp(output) >= 0 {
				t.Errorf("%s: long prompts cost less", name)
			}
			before = output
		}
	}
}

func TestFind(t *testing.T) {
	l, err := Parse([]byte(`{"date": "2030-01-02", "models": {"openai:own": {"input": "1", "output": "2"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"openai:own", "openai-responses:own", "openai:own-2029-12-31", "openai:own-latest"} {
		if m, ok := l.Find(name); !ok || m.Price != (Price{Input: "1", Output: "2"}) || m.Prompt != 0 {
			t.Errorf("%s: %v %v", name, m, ok)
		}
	}
	if _, ok := l.Find("openai:gpt-4o"); ok {
		t.Error("a list has a model of another one")
	}
}

func TestParseRefuses(t *testing.T) {
	model := func(text string) string { return `{"date": "2030-01-02", "models": {"a:b": ` + text + `}}` }
	for text, want := range map[string]string{
		"":                                   "EOF",
		"[]":                                 "cannot unmarshal",
		`{"models": {}}`:                     "`date` is the day",
		`{"date": "yesterday"}`:              "`date` is the day",
		`{"date": "2030-01-02"} {}`:          "something follows",
		`{"date": "2030-01-02", "prices":1}`: `unknown field "prices"`,
		`{"date": "2030-01-02", "models": {"gpt": {"input": "1", "output": "2"}}}`: `"gpt" is not provider:id`,
		model(`{}`):                                                                   `a:b: input: "" is not a decimal`,
		model(`{"input": 1, "output": "2"}`):                                          "cannot unmarshal",
		model(`{"input": "1e9", "output": "2"}`):                                      `"1e9" is not a decimal`,
		model(`{"input": "-1", "output": "2"}`):                                       `"-1" is not a decimal`,
		model(`{"input": "1.", "output": "2"}`):                                       `"1." is not a decimal`,
		model(`{"input": "1", "output": "0.0000000001"}`):                             "is not a decimal",
		model(`{"input": "1", "cached": "x", "output": "2"}`):                         `cached: "x"`,
		model(`{"input": "1", "output": "2", "prompt": -1}`):                          "-1 is not a token count",
		model(`{"input": "1", "output": "2", "answer": 9000000000}`):                  "is not a token count",
		model(`{"input": "1", "output": "2", "long": {"input": "3"}}`):                `long: output: ""`,
		model(`{"input": "2", "output": "2", "long": {"input": "1", "output": "2"}}`): "long prompts cost less",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %s", text, err, want)
		}
	}
}

func TestHighest(t *testing.T) {
	long, _ := Find("gemini:gemini-2.5-pro")
	short, _ := Find("openai:gpt-4o")
	if long.Highest() != *long.Long || short.Highest() != short.Price {
		t.Errorf("%v and %v", long.Highest(), short.Highest())
	}
}
