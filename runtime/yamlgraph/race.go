package yamlgraph

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Candidate is one of those that a race asks.
type Candidate struct {
	Provider, Model string // as the file has them
	Use             *Model
}

// first asks the model of a question, or the candidates of a race one after the other until one answers. The error of a
// race says what became of each.
func (u *update) first(r *flow.Run, n *flow.Node, q *Question, p Prompt) (value.Value, error) {
	if q.Race == nil {
		return question(r, n, q.Model, q, p)
	}
	var failed []string
	code := value.ProviderError
	for _, c := range q.Race {
		v, err := question(r, n, c.Use, q, p)
		if err == nil {
			u.take("_race_winner", value.Map(named("provider", c.Provider), named("model", c.Model)))
			return v, nil
		}
		var te *value.ToolError
		if flow.Skipped(err) != nil || !errors.As(err, &te) {
			return v, err
		}
		code = te.Code
		failed = append(failed, fmt.Sprintf("  - %s/%s: %s", cmp.Or(c.Provider, "None"), cmp.Or(c.Model, "None"), te.Message))
	}
	return value.Null(), r.Fail(n, value.Errorf(code, "All %d race candidates failed:\n%s", len(q.Race), strings.Join(failed, "\n")))
}

// named is an entry of a map; empty text is null.
func named(key, text string) value.Entry {
	if text == "" {
		return value.Entry{Key: key, Value: value.Null()}
	}
	return value.Entry{Key: key, Value: value.String(text)}
}

// lost is what becomes of a race that nobody has won: with Skip, and for a router whatever does not stop the run, the field
// becomes null and the error goes into errors; else the error ends the run.
func (u *update) lost(n *flow.Node, q *Question, err error) error {
	if q.Fail == Stop || q.Router == nil && q.Fail != Skip {
		return err
	}
	u.take(q.Key, value.Null())
	u.keep(n.ID, err)
	if q.Router != nil {
		u.routed, u.route = true, q.Router.other()
	}
	return nil
}
