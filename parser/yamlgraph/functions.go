package yamlgraph

import (
	"strconv"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/jinja"
)

// What the translated graphs call: the engine in package runtime/yamlgraph.

const enginePath = schema.RuntimePath + "/yamlgraph"

var fnNewPrompt = dialect.Declare(enginePath, "NewPrompt", expr.Func{Result: dialect.PromptType, Fails: true, Pure: true}, schema.PointerTo(jinja.TextType), schema.PointerTo(jinja.TextType))

// functions are all of these.
var functions = []*expr.Func{fnNewPrompt}

// text makes the function of a node's prompt. Nodes that share the prompt share it.
func text(n *ir.Node) {
	ask := n.Dynamic.Token.Ask
	if ask == nil || ask.Prompt == nil || ask.Prompt.Text != nil {
		return
	}
	r := ask.Prompt
	f := &ir.TextFunc{Name: ir.Ident{Name: n.ID.Name + "_prompt", Span: n.ID.Span}, Doc: "is the prompt " + strconv.Quote(r.File.Name) + "."}
	var variables []string
	for _, v := range ask.Values {
		variables = append(variables, v.Key.Name)
	}
	parts := []jinja.Part{{Local: "system"}, {Local: "user"}}
	for i, t := range []*ir.PromptTemplate{r.System, r.User} {
		if t != nil {
			parts[i].Body = t.Body
		}
	}
	jinja.Lower(f, variables, parts, fnNewPrompt)
	r.Text = f
}
