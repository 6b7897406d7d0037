// Package serving is what programs and package serve know of each other: cli reads the flags of the verb serve, and a program that
// links the verb has a function for it here.
package serving

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Workflow is a compiled workflow without its types.
type Workflow struct {
	Info    *flow.Info
	In, Out reflect.Type
	// New makes the workflow once. What it returns runs it; what comes of a run is in its journal.
	New func(...runtime.Option) (func(ctx context.Context, input []byte) error, error)
	// Canon returns an input as a run records it, with defaults, or what is wrong with it.
	Canon func(input []byte) ([]byte, error)
	// Output says what is wrong with an output.
	Output func(output []byte) error
}

// Of takes the types from a workflow. The options are for this workflow alone.
func Of[W interface {
	Run(context.Context, In) (Out, error)
}, In, Out any](info *flow.Info, start func(...runtime.Option) (W, error), o ...runtime.Option) *Workflow {
	return &Workflow{
		Info: info, In: reflect.TypeFor[In](), Out: reflect.TypeFor[Out](),
		New: func(with ...runtime.Option) (func(context.Context, []byte) error, error) {
			w, err := start(append(with, o...)...)
			if err != nil {
				return nil, err
			}
			return func(ctx context.Context, input []byte) error {
				var in In
				if err := value.Decode(input, &in); err != nil {
					return err
				}
				_, err := w.Run(ctx, in)
				return err
			}, nil
		},
		Canon: func(input []byte) ([]byte, error) {
			var in In
			if err := value.Decode(withDefaults(info, input), &in); err != nil {
				return nil, err
			}
			return value.AppendCanonical(nil, in)
		},
		Output: func(output []byte) error {
			var out Out
			return value.Decode(output, &out)
		},
	}
}

// withDefaults adds the inputs that are not there and have a default, as the command line does.
func withDefaults(info *flow.Info, input []byte) []byte {
	if !slices.ContainsFunc(info.Input, func(f flow.Field) bool { return f.Default != "" }) {
		return input
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(input, &given) != nil || given == nil {
		return input // which is refused
	}
	for i := range info.Input {
		f := &info.Input[i]
		if _, there := given[f.Name]; there || f.Default == "" {
			continue
		}
		name, err := json.Marshal(f.Name)
		if err != nil {
			continue
		}
		comma := ","
		if len(given) == 0 {
			comma = ""
		}
		given[f.Name] = nil
		input = slices.Concat(bytes.TrimSuffix(bytes.TrimSpace(input), []byte("}")), []byte(comma), name, []byte(":"+f.Default+"}"))
	}
	return input
}

// Command is the verb serve or mcp with its flags. What is zero has a default.
type Command struct {
	Workflows []*Workflow
	Runs      *runs.Folder
	With      []runtime.Option
	Log       io.Writer // of JSON

	Addr, Admin, Tokens        string
	Cert, Key, ClientCA        string // files of TLS
	Origins                    []string
	Replica                    string
	Replicas                   map[string]string
	Public, Leave, ExposeCalls bool
	AdminOnMain                bool // probes and metrics are on Addr
	MaxRuns, MaxQueue          int
	MaxTenant                  int
	MaxRate                    int
	MaxStreams, MaxReader      int
	MaxAnswer                  int64
	MaxBody                    int64
	MaxWait, Drain, DrainDelay time.Duration

	// Those of mcp.
	Wait                  time.Duration                // of a call
	WithRequest, ModelMay bool                         // a request that is cancelled cancels its run; a model may answer questions
	Async                 bool                         // all workflows can be begun without waiting
	Respond               func(workflow string) string // the command that answers a question, up to the run
	Graph                 func(*flow.Info) string      // draws a workflow
}

// Serve is the verb in programs that link it: it answers requests until ctx is done, and ends what has begun. Nil in others.
var Serve func(ctx context.Context, c *Command) error

// MCP is the verb mcp in programs that link it, for one client on standard input and output.
var MCP func(ctx context.Context, c *Command) error
