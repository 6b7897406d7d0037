// Package value has the dynamic values of workflows, and the errors of tools.
//
// A Value is what the type any of the workflow language is in Go: null, bool, int, float, string, list or map. Make one with
// Null, Bool, Int, Float, String, List and Map, or from Go data with Of and from JSON with Parse. Read it with its
// methods, or into a Go type with DecodeValue and Cast. Values are immutable.
//
// Decode reads JSON from outside into a Go type strictly: duplicate keys, unknown and missing fields, wrong types and
// numbers out of range are errors, and Validate checks the flow tags of the type. DecodeKnown ignores unknown fields.
// AppendCanonical writes canonical JSON (RFC 8785).
//
// A ToolError is the error of a tool call: one of nine codes, a message, and details, which are a Value. Every error of
// this package about data is one with VALIDATION_ERROR. Errorf and Invalid make one.
//
// Args and the functions Arg and As... read the arguments of a call that data or a model has chosen. Generated code calls
// them.
//
// The package imports the standard library only. All its functions are safe for concurrent use.
package value
