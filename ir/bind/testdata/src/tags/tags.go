// Package tags constrains fields by struct tags.
package tags

type In struct {
	Level  string   `json:"level" flow:"enum=low|high" default:"\"low\""`
	Levels []string `json:"levels" flow:"enum=a|b,min=1"`
	N      int      `json:"n" flow:"min=0,max=10" default:"3"`
	ID     string   `json:"id" flow:"max=8,pattern=^[a-z]{1,8}$"`
}

func Good(in In) error { return nil }

type RuleIn struct {
	N int `flow:"minimum=3"`
}

func Rule(in RuleIn) error { return nil }

type NumberIn struct {
	N int `flow:"min=low"`
}

func Number(in NumberIn) error { return nil }

type PatternIn struct {
	S string `flow:"pattern=("`
}

func Pattern(in PatternIn) error { return nil }

type EnumIn struct {
	N bool `flow:"enum=a"`
}

func Enum(in EnumIn) error { return nil }

type DefaultIn struct {
	N int `default:"three"`
}

func Default(in DefaultIn) error { return nil }

type WrongIn struct {
	N int `default:"\"3\""`
}

func Wrong(in WrongIn) error { return nil }
