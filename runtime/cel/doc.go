// Package cel has what expressions of workflows call and Go has no operator for: items that may not be there, parts of texts, and
// times that are read, added and subtracted. Generated code imports it. Names and meaning are those of CEL and its extensions, which
// docs/language.md describes.
//
// All functions are pure. Those with an error return a *value.ToolError with the code VALIDATION_ERROR, to which the caller adds the
// position of the node that computes.
package cel
