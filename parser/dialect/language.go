package dialect

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// A Language is a public dialect: all that the compiler, its command and their tests know of it. Each reader exports one.
type Language struct {
	Name   string // as `--dialect` takes it, and of the dialect's folders
	Root   string // how a workflow file is named where it stands for its folder
	Needs  string // the program that runs the tools of its workflows
	Merges bool   // `<<` merges mappings, as in YAML 1.1

	Is     func(root *yamlnode.Node) bool // whether a tree has the shape of the dialect
	Parse  func(root *yamlnode.Node, f *source.File, load Loader, opts Options, sink *diag.Sink) *ir.Workflow
	Schema func() []byte // of its files, as a JSON Schema

	Functions []*expr.Func // what its translated workflows call besides those of Functions

	Modules []string // folders below runtime/ that are Go modules of their own, for their foreign libraries

	Provided *ir.Provided // what its runtime has for workflows in any language; nil: nothing

	Eras []Era // of its engine, the one that the page describes first

	Codes       []diag.Code    // what its reader says of files, at least; there is a case of each
	Differences []Difference   // between its page and its engine
	Examples    []diag.Example // of codes that only a file of a dialect can show
}

// An Era is what versions of a dialect's engine have in common. --compat takes its name.
type Era struct {
	Name     string // such as "0.6"
	Engine   string // the version whose behaviour was compared
	Upstream bool   // where the page differs, what this engine does wins
}

// Reads reports whether a file is read as the engine does where the page differs. It is not ok when the dialect has no such era.
func (l *Language) Reads(compat string) (upstream, ok bool) {
	switch compat {
	case "", "documented":
		return false, true
	case "upstream":
		return true, true
	}
	for _, e := range l.Eras {
		if e.Name == compat {
			return e.Upstream, true
		}
	}
	return false, false
}
