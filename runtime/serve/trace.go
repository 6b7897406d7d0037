package serve

import (
	"log/slog"
	"net/http"
	"strings"
)

// traceOf is the trace that a request is part of, by its header (W3C Trace Context): 32 hex digits, "" when there is none. The
// client chooses it, so it gets into logs only in that form.
func traceOf(r *http.Request) string {
	text := r.Header.Values("Traceparent")
	if len(text) != 1 {
		return ""
	}
	version, rest, _ := strings.Cut(text[0], "-")
	trace, rest, _ := strings.Cut(rest, "-")
	span, flags, _ := strings.Cut(rest, "-")
	if version != "00" { // later versions may have more fields
		flags, _, _ = strings.Cut(flags, "-")
	}
	if !hexes(version, 2) || version == "ff" || !hexes(trace, 32) || !hexes(span, 16) || !hexes(flags, 2) ||
		strings.Trim(trace, "0") == "" || strings.Trim(span, "0") == "" {
		return ""
	}
	return trace
}

func hexes(text string, n int) bool {
	return len(text) == n && strings.Trim(text, "0123456789abcdef") == ""
}

// traced adds the trace to what is logged, if there is one.
func traced(log *slog.Logger, trace string) *slog.Logger {
	if trace == "" {
		return log
	}
	return log.With("trace", trace)
}
