package check

import (
	"regexp"

	"github.com/flowgen-dev/flowgen/ir"
)

// tokenState adds the fields that every state has to those of the file, when a function that is given the state may use
// them: when its source names them, or cannot be read.
func (c *checker) tokenState() {
	names, all := map[string]bool{}, false
	var visit func(nodes []*ir.Node)
	visit = func(nodes []*ir.Node) {
		for _, n := range nodes {
			switch v := n.Verb.(type) {
			case *ir.Map:
				visit(v.Do.Nodes)
			case *ir.ToolCall:
				t := c.tokenTool(v)
				if t == nil {
					continue
				}
				if t.Def == nil || len(t.Def.Files) == 0 {
					all = true
					continue
				}
				for _, f := range t.Def.Files {
					for _, word := range word.FindAllString(f.Text, -1) {
						names[word] = true
					}
				}
			}
		}
	}
	visit(c.wf.Body.Nodes)
	for _, s := range c.wf.Dynamic.Tokens.Common {
		if all || names[s.Name.Name] {
			c.wf.State = append(c.wf.State, s)
		}
	}
	c.wf.Dynamic.Tokens.Common = nil
}

var word = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// tokenTool is the python tool that a node calls with the state.
func (c *checker) tokenTool(v *ir.ToolCall) *ir.Tool {
	for _, t := range c.wf.Tools {
		if _, python := t.Binding.(*ir.PythonTool); python && t.Key.Name == v.Name.Name {
			return t
		}
	}
	return nil
}
