package ir

import (
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A Definition is where a tool that is not Go is defined, and what is said of it there: a Python function, the default
// export of a module, a tool of an MCP server, a Starlark function.
type Definition struct {
	Name  string         // as people call it: "triage.diff:parse", "./tools/double.ts", "slack/post_message"
	Span  source.Span    // of the definition's name; zero when it is in no file
	In    *schema.Type   // the input as the source says it, before a declaration narrowed it; nil: it does not say
	Out   *schema.Type   // the same of the result
	Open  bool           // takes fields beyond In
	Async bool           // a coroutine
	Files []SourceFile   // what it is made of, in the order of their names
	Wrong []diag.Related // what its decorator refuses
	Says  string         // the description that the native language reads there, when the tool's own differs from it
	Root  string         // the folder that the names of Files begin in, relative to the workflow file's; empty: that one
}

// A SourceFile is a file that a tool is made of.
type SourceFile struct {
	Name string // slash-separated, relative to the folder of the workflow file that declares the tool, or to Definition.Root; inside of it
	Disk string // its absolute name where it was read
	Text string
}

// Interpreter is the program that has to be there when a tool runs: "python3", "node", or "" when the tool needs none or
// names its own.
func Interpreter(b Binding) string {
	switch b := b.(type) {
	case *PythonTool:
		return "python3"
	case *JSTool:
		if b.Engine != "embedded" {
			return "node"
		}
	}
	return ""
}
