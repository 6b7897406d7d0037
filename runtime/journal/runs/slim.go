package runs

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/internal/jsonscan"
	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// slim is a line about a call without what is large.
type slim struct {
	kind                  string
	key, callID           string
	attempt               int
	tool, effects, code   string
	cancelled             string
	start, end, limit     time.Duration
	tokens                int64
	cost                  usage.USD
	cached, denied, model bool
	more                  bool // it has something else than input and output that a Call lacks
}

// texts keeps the strings of lines: those that many calls share once, others in few large pieces.
type texts struct {
	shared map[string]string
	piece  *strings.Builder
}

const (
	maxShared  = 4096
	firstPiece = 256 // bytes
	pieceSize  = 32 << 10
)

// share is for names that many calls have.
func (t *texts) share(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	s, ok := t.shared[string(b)]
	if !ok {
		if t.shared == nil || len(t.shared) >= maxShared { // they are not shared after all
			t.shared = map[string]string{}
		}
		s = string(b)
		t.shared[s] = s
	}
	return s
}

func (t *texts) own(b []byte) string {
	if len(b) > pieceSize/8 {
		return string(b)
	}
	if t.piece == nil || t.piece.Cap()-t.piece.Len() < len(b) {
		size := firstPiece // a short journal needs no more
		if t.piece != nil {
			size = min(2*t.piece.Cap(), pieceSize)
		}
		t.piece = new(strings.Builder)
		t.piece.Grow(max(size, len(b)))
	}
	at := t.piece.Len()
	t.piece.Write(b)
	return t.piece.String()[at:]
}

// line reads a line about a call, whole or not at all. It holds it to what a journal may have, but for what is in the values.
func (l *slim) line(line []byte, t *texts) error {
	if l.scan(line, t) {
		return nil
	}
	if err := value.Check(line); err != nil {
		return err
	}
	var r struct {
		Kind string `json:"kind"`
		journal.Record
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		return plain.Misfit(err)
	}
	*l = slim{kind: r.Kind, key: r.Key, callID: r.CallID, attempt: r.Attempt, tool: r.Tool, effects: r.Effects, cancelled: r.Cancelled,
		start: r.Start, end: r.End, limit: r.Limit, tokens: r.Tokens, cost: r.CostUSD, cached: r.Cached, denied: r.Denied, model: r.Metered,
		more: r.Node != "" || r.Broken != "" || r.Stack != "" || r.Truncated || r.Attachments != nil || r.Sandbox != "" || r.Abandoned || r.Logs != "" || r.Error != nil}
	if r.Error != nil {
		l.code = string(r.Error.Code)
	}
	return nil
}

// scan reads a line as this program writes it: without white space, and with plain names. It is false for all others, right or wrong.
func (l *slim) scan(line []byte, t *texts) bool {
	*l = slim{}
	seen := uint32(0)
	return jsonscan.Object(line, func(name, v []byte) bool {
		n := field(name)
		if n < 0 || seen&(1<<n) != 0 {
			return false
		}
		seen |= 1 << n
		return l.set(n, v, t)
	})
}

// The fields of a line about a call.
const (
	fieldKind = iota
	fieldKey
	fieldAttempt
	fieldTool
	fieldEffects
	fieldCallID
	fieldInput
	fieldOutput
	fieldError
	fieldCancelled
	fieldTokens
	fieldCost
	fieldCached
	fieldDenied
	fieldMetered
	fieldStart
	fieldEnd
	fieldLimit
	fieldMore // and the others
)

var fields = map[string]int{"kind": fieldKind, "key": fieldKey, "attempt": fieldAttempt, "tool": fieldTool, "effects": fieldEffects, "call_id": fieldCallID,
	"input": fieldInput, "output": fieldOutput, "error": fieldError, "cancelled": fieldCancelled, "tokens": fieldTokens, "cost_usd": fieldCost,
	"cached": fieldCached, "denied": fieldDenied, "metered": fieldMetered, "start_ns": fieldStart, "end_ns": fieldEnd, "limit_ns": fieldLimit,
	"node": fieldMore, "broken": fieldMore + 1, "stack": fieldMore + 2, "truncated": fieldMore + 3, "attachments": fieldMore + 4,
	"sandbox": fieldMore + 5, "abandoned": fieldMore + 6, "logs": fieldMore + 7}

func field(name []byte) int {
	if n, ok := fields[string(name)]; ok {
		return n
	}
	return -1
}

// set takes in a field, whose value is known to be JSON.
func (l *slim) set(n int, v []byte, t *texts) (ok bool) {
	ok = true
	whole := func(to *int64) { *to, ok = jsonscan.Integer(v) }
	name := func(to *string, keep func([]byte) string) {
		var b []byte
		if b, ok = jsonscan.Plain(v); ok {
			*to = keep(b)
		}
	}
	flag := func(to *bool) { *to = string(v) == "true"; ok = *to || string(v) == "false" }
	switch n {
	case fieldKind:
		name(&l.kind, t.share)
	case fieldKey:
		name(&l.key, t.own)
	case fieldCallID:
		name(&l.callID, t.own)
	case fieldTool:
		name(&l.tool, t.share)
	case fieldEffects:
		name(&l.effects, t.share)
	case fieldCancelled:
		name(&l.cancelled, t.share)
	case fieldAttempt:
		var a int64
		whole(&a)
		l.attempt = int(a)
	case fieldTokens:
		whole(&l.tokens)
	case fieldStart:
		whole((*int64)(&l.start))
	case fieldEnd:
		whole((*int64)(&l.end))
	case fieldLimit:
		whole((*int64)(&l.limit))
	case fieldCost:
		ok = json.Unmarshal(v, &l.cost) == nil
	case fieldCached:
		flag(&l.cached)
	case fieldDenied:
		flag(&l.denied)
	case fieldMetered:
		flag(&l.model)
	case fieldError:
		code, found := bytes.CutPrefix(v, []byte(`{"code":"`))
		end := bytes.IndexByte(code, '"')
		if ok = found && end > 0 && bytes.IndexByte(code[:end], '\\') < 0; ok {
			l.code, l.more = t.share(code[:end]), true
		}
	case fieldInput, fieldOutput:
	default:
		l.more = true
	}
	return ok
}
