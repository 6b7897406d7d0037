package worker

import (
	"context"
	"encoding/json"

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
