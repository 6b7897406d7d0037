package core

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// maxRunID bounds the id of a run, in bytes.
const maxRunID = 128

type runKey struct{}

// given is what a context says about the run that begins under it.
type given struct {
	id     string
	named  bool
	engine func(*Info) (Engine, error)
}

func givenIn(ctx context.Context) given {
	g, _ := ctx.Value(runKey{}).(given)
	return g
}

// WithRunID returns a context under which one run has this id: in events, log records, spans and errors, and as the name of
// its journal. An id has 1 to 128 letters, digits, "_" and "-", and begins with a letter or digit; "latest" is none. A run
// with another id, or with the id of a run that is recorded already, fails before it calls anything. Runs that a tool
// begins under the context of its call have ids of their own.
func WithRunID(ctx context.Context, id string) context.Context {
	g := givenIn(ctx)
	g.id, g.named = id, true
	return context.WithValue(ctx, runKey{}, g)
}

// EngineContext returns a context under which one run has the engine that f makes, in place of those of WithEngine and
// WithEngines.
func EngineContext(ctx context.Context, f func(*Info) (Engine, error)) context.Context {
	g := givenIn(ctx)
	g.engine = f
	return context.WithValue(ctx, runKey{}, g)
}

// CheckRunID says what is wrong with the id of a run. Such ids are safe as names of folders.
func CheckRunID(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("the id of a run cannot be empty")
	case len(id) > maxRunID:
		return fmt.Errorf("the id of a run has at most %d bytes, this one has %d", maxRunID, len(id))
	case id == "latest":
		return fmt.Errorf("the id of a run cannot be latest, which commands read as the latest run")
	}
	for i := range len(id) {
		if c := id[i]; !wordy(c) || i == 0 && (c == '_' || c == '-') {
			return fmt.Errorf("the id of a run has letters, digits, _ and -, and begins with a letter or digit: %.100q has not", id)
		}
	}
	return nil
}

func wordy(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// NewRunID makes an id for a run: the workflow's name, the time to the millisecond and a random number, so that ids sort by
// time and two runs that begin together differ.
func NewRunID(workflow string, now time.Time) string {
	number := fmt.Sprintf("%04x", rand.Uint32N(1<<16)) // no secret: ids of runs that begin together are to differ
	return RunIDPrefix(workflow) + strings.Replace(now.UTC().Format("20060102T150405.000"), ".", "", 1) + "-" + number
}

// RunIDPrefix is how the ids that NewRunID makes for a workflow begin.
func RunIDPrefix(workflow string) string {
	var b strings.Builder
	for i := range len(workflow) {
		switch c := workflow[i]; {
		case wordy(c):
			b.WriteByte(c)
		case !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	name := strings.Trim(b.String(), "-")
	return cmp.Or(name[:min(len(name), 80)], "run") + "-"
}

// ID returns the id of the run, the same for all of its branches: that of WithRunID, that of its journal, or a new one.
func (r *Run) ID() string {
	s := r.state.root.state
	s.naming.Do(func() {
		if s.id == "" {
			s.id = NewRunID(s.rt.info.Name, time.Now())
		}
	})
	return s.id
}

// identify settles which id the run has before its engine starts.
func (r *Run) identify(g given) error {
	if !g.named {
		return nil
	}
	if err := CheckRunID(g.id); err != nil {
		return err
	}
	r.state.id = g.id
	if x, ok := r.eng.(Identifier); ok {
		return x.Identify(g.id)
	}
	return nil
}
