package ir

import (
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A PythonNode is how a tool that is a Python class is called: as a node of its engine, whose execute gets the state and
// returns the fields that it writes.
type PythonNode struct {
	State  string   // "module:Class" of the state; empty: the state is an object with the fields as attributes
	Config string   // JSON object of what the class is made with
	Writes []string // fields of the result
}

// A PythonReader reads Python sources without running them, for dialects whose workflows name classes and decorated
// functions. Its methods report nothing but what their results say.
type PythonReader interface {
	// Class reads "module:Class", which a workflow file names. why says why it cannot, and absent that nothing of its module
	// is here, not even the outermost package.
	Class(from *source.File, ref Ident) (c *PythonClass, why string, absent bool)
	// Answer is Class for a model of Pydantic that the answer of a model has to fit: Fields are as such a model reads them,
	// those without a default are required.
	Answer(from *source.File, ref Ident) (c *PythonClass, why string)
	// Tools are the functions with a decorator @tool(name=..., namespace=..., version=...) in the modules around a workflow
	// file, complete with their types and definitions: those of the nearest folders first. why says what keeps them from being
	// read. spare are modules that their own may import.
	Tools(from *source.File, spare *PythonModules) (tools []*Tool, why string)
}

// A PythonClass is a class as its source says it.
type PythonClass struct {
	Def    *Definition         // Files are its module and what that imports
	Fields *schema.Type        // its annotated members, with defaults where they have one or their type has a zero value
	Node   *PythonUse          // what its execute does with a state; nil: it has none
	Facts  []PythonFact        // the fields with the marker Mirror(...)
	Texts  map[string][]string // str() of the values of a field whose type is an Enum, in the order of the type's values: Level.high

	Init   []PythonParam // the arguments that it is made with
	Config bool          // it is made with a model of them: its config_model
	Made   bool          // Init is all that it can be made with
	Bases  []string      // bases whose source is not read
}

// A PythonFact is a field of a state that rules see as a fact, under the name of its template.
type PythonFact struct {
	Field, Template string
}

// A PythonParam is an argument that a class is made with.
type PythonParam struct {
	Name, Attribute string // Attribute of the instance has it; empty: none
	Optional        bool
	Default         string // when it is a literal text
}

// PythonUse is what a method reads of its parameter and which fields it writes, as far as its source says so.
type PythonUse struct {
	Reads    []string
	ReadsAll bool
	Writes   []string // "self.x" and "self.x.y" are attributes of the instance
	WritesAny,
	Async bool
	Span source.Span
}
