// Package embedded makes tools of JavaScript modules that need nothing of Node. They run inside the program, in an
// interpreter written in Go (ECMAScript 2017 to 2023 for the most part, native modules).
//
// There is no I/O, no timer and no module to import: console is all a module finds next to the language itself, and what
// it prints goes into the error a call may end with. Interpreters are reused, so what a module keeps in its variables
// may or may not be there at the next call, as in package jstool.
//
// # Limits
//
// A call ends when its context does, at the next step of the interpreter. The interpreter cannot be stopped inside a
// built-in function (a backtracking regular expression, a join of a huge array), and there is no limit of memory: such
// a call fails with TIMEOUT shortly after its deadline, and its goroutine goes on until the function returns. Code that
// is not trusted belongs in package jstool with a sandbox. Input and result are bounded as in jstool.
package embedded

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

// Module is a bundle whose default export is the tool, as in package jstool.
type Module struct {
	Name string // what messages and stack traces call it: "double.ts"
	Code string // ES module without imports

	// MaxOutput bounds the result's JSON in bytes as in package jstool.
	MaxOutput int
}

// Bind makes a tool of a module, as jstool.Bind does.
func Bind[In, Out any](name string, e flow.Effects, m Module, o ...flow.ToolOption) *flow.Tool[In, Out] {
	s := &loaded{Module: m}
	return flow.Bind(name, e, func(ctx context.Context, in In) (out Out, err error) {
		args, err := json.Marshal(&in)
		if err != nil {
			return out, value.Invalid("input of %s: %v", m.Name, err)
		}
		limit := worker.MaxOutput(m.MaxOutput)
		result, err := s.call(ctx, args, tool.Room[Out](ctx, limit))
		if err != nil {
			return out, tool.RedactorOf(ctx).Error(err)
		}
		if _, nothing := any(&out).(*struct{}); nothing {
			return out, nil
		}
		err = tool.Cut(ctx, result, limit, &out)
		return out, s.badResult(err)
	}, append([]flow.ToolOption{tool.Cancellable(), flow.MaxOutput(-1)}, o...)...)
}

func (s *loaded) badResult(err error) error {
	var te *value.ToolError
	if !errors.As(err, &te) {
		return err
	}
	e := *te
	e.Message = "result of " + s.Name + ": " + e.Message
	return &e
}
