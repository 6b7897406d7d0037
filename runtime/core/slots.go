package core

import "context"

// WithSlots gives a workflow what the program that embeds it brings: an implementation of the interface Slots of its
// generated code, whose New calls this. It must be safe for concurrent use. New refuses nil.
func WithSlots[S any](slots S) Option {
	return func(rt *Runtime) {
		rt.slots, rt.slotless = slots, any(slots) == nil
	}
}

type slotsKey struct{}

// Slots returns what WithSlots was given, as the interface of the workflow that runs under ctx. Generated code calls it.
func Slots[S any](ctx context.Context) S { return ctx.Value(slotsKey{}).(S) }
