package wasmtool

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

const (
	maxPages     = 4096             // of 64 KiB: 256 MiB for a call
	longest      = 10 * time.Minute // of a call
	stderrBytes  = 8 << 10          // of standard error that are kept
	messageRunes = 300              // of the module's own words in a message
	allocator    = "alloc"
	command      = "_start"
	initializer  = "_initialize"
)

// A program is a module that is compiled once, when it is first needed.
type program struct {
	Module

	once    sync.Once
	machine wazero.Runtime
	module  wazero.CompiledModule
	err     error
}

// prepare compiles the module. Nobody closes it: tools live as long as the program.
func (p *program) prepare() error {
	p.once.Do(func() {
		ctx := context.Background()
		config := wazero.NewRuntimeConfig().WithMemoryLimitPages(maxPages).WithCloseOnContextDone(true).WithDebugInfoEnabled(false)
		if c := compiled(); c != nil {
			config = config.WithCompilationCache(c)
		}
		p.machine = wazero.NewRuntimeWithConfig(ctx, config)
		if _, p.err = wasi_snapshot_preview1.Instantiate(ctx, p.machine); p.err != nil {
			return
		}
		p.module, p.err = p.machine.CompileModule(ctx, []byte(p.Code))
	})
	if p.err != nil {
		return value.Errorf(value.SandboxError, "%s cannot be compiled: %s", p.Name, line(p.err.Error()))
	}
	return nil
}

// call runs the function and returns its result's JSON, of at most limit bytes.
func (p *program) call(ctx context.Context, input []byte, limit int) ([]byte, error) {
	if err := p.prepare(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, p.ended(ctx)
	}
	within, cancel := context.WithTimeoutCause(ctx, longest, errLongest)
	defer cancel()
	within, stop := context.WithCancelCause(within)
	defer stop(nil)
	out := &bounded{limit: limit, full: func() { stop(errFull) }}
	stderr := &beginning{limit: stderrBytes}
	// Neither clock nor random numbers of the machine, no sleep, no files: those are wazero's defaults.
	config := wazero.NewModuleConfig().WithName("").WithStderr(stderr).WithStartFunctions()
	var result []byte
	var err error
	if p.Export == "" {
		err = p.run(within, config.WithStdin(strings.NewReader(string(input))).WithStdout(out))
		result = out.text
	} else {
		result, err = p.function(within, config, input, limit)
	}
	if err != nil {
		return nil, p.failed(ctx, within, err, stderr, limit)
	}
	return result, nil
}

var (
	errFull    = errors.New("the output is too large")
	errLongest = errors.New("the call took too long")
)

// run runs a command from its start to its end.
func (p *program) run(ctx context.Context, config wazero.ModuleConfig) error {
	instance, err := p.machine.InstantiateModule(ctx, p.module, config)
	if err != nil {
		return err
	}
	defer instance.Close(context.WithoutCancel(ctx))
	start := instance.ExportedFunction(command)
	if start == nil {
		return value.Errorf(value.SandboxError, "%s has no %s", p.Name, command)
	}
	_, err = start.Call(ctx)
	var exit *sys.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 0 && ctx.Err() == nil {
		err = nil
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx) // it wrote too much, and ended
	}
	return err
}

// function calls an exported function.
func (p *program) function(ctx context.Context, config wazero.ModuleConfig, input []byte, limit int) ([]byte, error) {
	instance, err := p.machine.InstantiateModule(ctx, p.module, config.WithStdout(io.Discard))
	if err != nil {
		return nil, err
	}
	defer instance.Close(context.WithoutCancel(ctx))
	if initialize := instance.ExportedFunction(initializer); initialize != nil {
		if _, err := initialize.Call(ctx); err != nil {
			return nil, err
		}
	}
	alloc, f, memory := instance.ExportedFunction(allocator), instance.ExportedFunction(p.Export), instance.Memory()
	if !is(alloc, []api.ValueType{i32}, i32) || !is(f, []api.ValueType{i32, i32}, i64) || memory == nil {
		return nil, value.Errorf(value.SandboxError, "%s cannot be called: it needs memory, %s(i32) i32 and %s(i32, i32) i64", p.what(), allocator, p.Export)
	}
	at, err := alloc.Call(ctx, uint64(len(input)))
	if err != nil {
		return nil, err
	}
	if !memory.Write(uint32(at[0]), input) {
		return nil, p.wrong("%s of %s returned no memory for %d bytes", allocator, p.Name, len(input))
	}
	packed, err := f.Call(ctx, uint64(uint32(at[0])), uint64(len(input)))
	if err != nil {
		return nil, err
	}
	length := uint32(packed[0])
	if uint64(length) > uint64(limit) {
		return nil, errFull
	}
	view, ok := memory.Read(uint32(packed[0]>>32), length)
	if !ok {
		return nil, p.wrong("the result of %s is outside its memory", p.what())
	}
	return append([]byte(nil), view...), nil
}

const i32, i64 = api.ValueTypeI32, api.ValueTypeI64

func is(f api.Function, params []api.ValueType, result api.ValueType) bool {
	if f == nil {
		return false
	}
	p, r := f.Definition().ParamTypes(), f.Definition().ResultTypes()
	if len(p) != len(params) || len(r) != 1 || r[0] != result {
		return false
	}
	for i := range p {
		if p[i] != params[i] {
			return false
		}
	}
	return true
}

func (p *program) wrong(format string, args ...any) error {
	return value.Errorf(value.ProviderError, format, args...)
}

// failed says why a call failed. ctx is the caller's, within the one that the module ran with.
func (p *program) failed(ctx, within context.Context, err error, stderr *beginning, limit int) error {
	var tool *value.ToolError
	switch cause := context.Cause(within); {
	case ctx.Err() != nil:
		return p.ended(ctx)
	case errors.Is(err, errFull), errors.Is(cause, errFull):
		e := value.Errorf(value.PolicyDenied, "%s wrote more than the %d bytes allowed: raise max_output", p.what(), limit)
		e.Details = value.Map(value.Entry{Key: "max_output", Value: value.Int(int64(limit))})
		return e
	case errors.Is(cause, errLongest):
		return value.Errorf(value.SandboxError, "%s ran for more than %v and was stopped", p.what(), longest)
	case errors.As(err, &tool):
		return tool
	}
	e := &value.ToolError{Code: value.ProviderError}
	text := value.Entry{Key: "stderr", Value: value.String(stderr.string())}
	var exit *sys.ExitError
	if errors.As(err, &exit) {
		e.Message = p.what() + " exited with status " + itoa(exit.ExitCode())
		e.Details = value.Map(value.Entry{Key: "exit_code", Value: value.Int(int64(exit.ExitCode()))}, text)
	} else {
		e.Message = p.what() + " stopped: " + line(strings.TrimPrefix(err.Error(), "wasm error: "))
		e.Details = value.Map(text)
	}
	if first := line(strings.TrimLeft(stderr.string(), "\n")); first != "" {
		e.Message += ": " + first
	}
	return e
}

// ended is the error of a call whose context is over.
func (p *program) ended(ctx context.Context) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	return &value.ToolError{Code: value.Timeout, Message: p.what() + " did not finish in time and was stopped"}
}

// line is the first line of a text, safe to print.
func line(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return plain.Line(s, messageRunes)
}
