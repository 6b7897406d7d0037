package core

import (
	"context"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// caller is the op as the context of its tool.
type caller interface {
	context.Context
	Op
	place() (*Run, *toolOptions)
	idempotencyKey() string
}

type (
	callKey   struct{}
	secretKey struct{}
)

// callOf returns the call of the running tool, nil when it went straight to the tool.
func callOf(ctx context.Context) caller {
	c, _ := ctx.Value(callKey{}).(caller)
	return c
}

// secrets is the context of a tool that asked for secrets. It stands apart from the op, which engines keep: what is in
// it must not outlive the call. It is read-only once the tool runs.
type secrets struct {
	context.Context
	names  []string
	values []string  // of names, in the same order
	few    [2]string // where values stands when they are few
}

// Value returns the secrets themselves for secretKey.
func (s *secrets) Value(key any) any {
	if key == (secretKey{}) {
		return s
	}
	return s.Context.Value(key)
}

func secretsOf(ctx context.Context) *secrets {
	s, _ := ctx.Value(secretKey{}).(*secrets)
	return s
}

// Secret returns one of the secrets the running tool asked for with Secrets, and whether it is one of them.
func Secret(ctx context.Context, name string) (string, bool) {
	if s := secretsOf(ctx); s != nil {
		for i, n := range s.names {
			if n == name {
				return s.values[i], true
			}
		}
	}
	return "", false
}

// Auth returns the secrets the running tool asked for with Secrets, by name; nil when it asked for none.
// A tool that wants one of them asks Secret, which makes no map.
func Auth(ctx context.Context) map[string]string {
	s := secretsOf(ctx)
	if s == nil {
		return nil
	}
	m := make(map[string]string, len(s.names))
	for i, name := range s.names {
		m[name] = s.values[i]
	}
	return m
}

// Invocation is what a running tool may ask about its call (Agent Tools 3.3, ToolContext). A call that nothing records,
// bounds or gates goes straight to the tool: all that its Invocation tells is empty.
// It is safe for concurrent use while the tool runs, and must not be used afterwards.
type Invocation struct {
	ctx  context.Context
	call caller // may be nil
}

// ToolContext returns the invocation of the tool that runs under ctx.
func ToolContext(ctx context.Context) Invocation { return Invocation{ctx, callOf(ctx)} }

// RunID returns the id of the run, "" for a call that goes straight to its tool.
func (i Invocation) RunID() string {
	if i.call == nil {
		return ""
	}
	r, _ := i.call.place()
	return r.ID()
}

// CallID returns the id of the call (Agent Tools 6.1), the same for all of its attempts.
func (i Invocation) CallID() string {
	if i.call == nil {
		return ""
	}
	h := i.call.Head()
	in, err := i.call.EncodeIn(nil)
	if err != nil {
		return "" // the journal says what is wrong with the input
	}
	return CallID(h.Tool, in, h.Key())
}

// Key returns the key of the call, by which its records are found; "" for a call that nothing records.
func (i Invocation) Key() string {
	if i.call == nil {
		return ""
	}
	return i.call.Head().Key()
}

// Timeout returns how long the attempt may take, or the node with all its attempts when that ends first; 0 for as long as it likes.
func (i Invocation) Timeout() time.Duration {
	if i.call == nil {
		return 0
	}
	r, _ := i.call.place()
	return r.Limit(i.call.Head()).Of
}

// Traceparent returns the header with which other services continue the trace of the run (W3C Trace Context), "" when the
// run is not traced. HTTP tools send it.
func (i Invocation) Traceparent() string {
	if i.call == nil {
		return ""
	}
	if b := i.call.Head().Metadata; b != nil {
		return b.parent
	}
	return ""
}

// Attempt returns the number of the attempt, from 1.
func (i Invocation) Attempt() int {
	if i.call == nil {
		return 1
	}
	return int(i.call.Head().Attempt)
}

// TenantID returns whom the run is for, see WithTenant.
func (i Invocation) TenantID() string {
	if i.call == nil {
		return ""
	}
	r, _ := i.call.place()
	return r.state.tenant
}

// Auth returns a secret that the tool asked for with Secrets, "" when it is none of them.
func (i Invocation) Auth(name string) string {
	v, _ := Secret(i.ctx, name)
	return v
}

// IdempotencyKey returns the key by which a service can distinguish a repetition from a new call: the same for all
// attempts of a call, and for its repetition when a crashed run is resumed. It is empty unless the tool declares
// Idempotent or IdempotencyKey.
func (i Invocation) IdempotencyKey() string {
	if i.call == nil {
		return ""
	}
	if _, opts := i.call.place(); !opts.idempotent {
		return ""
	}
	if key := i.call.idempotencyKey(); key != "" {
		return key
	}
	return i.CallID()
}

// MaxOutput returns the bound of the output's JSON in bytes that the tool declares with MaxOutput, 0 when it declares none.
func (i Invocation) MaxOutput() int {
	if i.call == nil {
		return 0
	}
	_, opts := i.call.place()
	return opts.maxOutput
}

// Sandbox returns the least isolation that the call needs: the tool's own, or that of the policy.
func (i Invocation) Sandbox() Tier {
	if i.call == nil {
		return Native
	}
	return required(i.call.place())
}

const (
	maxAttachments = 100
	maxURL         = 4096
)

// Attach adds an attachment to the output of the running tool (Agent Tools 3.2). The kind is blob, image or table. A call
// has at most 100, with URLs of at most 4096 bytes. Attachments of unrecorded calls are lost.
func Attach(ctx context.Context, a Attachment) error {
	switch {
	case a.Kind != "blob" && a.Kind != "image" && a.Kind != "table":
		return value.Invalid("an attachment is a blob, an image or a table, not %q", value.Clip(a.Kind, 40))
	case a.URL == "" || len(a.URL) > maxURL:
		return value.Invalid("the URL of an attachment has 1 to %d bytes, not %d", maxURL, len(a.URL))
	case len(a.ContentType) > 200:
		return value.Invalid("the content type of an attachment has at most 200 bytes, not %d", len(a.ContentType))
	case a.Bytes < 0:
		return value.Invalid("an attachment has a negative size")
	}
	c := callOf(ctx)
	if c == nil {
		return nil
	}
	run, _ := c.place()
	secrets := run.state.rt.redactor.Load()
	a.URL, a.ContentType = secrets.Text(a.URL), secrets.Text(a.ContentType)
	attaching.Lock()
	defer attaching.Unlock()
	b := c.Head().metadata()
	if len(b.Attachments) >= maxAttachments {
		return value.Errorf(value.PolicyDenied, "a call has at most %d attachments", maxAttachments)
	}
	b.Attachments = append(b.Attachments, a)
	return nil
}

// attaching guards what tools put next to their envelopes. It is one for all calls: few tools attach anything, and a
// recorded call must stay small.
var attaching sync.Mutex

// authorize is the gate "secrets": it gives the tool the secrets it asked for, and no others.
func (r *Run) authorize(ctx context.Context, t *toolOptions) (context.Context, error) {
	if len(t.secrets) == 0 {
		return ctx, nil
	}
	s := &secrets{Context: ctx}
	return s, r.lookUp(s, t)
}

// lookUp fills s with the secrets of a tool.
func (r *Run) lookUp(s *secrets, t *toolOptions) error {
	s.names, s.values = t.secrets, s.few[:0]
	for _, name := range t.secrets {
		v, te := r.secret(name, t.shortKeys || r.state.rt.info.ShortKeys)
		if te != nil {
			return te
		}
		s.values = append(s.values, v)
	}
	return nil
}
