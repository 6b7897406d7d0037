package core

import (
	"errors"
	"log/slog"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// WithLogger writes one record for each call that has ended, with run, workflow, key, node, tool, attempts, duration, and
// tokens and cost where they are known; and records for the beginning and end of runs, for attempts that are repeated, for
// questions and for warnings. Calls that failed are warnings, runs that failed errors; what a resumed run is answered from its
// journal has `replayed` and the level debug, so that no call and no cost is counted twice. A call that ends because its run
// stops to wait for answers has no record: it goes on when the run does. Each line that a program of a command, Python or
// JavaScript tool prints besides its result is a record "log" of the level debug, with the line in `text`. The stack of a panic, and the
// trace of a Python or JavaScript error, are in `stack`. Inputs, outputs and secrets are in none. The handler gets the context of the run. A nil logger costs nothing.
func WithLogger(l *slog.Logger) Option {
	if l == nil {
		return func(*Runtime) {}
	}
	return WithObserver(logger{l})
}

type logger struct{ *slog.Logger }

// Observe implements Observer.
func (l logger) Observe(e Event) {
	level, message := slog.LevelInfo, ""
	switch e.Kind {
	case RunStart:
		message = "run started"
	case RunEnd:
		level, message = ended(e.Err)
	case NodeEnd:
		if message = "call"; e.Err != nil {
			if e.Run.stoppedForPeople(e.Err) {
				return
			}
			level = slog.LevelWarn
		}
	case Retrying:
		level, message = slog.LevelWarn, "retry"
	case Warning:
		level, message = slog.LevelWarn, "warning"
	case Asking:
		message = "question"
	case Logged:
		l.printed(&e)
		return
	default:
		return
	}
	if e.Replayed {
		level = slog.LevelDebug
	}
	ctx := e.Run.Context()
	if l.Enabled(ctx, level) {
		l.LogAttrs(ctx, level, message, attrs(&e)...)
	}
}

// printed writes a record for each line that a program has printed.
func (l logger) printed(e *Event) {
	ctx := e.Run.Context()
	if !l.Enabled(ctx, slog.LevelDebug) {
		return
	}
	head := attrs(e)
	for line := range strings.Lines(e.Text) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			l.LogAttrs(ctx, slog.LevelDebug, "log", append(head[:len(head):len(head)], slog.String("text", line))...)
		}
	}
}

// ended is what a record says of a run that has ended.
func ended(err error) (slog.Level, string) {
	w := (*Waiting)(nil)
	switch {
	case err == nil:
		return slog.LevelInfo, "run succeeded"
	case errors.As(err, &w):
		return slog.LevelInfo, "run waits"
	case IsCancelled(err):
		return slog.LevelWarn, "run cancelled"
	}
	return slog.LevelError, "run failed"
}

func attrs(e *Event) []slog.Attr {
	all := append(make([]slog.Attr, 0, 16), slog.String("run", e.Run.ID()), slog.String("workflow", e.Run.Info().Name))
	if e.Node != nil {
		all = append(all, slog.String("key", e.Key), slog.String("node", e.Node.ID), slog.String("pos", e.Node.Pos))
	}
	if e.Tool != "" {
		all = append(all, slog.String("tool", e.Tool))
	}
	if e.Attempt > 0 {
		all = append(all, slog.Int("attempt", e.Attempt))
	}
	if e.Kind == NodeEnd || e.Kind == RunEnd || e.Kind == Retrying {
		all = append(all, slog.Duration("duration", e.Duration))
	}
	if e.Wait > 0 {
		all = append(all, slog.Duration("wait", e.Wait))
	}
	if e.Replayed || e.Cached {
		all = append(all, slog.Bool("replayed", e.Replayed), slog.Bool("cached", e.Cached))
	}
	cost := e.Cost
	if u := e.Usage; u != nil {
		all = append(all, slog.Int64("input_tokens", u.InputTokens), slog.Int64("output_tokens", u.OutputTokens))
		if u.CostUSD != nil {
			cost = *u.CostUSD
		}
	}
	if cost != 0 {
		all = append(all, slog.String("cost_usd", cost.String()))
	}
	if e.Message != "" {
		all = append(all, slog.String("message", e.Message))
	}
	return append(all, failure(e.Err)...)
}

func failure(err error) []slog.Attr {
	w := (*Waiting)(nil)
	if err == nil || errors.As(err, &w) {
		return nil
	}
	out := []slog.Attr{slog.String("error", err.Error())}
	if te := value.ToolErrorOf(err); te != nil {
		out = append(out, slog.String("code", string(te.Code)))
		if at, trace := TraceOf(te); trace != "" {
			out = append(out, slog.String("at", at), slog.String("stack", trace))
		}
	}
	if stack := StackOf(err); stack != "" {
		out = append(out, slog.String("stack", stack))
	}
	return out
}
