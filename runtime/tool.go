package runtime

import "context"

// Effects says what a call does to the world outside the run.
type Effects uint8

// The effects, from harmless to unknown. From Writes on a call in flight is cancelled only with the whole run.
const (
	None     Effects = iota // pure
	Reads                   // reads the world
	Writes                  // changes the world
	External                // anything
)

var effectNames = [...]string{"none", "reads", "writes", "external"}

// String returns the word the workflow language uses.
func (e Effects) String() string {
	if int(e) < len(effectNames) {
		return effectNames[e]
	}
	return effectNames[External]
}

// Tool is an ordinary typed function bound to its name, effects and checks. It is read-only and safe for concurrent use.
type Tool[In, Out any] struct {
	name     string
	effects  Effects
	gated    bool
	fn       func(context.Context, In) (Out, error)
	checkIn  *check
	checkOut *check
	toolOptions
}

type toolOptions struct {
	description string
	secrets     []string
	maxOutput   int
}

// ToolOption configures Bind.
type ToolOption func(*toolOptions)

// Description sets the text that tells what the tool does.
func Description(text string) ToolOption { return func(o *toolOptions) { o.description = text } }

// Secrets names the secrets the tool reads with Secret or Auth. A missing one fails the call with AUTH_REQUIRED.
func Secrets(names ...string) ToolOption {
	return func(o *toolOptions) { o.secrets = append(o.secrets, names...) }
}

// MaxOutput bounds the output's JSON in bytes. A larger output fails the call with POLICY_DENIED.
func MaxOutput(bytes int) ToolOption { return func(o *toolOptions) { o.maxOutput = bytes } }

// Bind makes a tool of f. name is name@version. In and Out must survive a round trip through JSON: exported fields, no
// functions, channels or interfaces, text in valid UTF-8. f must not change its input and must be safe for concurrent
// use. It returns a *ToolError to choose the code; any other error becomes UNKNOWN. When its context is cancelled it
// should return the context's error soon.
func Bind[In, Out any](name string, e Effects, f func(context.Context, In) (Out, error), o ...ToolOption) *Tool[In, Out] {
	t := &Tool[In, Out]{name: name, effects: e, fn: f}
	for _, opt := range o {
		opt(&t.toolOptions)
	}
	t.checkIn, t.checkOut = checkFor[In](), checkFor[Out]()
	t.gated = t.checkIn != nil || t.checkOut != nil || t.secrets != nil || t.maxOutput > 0
	return t
}

// Name returns the name without the version.
func (t *Tool[In, Out]) Name() string { n, _ := SplitTool(t.name); return n }

// Version returns the version.
func (t *Tool[In, Out]) Version() string { _, v := SplitTool(t.name); return v }

// Effects returns what calls do to the world.
func (t *Tool[In, Out]) Effects() Effects { return t.effects }

// Description returns the text given to Bind.
func (t *Tool[In, Out]) Description() string { return t.description }
