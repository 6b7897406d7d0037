package journal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/internal/jsonscan"
)

// decodeCall reads a line about a call, which is known to be JSON without duplicate keys.
func decodeCall(line []byte, kind string) (Record, error) {
	l := callLine{}
	if !l.Record.scan(line) {
		l = callLine{}
		if err := strict(line, &l); err != nil {
			return l.Record, err
		}
	}
	if l.Key == "" || l.Attempt < 1 || l.Attempt > math.MaxInt32 {
		return l.Record, errors.New("a record needs a key and an attempt")
	}
	l.Done = kind == KindEnd
	return l.Record, nil
}

// scan reads a line as EncodeRecord writes those of most calls. It is false for all others, right or wrong; the record is not to be used then.
func (r *Record) scan(line []byte) bool {
	return jsonscan.Object(line, func(name, v []byte) bool {
		var n int64
		ok := true
		switch string(name) {
		case "kind":
		case "key":
			r.Key, ok = plainText(v)
		case "attempt":
			n, ok = jsonscan.Integer(v)
			r.Attempt = int(n)
		case "tool":
			r.Tool, ok = plainText(v)
		case "effects":
			r.Effects, ok = plainText(v)
		case "call_id":
			r.CallID, ok = plainText(v)
		case "input":
			r.Input = bytes.Clone(v)
		case "output":
			r.Output = bytes.Clone(v)
		case "cancelled":
			r.Cancelled, ok = plainText(v)
		case "cost_usd":
			ok = json.Unmarshal(v, &r.CostUSD) == nil
		case "tokens":
			r.Tokens, ok = jsonscan.Integer(v)
		case "metered":
			r.Metered, ok = true, string(v) == "true"
		case "cached":
			r.Cached, ok = true, string(v) == "true"
		case "start_ns":
			n, ok = jsonscan.Integer(v)
			r.Start = time.Duration(n)
		case "end_ns":
			n, ok = jsonscan.Integer(v)
			r.End = time.Duration(n)
		case "limit_ns":
			n, ok = jsonscan.Integer(v)
			r.Limit = time.Duration(n)
		default:
			return false
		}
		return ok
	})
}

func plainText(v []byte) (string, bool) {
	b, ok := jsonscan.Plain(v)
	return string(b), ok
}

// ends completes the record of an end with its intent.
func (r *Record) ends(intent Record) {
	r.Tool, r.Effects, r.CallID, r.Input = intent.Tool, intent.Effects, intent.CallID, intent.Input
	r.Start, r.Limit, r.Broken = intent.Start, intent.Limit, cmp.Or(intent.Broken, r.Broken)
}
