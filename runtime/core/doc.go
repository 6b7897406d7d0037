// Package core is the implementation behind packages runtime, flow, tool and engine. None of it is promised: import those.
//
// Runs, calls, gates and engines know each other, so they are one package. Four others promise its parts, each to one
// audience, by aliases and functions that call those here: runtime to users of generated workflows, flow to generated code,
// tool to authors of tools, engine to authors of engines. This package is public because documentation of an alias links to
// its methods here.
package core

//go:generate go run ../internal/facades
