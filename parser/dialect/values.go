package dialect

import "github.com/flowgen-dev/flowgen/ir"

// Values of workflows whose types only a run knows. They move here with the last tree that ir has.
type (
	Reference    = ir.Reference
	Missing      = ir.Missing
	Mixed        = ir.Mixed
	MixedSegment = ir.MixedSegment
	Predicate    = ir.Predicate
	Route        = ir.Route
)

// What stands for a value that is not there.
const (
	MissingAbsent = ir.MissingAbsent
	MissingKeep   = ir.MissingKeep
	MissingNull   = ir.MissingNull
	MissingError  = ir.MissingError
)

// ValueReferences calls f for every reference of a value.
func ValueReferences(v ir.Value, f func(*Reference)) { ir.ValueReferences(v, f) }
