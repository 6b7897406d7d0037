package mcpserver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowgen-dev/flowgen/runtime/serve"
)

// state is what a result with questions gives to the client, and what comes back with the answers.
type state struct {
	Run  string   `json:"run"`
	Asks []string `json:"asks"` // keys of the questions
}

// maxState bounds what comes back, in bytes.
const maxState = 64 << 10

var encoding = base64.RawURLEncoding.Strict() // a text has one form

// sealed writes the state of a run's questions. Its seal binds it to the client and to the tool, and needs the key of the folder of
// runs: each replica can check it, also after a restart, and no client can make one.
func (c *client) sealed(r *run, tool string) (string, error) {
	v := state{Run: r.ID}
	for _, q := range r.Questions {
		v.Asks = append(v.Asks, q.Key)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	seal, err := c.m.stateSeal(text, tool, &c.who)
	return encoding.EncodeToString(text) + "." + encoding.EncodeToString(seal), err
}

// returned reads the state that came with a call, nil when none did. The answers that came too are to its questions, and the run is
// the one that the call names.
func (c *client) returned(req *mcp.CallToolRequest, run ...string) (*state, error) {
	text, tool := req.Params.RequestState, req.Params.Name
	if text == "" && len(req.Params.InputResponses) == 0 {
		return nil, nil
	}
	forged := &problem{Code: "VALIDATION_ERROR", Detail: "invalid requestState: this tool did not give it to this client; call the tool without it, or run_result with the run"}
	body, seal, _ := strings.Cut(text, ".")
	if len(text) > maxState {
		return nil, forged
	}
	raw, err := encoding.DecodeString(body)
	if err != nil {
		return nil, forged
	}
	sum, err := encoding.DecodeString(seal)
	if err != nil {
		return nil, forged
	}
	want, err := c.m.stateSeal(raw, tool, &c.who)
	if err != nil {
		return nil, err
	}
	v := &state{}
	if !hmac.Equal(sum, want) || json.Unmarshal(raw, v) != nil || len(run) > 0 && run[0] != v.Run {
		return nil, forged
	}
	for key := range req.Params.InputResponses {
		if !slices.Contains(v.Asks, key) {
			return nil, &problem{Code: "VALIDATION_ERROR", Detail: fmt.Sprintf("the call answers %q, which was not asked", key)}
		}
	}
	return v, nil
}

// stateSeal is the seal of a state. The key is made with the first.
func (m *Server) stateSeal(text []byte, tool string, who *serve.Principal) ([]byte, error) {
	key, err := m.serve.Key()
	if err != nil {
		return nil, fmt.Errorf("answers cannot be authenticated: %w", err)
	}
	h := hmac.New(sha256.New, key)
	for _, part := range []string{"mcp state 1", string(text), tool, who.Tenant, who.Name} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return h.Sum(nil), nil
}
