package startool

import (
	"context"
	"errors"
	"strings"
	"sync"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// program is a function of a file. Its file is compiled at the first call.
type program struct {
	file, source, function string

	once sync.Once
	says bool // it may print
	fn   *starlark.Function
	err  error
}

// dialect is Starlark as its specification has it, with sets; recursion and while stay off.
var dialect = &syntax.FileOptions{Set: true}

func (p *program) what() string { return p.file + ":" + p.function }

func (p *program) badResult(err error) error {
	var te *value.ToolError
	if !errors.As(err, &te) {
		return err
	}
	e := *te
	e.Message = "result of " + p.what() + ": " + e.Message
	return &e
}

func (p *program) load() {
	globals, err := p.evaluate()
	if err != nil {
		e := p.failed(err)
		e.Code = value.SandboxError
		p.err = e
		return
	}
	fn, ok := globals[p.function].(*starlark.Function)
	if !ok {
		p.err = value.Errorf(value.SandboxError, "%s has no function %s", p.file, p.function)
		return
	}
	p.fn, p.says = fn, strings.Contains(p.source, "print")
}

func (p *program) evaluate() (starlark.StringDict, error) {
	f, err := dialect.Parse(p.file, p.source, 0)
	if err != nil {
		return nil, err
	}
	for _, s := range f.Stmts {
		if load, ok := s.(*syntax.LoadStmt); ok {
			return nil, syntax.Error{Pos: load.Load, Msg: "load is not possible: the file of a Starlark tool stands alone"}
		}
	}
	guard(f)
	prog, err := starlark.FileProgram(f, guarded.Has)
	if err != nil {
		return nil, err
	}
	globals, err := prog.Init(p.thread(), guarded)
	globals.Freeze()
	return globals, err
}

func (p *program) thread() *starlark.Thread {
	t := &starlark.Thread{Name: p.what(), Print: func(*starlark.Thread, string) {}}
	t.SetMaxExecutionSteps(maxSteps)
	return t
}

// call runs the function with args, a JSON object. Its result has at most limit bytes.
func (p *program) call(ctx context.Context, args []byte, limit int) ([]byte, error) {
	p.once.Do(p.load)
	if p.err != nil {
		return nil, p.err
	}
	kwargs, err := arguments(args)
	if err != nil {
		return nil, err
	}
	t := p.thread()
	if i := tool.Context(ctx); p.says && i.Logs() {
		t.Print = func(_ *starlark.Thread, line string) { i.Log([]byte(line + "\n")) }
	}
	if ctx.Err() != nil {
		return nil, p.ended(ctx)
	}
	stop := context.AfterFunc(ctx, func() { t.Cancel("stopped") })
	defer stop()
	v, err := starlark.Call(t, p.fn, nil, kwargs)
	if err != nil {
		if ctx.Err() != nil {
			return nil, p.ended(ctx)
		}
		return nil, p.failed(err)
	}
	b, err := encode(nil, v, limit)
	if err != nil {
		return nil, p.badResult(err)
	}
	return b, nil
}

func (p *program) ended(ctx context.Context) error {
	if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return value.Errorf(value.Timeout, "%s did not finish in time and was stopped", p.what())
}

// failed translates an error of the interpreter. The message begins with the place in the file.
func (p *program) failed(err error) *value.ToolError {
	var (
		eval *starlark.EvalError
		note *limitError
	)
	e := &value.ToolError{Code: value.Unknown, Message: plain.Line(err.Error(), 1000)}
	switch {
	case errors.As(err, &eval):
		if at := place(eval.CallStack); at != "" {
			e.Message = plain.Line(at+": "+eval.Msg, 1000)
		}
		e.Details = value.Map(value.Entry{Key: "traceback", Value: value.String(clip(eval.Backtrace(), 8<<10))})
		if eval.Msg == "Starlark computation cancelled: too many steps" {
			e.Code = value.PolicyDenied
		}
		if len(eval.CallStack) == 1 && strings.HasPrefix(eval.Msg, "function "+p.function+" ") {
			e.Code = value.ValidationError // the arguments do not fit
		}
	}
	if errors.As(err, &note) {
		e.Code = value.PolicyDenied
	}
	return e
}

// place is the innermost position in a file; built-in functions have none.
func place(stack starlark.CallStack) string {
	for i := range len(stack) {
		if pos := stack.At(i).Pos; pos.Line > 0 {
			return pos.String()
		}
	}
	return ""
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n]
}
