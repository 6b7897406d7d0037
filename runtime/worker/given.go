package worker

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
)

// given is what a tool sees of its call beside the arguments (Agent Tools 3.3, ToolContext).
type given struct {
	Auth           map[string]string `json:"auth,omitempty"`
	CallID         string            `json:"call_id,omitempty"`
	TenantID       string            `json:"tenant_id,omitempty"`
	IdempotencyKey string            `json:"idempotency_key,omitempty"`
}

// Given returns the context of the call that runs under ctx as a JSON object for the tool: auth, call_id, tenant_id,
// idempotency_key, each as far as there is one. It is nil when there is none, as in calls that nothing records or gates.
func Given(ctx context.Context) ([]byte, error) {
	i := runtime.ToolContext(ctx)
	g := given{Auth: runtime.Auth(ctx), CallID: i.CallID(), TenantID: i.TenantID(), IdempotencyKey: i.IdempotencyKey()}
	if g.Auth == nil && g.CallID == "" && g.TenantID == "" && g.IdempotencyKey == "" {
		return nil, nil
	}
	return json.Marshal(g)
}

// Holder returns what the call that runs under ctx must have in common with others to share a worker with them, besides
// its code: the names of its secrets, which belong into the key of a pool, and a digest of their values and its tenant,
// which is Call.Holder. Both are empty for a call with neither.
func Holder(ctx context.Context) (secrets, holder string) {
	tenant, auth := runtime.ToolContext(ctx).TenantID(), runtime.Auth(ctx)
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
