// Package pyclass makes tools of the Python classes that are nodes of Stargraph: classes with
//
//	async def execute(self, state, ctx) -> dict
//
// which get the state as an instance of its class and return the fields that they write. The input of such a tool is the
// fields of the state that the class is given, its result the fields that it writes, written or not.
//
// Modules of the packages stargraph and pydantic are used where they are installed. Where they are not, Modules is in
// for what nodes, tools and states import from them: base classes, the decorator @tool, errors, markers, models with defaults
// and validators. An import of something else from them is an error that names it and says what to do.
package pyclass

import (
	"embed"
	"encoding/json"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/pytool"
)

//go:embed all:python
var files embed.FS

// Modules stand in for packages that are not installed. They are for pytool.Source.Spare.
var Modules = pytool.Below(files, "python")

// Class names a class.
type Class struct {
	Source *pytool.Source // its Spare has to be Modules
	Name   string         // "package.module:Class"
	State  string         // "package.module:Class" of the state; empty: an object with the fields as attributes
	Config string         // JSON object of the arguments that it is made with; empty: none
	Writes []string       // fields of Out
}

// Bind makes a tool of a class, which is made once in each interpreter.
func Bind[In, Out any](name string, e flow.Effects, c Class, o ...flow.ToolOption) *flow.Tool[In, Out] {
	fixed, err := json.Marshal(struct {
		Of     string          `json:"of"`
		State  string          `json:"state_class"`
		Config json.RawMessage `json:"config,omitempty"`
		Writes []string        `json:"writes"`
	}{c.Name, c.State, json.RawMessage(c.Config), c.Writes})
	if err != nil {
		panic("pyclass: Config of " + c.Name + " is not JSON") // it is a literal of the program
	}
	module, _, _ := strings.Cut(c.Name, ":")
	return pytool.Bind[In, Out](name, e, pytool.Func{Source: c.Source, Module: "flowgen_stargraph", Unit: module, Name: "execute", Under: "state", Fixed: string(fixed), Title: c.Name}, o...)
}
