package journal

import (
	"encoding/json"
	"strconv"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// EncodeRecord is the line of an attempt: of its end when done, else of its intent. It is written by hand because it is
// written for every call; a test compares it with what package json makes of the same record.
func EncodeRecord(r Record, done bool) []byte {
	kind := KindIntent
	if done {
		kind = KindEnd
	}
	b := make([]byte, 0, 256+len(r.Input)+len(r.Output))
	b = append(b, `{"kind":"`...)
	b = append(b, kind...)
	b = append(b, `","key":`...)
	b = value.AppendQuoted(b, r.Key)
	b = append(b, `,"attempt":`...)
	b = strconv.AppendInt(b, int64(r.Attempt), 10)
	b = text(b, "tool", r.Tool)
	b = text(b, "effects", r.Effects)
	b = text(b, "call_id", r.CallID)
	b = raw(b, "input", r.Input)
	b = raw(b, "output", r.Output)
	if r.Error != nil {
		b = raw(b, "error", encode(r.Error))
	}
	b = text(b, "cancelled", r.Cancelled)
	b = text(b, "node", r.Node)
	b = text(b, "broken", r.Broken)
	b = text(b, "stack", r.Stack)
	b = yes(b, "cached", r.Cached)
	b = yes(b, "truncated", r.Truncated)
	if len(r.Attachments) > 0 {
		b = raw(b, "attachments", encode(r.Attachments))
	}
	b = text(b, "sandbox", r.Sandbox)
	if r.CostUSD != 0 {
		b = raw(b, "cost_usd", encode(r.CostUSD))
	}
	b = number(b, "tokens", r.Tokens)
	b = yes(b, "metered", r.Metered)
	b = yes(b, "denied", r.Denied)
	b = yes(b, "abandoned", r.Abandoned)
	b = text(b, "logs", r.Logs)
	b = number(b, "start_ns", int64(r.Start))
	b = number(b, "end_ns", int64(r.End))
	b = number(b, "limit_ns", int64(r.Limit))
	return append(b, '}')
}

// field begins a field that is not the first.
func field(b []byte, name string) []byte {
	b = append(b, `,"`...)
	b = append(b, name...)
	return append(b, `":`...)
}

func text(b []byte, name, s string) []byte {
	if s == "" {
		return b
	}
	return value.AppendQuoted(field(b, name), s)
}

func raw(b []byte, name string, v json.RawMessage) []byte {
	if len(v) == 0 {
		return b
	}
	return append(field(b, name), v...)
}

func yes(b []byte, name string, v bool) []byte {
	if !v {
		return b
	}
	return append(field(b, name), "true"...)
}

func number(b []byte, name string, n int64) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(field(b, name), n, 10)
}
