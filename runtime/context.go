package runtime

import "context"

// callContext is the context a tool runs under when there is something it may ask about its call. It holds all of it,
// so that a call pays for one allocation however much is told. It is read-only once the tool runs, and no Op keeps it:
// what is in it must not outlive the call.
type callContext struct {
	context.Context
	names  []string  // the secrets the tool asked for
	values []string  // of them, in the same order
	few    [2]string // where values stands when they are few
}

type callKey struct{}

// Value returns the callContext itself for callKey.
func (c *callContext) Value(key any) any {
	if key == (callKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// callOf returns what the runtime tells the running tool, nil when there is nothing.
func callOf(ctx context.Context) *callContext {
	c, _ := ctx.Value(callKey{}).(*callContext)
	return c
}

// Secret returns one of the secrets the running tool asked for with Secrets, and whether it is one of them.
func Secret(ctx context.Context, name string) (string, bool) {
	if c := callOf(ctx); c != nil {
		for i, n := range c.names {
			if n == name {
				return c.values[i], true
			}
		}
	}
	return "", false
}

// Auth returns the secrets the running tool asked for with Secrets, by name; nil when it asked for none.
// A tool that wants one of them asks Secret, which makes no map.
func Auth(ctx context.Context) map[string]string {
	c := callOf(ctx)
	if c == nil || len(c.names) == 0 {
		return nil
	}
	m := make(map[string]string, len(c.names))
	for i, name := range c.names {
		m[name] = c.values[i]
	}
	return m
}

// authorize is gate 6: it gives the tool the secrets it asked for, and no others.
func (r *Run) authorize(ctx context.Context, names []string) (context.Context, *ToolError) {
	if len(names) == 0 {
		return ctx, nil
	}
	c := &callContext{Context: ctx, names: names}
	c.values = c.few[:0]
	for _, name := range names {
		v, ok := r.state.rt.secret(name)
		if !ok || v == "" {
			return ctx, Errorf(AuthRequired, "secret %s is not set", name)
		}
		c.values = append(c.values, v)
	}
	return c, nil
}
