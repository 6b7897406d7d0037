package core

import (
	"context"

	"github.com/flowgen-dev/flowgen/runtime/redact"
)

// maxKnown bounds how many secrets a Runtime remembers: services whose tokens change every hour run for a long time.
const maxKnown = 4096

// learn makes the runtime take a secret out of everything from now on.
func (rt *Runtime) learn(secret string) {
	if r := rt.redactor.Load(); len(secret) < redact.MinSecret || r.Knows(secret) {
		return
	}
	rt.learning.Lock()
	defer rt.learning.Unlock()
	if r := rt.redactor.Load(); r.Knows(secret) {
		return
	}
	rt.known = append(rt.known, secret)
	if len(rt.known) > maxKnown {
		rt.known = rt.known[1:]
	}
	rt.redactor.Store(redact.New(rt.known...))
}

// Redactor returns what takes the secrets that runs have been given so far out of what is written about them. What the
// runtime itself gives out (events, errors, journals, envelopes, outputs of tools) is without them already.
func (rt *Runtime) Redactor() *redact.Redactor { return rt.redactor.Load() }

// RedactorOf returns what takes the secrets of the running tool, and all others that its runtime knows, out of text: for texts
// that the tool cuts or takes apart before the runtime sees them. It is nil where there are none.
func RedactorOf(ctx context.Context) *redact.Redactor {
	if c := callOf(ctx); c != nil {
		run, _ := c.place()
		return run.state.rt.redactor.Load()
	}
	if s := secretsOf(ctx); s != nil {
		return redact.New(s.values...)
	}
	return nil
}

// cleanError returns err without secrets: a *NodeError, *ToolError or *RunError is copied when it holds one.
func cleanError(r *redact.Redactor, err error) error {
	if r == nil || err == nil {
		return err
	}
	switch e := err.(type) {
	case *NodeError:
		if inner := cleanError(r, e.Err); inner != e.Err {
			return &NodeError{Node: e.Node, Key: e.Key, Err: inner}
		}
		return err
	case *UndoError:
		out := &UndoError{Err: cleanError(r, e.Err)}
		for _, f := range e.Failed {
			out.Failed = append(out.Failed, cleanError(r, f))
		}
		return out
	case *RunError:
		if m := r.Cut(e.Message); m != e.Message {
			return &RunError{Kind: e.Kind, By: e.By, Message: m, Err: cleanError(r, e.Err)}
		}
		return err
	}
	return r.Error(err)
}
