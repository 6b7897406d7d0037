//go:build !linux

package worker

// A gauge would look at what a worker holds. Nothing portable tells.
type gauge struct{}

func newGauge(int) *gauge { return nil }

func (*gauge) look(int64) *cause { return nil }

func (*gauge) countLeft() {}

func (*gauge) close() {}
