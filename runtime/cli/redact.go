package cli

import (
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/secret"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// secrets is where programs look for secrets: a main function that wants them from elsewhere calls the workflow itself.
var secrets = secret.Default().Lookup

// redactor takes the secrets of a run out of what the program writes. Until the run has begun it knows those that the
// workflow declares.
type redactor struct {
	early *redact.Redactor
	rt    *flow.Runtime
}

func redactorOf(info *flow.Info) *redactor {
	var values []string
	for _, name := range info.Secrets {
		if v, _, ok := secrets(runtime.SecretQuery{Name: name, Owners: runtime.Owners()}); ok {
			values = append(values, v)
		}
	}
	return &redactor{early: redact.New(values...)}
}

// follow is an option of the run, by which the redactor learns what the run does.
func (r *redactor) follow(rt *flow.Runtime) { r.rt = rt }

func (r *redactor) text(t string) string {
	if r.rt != nil {
		t = r.rt.Redactor().Text(t)
	}
	return r.early.Text(t)
}

// json is text for a result: it stays JSON.
func (r *redactor) json(b []byte) []byte {
	if r.text(string(b)) == string(b) {
		return b
	}
	v, err := value.Parse(b)
	if err == nil {
		if r.rt != nil {
			v = r.rt.Redactor().Value(v)
		}
		b, err = encode(r.early.Value(v))
	}
	if err != nil || r.text(string(b)) != string(b) { // a secret made of what JSON itself is made of
		b, _ = encode(redact.Redacted)
	}
	return b
}
