package worker

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Given returns what the tool of the call that runs under ctx sees besides its arguments (Agent Tools 3.3, ToolContext), as a
// JSON object: auth, call_id, tenant_id, idempotency_key, each as far as there is one. It is nil when there is none, as in
// calls that nothing records or gates.
func Given(ctx context.Context) []byte {
	i := tool.Context(ctx)
	b := make([]byte, 0, 96)
	if auth := tool.Auth(ctx); len(auth) > 0 {
		text, _ := json.Marshal(auth) // a map of texts always has JSON
		b = append(append(b, `,"auth":`...), text...)
	}
	for _, f := range [...]struct{ name, text string }{{`,"call_id":`, i.CallID()}, {`,"tenant_id":`, i.TenantID()}, {`,"idempotency_key":`, i.IdempotencyKey()}} {
		if f.text != "" {
			b = value.AppendQuoted(append(b, f.name...), f.text)
		}
	}
	if len(b) == 0 {
		return nil
	}
	b[0] = '{'
	return append(b, '}')
}

// Holder returns what the call that runs under ctx must have in common with others to share a worker with them, besides
// its code: the names of its secrets, which belong into the key of a pool, and a digest of their values and its tenant,
// which is Call.Holder. Both are empty for a call with neither.
func Holder(ctx context.Context) (secrets, holder string) {
	tenant, auth := tool.Context(ctx).TenantID(), tool.Auth(ctx)
	if len(auth) == 0 {
		return "", tenant
	}
	names := slices.Sorted(maps.Keys(auth))
	sum := sha256.New()
	for _, name := range names {
		v := sha256.Sum256([]byte(auth[name]))
		_, _ = sum.Write(v[:])
	}
	return strings.Join(names, "\x00"), tenant + "\x00" + string(sum.Sum(nil))
}
