package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// usageLine is one line of the file of --usage: an attempt of a call that was made.
type usageLine struct {
	Run      string       `json:"run"`
	Workflow string       `json:"workflow"`
	Tenant   string       `json:"tenant,omitempty"`
	Node     string       `json:"node"`
	Key      string       `json:"key"`
	CallID   string       `json:"call_id"`
	Tool     string       `json:"tool"`
	Effects  string       `json:"effects"`
	Attempt  int          `json:"attempt"`
	Start    string       `json:"start"`
	Seconds  float64      `json:"seconds"`
	Cached   bool         `json:"cached,omitempty"`
	Error    value.Code   `json:"error,omitempty"`
	Model    string       `json:"model,omitempty"`
	Tokens   *usage.Usage `json:"usage,omitempty"`
	CostUSD  *usage.USD   `json:"cost_usd,omitempty"` // of a tool that is no model
}

// usageFile is a runtime.UsageSink that appends lines to a file. Lines of several programs do not mix.
type usageFile struct {
	workflow string

	mu   sync.Mutex
	file *os.File
	err  error // the first that writing had
}

func openUsage(name, workflow string) (*usageFile, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &usageFile{workflow: workflow, file: f}, nil
}

// Used implements runtime.UsageSink.
func (u *usageFile) Used(a *runtime.Attempt) {
	l := usageLine{Run: a.Run.ID(), Workflow: cmp.Or(u.workflow, a.Run.Info().Name), Tenant: a.Tenant, Node: a.Node.ID, Key: a.Key, CallID: a.CallID(), Tool: a.Tool,
		Effects: a.Effects.String(), Attempt: a.Number, Start: a.Start.UTC().Format(time.RFC3339Nano), Seconds: a.End.Sub(a.Admitted).Seconds(),
		Cached: a.Cached, Model: a.Model, Tokens: a.Usage}
	if a.Cost != 0 {
		l.CostUSD = &a.Cost
	}
	if a.Err != nil {
		l.Error = value.ToolErrorOf(a.Err).Code
	}
	text, err := json.Marshal(l)
	u.mu.Lock()
	defer u.mu.Unlock()
	if err == nil {
		_, err = u.file.Write(append(text, '\n'))
	}
	if u.err == nil {
		u.err = err
	}
}

// close ends the file and returns what went wrong with it.
func (u *usageFile) close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return errors.Join(u.err, u.file.Close())
}
