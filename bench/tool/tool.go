// Package tool holds the Go functions that the measured workflows call, and their hand-written equivalents too.
package tool

import "context"

// Message is what the nodes of the chain hand on.
type Message struct {
	Count int64  `json:"count"`
	Text  string `json:"text"`
}

// Step does next to nothing, so that what is measured is the call.
//
//go:noinline
func Step(_ context.Context, in Message) (Message, error) {
	return Message{Count: in.Count + 1, Text: in.Text}, nil
}

// Item is one of many.
type Item struct {
	ID int64 `json:"id"`
}

// Result is what becomes of an Item.
type Result struct {
	ID    int64 `json:"id"`
	Value int64 `json:"value"`
}

// Double does next to nothing.
//
//go:noinline
func Double(_ context.Context, in Item) (Result, error) {
	return Result{in.ID, in.ID * 2}, nil
}

// Work computes for about a microsecond.
//
//go:noinline
func Work(_ context.Context, in Item) (Result, error) {
	v := in.ID
	for i := range int64(1000) {
		v = v*31 + i
	}
	return Result{in.ID, v}, nil
}

// Next is the step of the router loop.
//
//go:noinline
func Next(n int64) int64 { return n + 1 }

type gateKey struct{}

// Gate is where Wait waits.
type Gate struct {
	Enter func()
	Open  chan struct{}
}

// WithGate returns a context under which Wait waits at g.
func WithGate(ctx context.Context, g *Gate) context.Context {
	return context.WithValue(ctx, gateKey{}, g)
}

// Wait is Step behind the gate of its context.
func Wait(ctx context.Context, in Message) (Message, error) {
	if g, ok := ctx.Value(gateKey{}).(*Gate); ok {
		g.Enter()
		<-g.Open
	}
	return Step(ctx, in)
}

// Numbers are what an agent's model wants added.
type Numbers struct {
	A int64 `json:"a"`
	B int64 `json:"b"`
}

// Sum is what they come to.
type Sum struct {
	Sum int64 `json:"sum"`
}

// Add is the tool of the agent.
//
//go:noinline
func Add(_ context.Context, in Numbers) (Sum, error) { return Sum{in.A + in.B}, nil }

// Text is what tools of the dialects are called with.
type Text struct {
	Text string `json:"text"`
}

// Echo hands on its text.
//
//go:noinline
func Echo(_ context.Context, in Text) (string, error) { return in.Text, nil }

// Counting is the arguments of Count: those of the node and, as OpenExpertise gives it, the state.
type Counting struct {
	By    float64 `json:"by"`
	State Counted `json:"_state"`
}

// Counted is the part of the state that Count reads and writes; nothing has written it before the first node.
type Counted struct {
	Count *float64 `json:"count"`
}

// Delta is what Count has for the state.
type Delta struct {
	Delta Counted `json:"state_delta"`
}

// Count adds to a field of the state.
//
//go:noinline
func Count(_ context.Context, in Counting) (Delta, error) {
	sum := in.By
	if in.State.Count != nil {
		sum += *in.State.Count
	}
	return Delta{Counted{&sum}}, nil
}
