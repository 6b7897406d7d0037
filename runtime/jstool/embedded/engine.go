package embedded

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/grafana/sobek"

	"github.com/flowgen-dev/flowgen/runtime/internal/jsvalue"
	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

//go:embed engine.js
var script string

const (
	maxStack = 4096 // calls inside each other

	// grace is the time an interpreter gets to stop at the end of the context.
	grace = 200 * time.Millisecond

	// keepIdle is how many idle interpreters of a module are kept at least: those of different tenants and secrets are not shared.
	keepIdle = 8
)

// loaded is a module with the interpreters that have loaded it.
type loaded struct {
	Module
	mu   sync.Mutex
	idle []*machine // the one that was used last is the last
}

// machine is one interpreter. It serves one call at a time.
type machine struct {
	vm      *sobek.Runtime
	holder  string         // its calls have the same tenant and secrets: a module may keep what it is given
	perform sobek.Callable // (arguments' JSON, context's JSON or undefined, limit of the result) -> promise or nothing; the end comes to done
	end     outcome
	broken  bool

	mu  sync.Mutex
	log tool.Invocation // of the call that it serves
}

// print is what console does. What a module prints when it is loaded is no call's.
func (m *machine) print(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.perform != nil {
		m.log.Log([]byte(text))
	}
}

// serve says whose what it prints is from now on.
func (m *machine) serve(i tool.Invocation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log = i
}

type outcome struct {
	ended  bool
	result string
	beside string // JSON of what it has attached; may be empty
	failed string // JSON of an error object
}

// call runs the module's default export with args, a JSON object. Its result has at most limit bytes.
func (s *loaded) call(ctx context.Context, args []byte, limit int) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, s.ended(err)
	}
	if len(args) > worker.MaxFrame {
		return nil, value.Invalid("the input of %s has %d bytes, at most %d are possible", s.Name, len(args), worker.MaxFrame)
	}
	if len(args) == 0 || args[0] != '{' {
		return nil, value.Invalid("input of %s: the argument is not an object", s.Name)
	}
	if n := jsvalue.Inexact(args); n != "" {
		return nil, value.Invalid("input of %s: JavaScript has no exact form of the integer %s", s.Name, n)
	}
	given := worker.Given(ctx)
	type reply struct {
		out []byte
		err error
	}
	done := make(chan reply, 1)
	_, holder := worker.Holder(ctx)
	m := s.take(holder)
	m.serve(tool.Context(ctx))
	defer m.serve(tool.Invocation{})
	go func() {
		var r reply
		if r.err = s.load(m); r.err == nil {
			r.out, r.err = s.run(ctx, m, args, string(given), limit)
		}
		done <- r
	}()
	select {
	case r := <-done:
		if r.err == nil {
			r.err = worker.Attach(ctx, s.Name, []byte(m.end.beside))
		}
		s.release(m)
		return r.out, r.err
	case <-ctx.Done(): // an interpreter that was interrupted is not used again
	}
	m.vm.Interrupt(ctx.Err())
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
	return nil, s.ended(ctx.Err())
}

func (s *loaded) ended(err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return value.Errorf(value.Timeout, "%s did not finish in time and was stopped", s.Name)
}

// take returns an idle interpreter of a holder or a new one.
func (s *loaded) take(holder string) *machine {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, m := range slices.Backward(s.idle) {
		if m.holder == holder {
			s.idle = slices.Delete(s.idle, i, i+1)
			return m
		}
	}
	return &machine{vm: sobek.New(), holder: holder}
}

// release keeps an interpreter that has loaded the module and is not broken. The one that was not used for longest goes.
func (s *loaded) release(m *machine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.perform == nil || m.broken {
		return
	}
	if s.idle = append(s.idle, m); len(s.idle) > max(goruntime.GOMAXPROCS(0), keepIdle) {
		s.idle = slices.Delete(s.idle, 0, 1)
	}
}

// load evaluates the module in an interpreter that is new.
func (s *loaded) load(m *machine) (err error) {
	if m.perform != nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = s.unloadable(fmt.Sprint(p))
		}
	}()
	m.vm.SetMaxCallStackSize(maxStack)
	values, err := m.vm.RunScript("flowgen:worker", jsvalue.Script)
	if err != nil {
		return err
	}
	noImports := func(any, string) (sobek.ModuleRecord, error) { return nil, errors.New("there is nothing to import") }
	record, err := sobek.ParseModule(s.Name, s.Code, noImports)
	if err != nil {
		return s.unloadable(err.Error())
	}
	if err := record.Link(); err != nil {
		return s.unloadable(err.Error())
	}
	start, err := m.vm.RunScript("flowgen:worker", script)
	if err != nil {
		return err
	}
	prepare, _ := sobek.AssertFunction(start)
	made, err := prepare(sobek.Undefined(), values, m.vm.ToValue(s.Name),
		m.vm.ToValue(func(v, beside string) { m.end = outcome{ended: true, result: v, beside: beside} }),
		m.vm.ToValue(func(v string) { m.end = outcome{ended: true, failed: v} }), m.vm.ToValue(m.print))
	if err != nil {
		return err
	}
	p := m.vm.CyclicModuleRecordEvaluate(record, noImports)
	switch p.State() {
	case sobek.PromiseStateRejected:
		return s.unloadable(thrown(p.Result()))
	case sobek.PromiseStatePending:
		return s.unloadable("it waits for something that never comes")
	}
	main := m.vm.NamespaceObjectFor(record).Get("default")
	if _, ok := sobek.AssertFunction(main); !ok {
		return value.Errorf(value.SandboxError, "Module '%s' has no default export that is a function", s.Name)
	}
	bind, _ := sobek.AssertFunction(made)
	perform, err := bind(sobek.Undefined(), main)
	if err != nil {
		return err
	}
	m.perform, _ = sobek.AssertFunction(perform)
	return nil
}

// thrown is what a module has thrown, without the stack.
func thrown(v sobek.Value) string {
	first, _, _ := strings.Cut(v.String(), "\n")
	return first
}

func (s *loaded) unloadable(why string) error {
	return value.Errorf(value.SandboxError, "Cannot import module '%s': %s", s.Name, plain.Line(why, 1000))
}

// run makes one call. Afterwards the interpreter is used again unless it was interrupted.
func (s *loaded) run(ctx context.Context, m *machine, args []byte, given string, limit int) (_ []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			m.broken = true
			err = value.Errorf(value.Unknown, "%s: the interpreter failed: %s", s.Name, plain.Line(tool.RedactorOf(ctx).Cut(fmt.Sprint(p)), 1000))
		}
	}()
	m.end = outcome{}
	c := sobek.Undefined()
	if given != "" {
		c = m.vm.ToValue(given)
	}
	// Promises that can be settled are settled when this returns.
	if _, err := m.perform(sobek.Undefined(), m.vm.ToValue(string(args)), c, m.vm.ToValue(limit)); err != nil {
		m.broken = true
		return nil, value.Errorf(value.Unknown, "%s", plain.Line(tool.RedactorOf(ctx).Cut(err.Error()), 1000))
	}
	switch end := m.end; {
	case !end.ended:
		return nil, value.Errorf(value.Unknown, "%s waits for something that never comes", s.Name)
	case end.failed != "":
		return nil, worker.Answered(ctx, s.Name, []byte(end.failed))
	default:
		return []byte(end.result), nil
	}
}
