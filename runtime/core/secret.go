package core

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Owner says whose a secret is: what Agent Tools 5.2 calls its scope.
type Owner string

// The owners in the order in which they are asked.
const (
	User      Owner = "user"
	Workspace Owner = "workspace"
	Org       Owner = "org" // the organisation
)

// Owners are all owners in their order.
func Owners() []Owner { return []Owner{User, Workspace, Org} }

// allOwners is made once: a query is made for every call.
var allOwners = Owners()

// SecretQuery asks for a secret.
type SecretQuery struct {
	Name   string
	Tenant string  // whom the run is for; empty: nobody in particular
	Owners []Owner // those that may be asked, in their order; not to be changed
	// Starting says that no run has begun: whether there is a secret is all that counts. A source whose answer depends on
	// the tenant may then give an empty value.
	Starting bool
}

// SecretLookup finds a secret and says whose it is. It must be safe for concurrent use, and quick: it is asked before
// every call of a tool that has secrets, so that a secret may change while a program runs. Package secret has sources.
type SecretLookup func(SecretQuery) (value string, of Owner, ok bool)

// WithSecretLookup replaces the environment as the source of secrets.
func WithSecretLookup(f SecretLookup) Option { return func(rt *Runtime) { rt.lookup = f } }

// WithSecrets replaces the environment as the source of secrets, by one that knows no owners. It must be safe for
// concurrent use.
func WithSecrets(lookup func(name string) (string, bool)) Option {
	return WithSecretLookup(func(q SecretQuery) (string, Owner, bool) {
		v, ok := lookup(q.Name)
		return v, "", ok && v != ""
	})
}

func environment(q SecretQuery) (string, Owner, bool) {
	v := os.Getenv(q.Name)
	return v, "", v != ""
}

// query asks for one of the workflow's secrets, of the owners that it names.
func (rt *Runtime) query(name, tenant string) SecretQuery {
	q := SecretQuery{Name: name, Tenant: tenant, Owners: allOwners}
	if from, ok := rt.info.SecretOwners[name]; ok {
		q.Owners = slices.DeleteFunc(Owners(), func(s Owner) bool { return !slices.Contains(from, s) })
	}
	return q
}

// findSecrets looks up the workflow's secrets, which a replay does not need. Those that are there are taken out of
// everything from the beginning.
func (rt *Runtime) findSecrets() error {
	var missing, short []string
	for _, name := range rt.info.Secrets {
		q := rt.query(name, rt.tenant)
		q.Starting = true
		switch v, _, ok := rt.lookup(q); {
		case !ok:
			missing = append(missing, name+ofOwners(q.Owners))
		case v == "":
		case len(v) < redact.MinSecret && rt.info.ShortKeys: // the key of a stand-in
		case len(v) < redact.MinSecret:
			short = append(short, name)
		default:
			rt.learn(v)
		}
	}
	rt.carried = rt.carried || len(rt.info.Secrets) > 0
	if x, ok := rt.engine.(Executor); ok && !x.Executes() || rt.fakes != nil {
		return nil
	}
	if missing != nil {
		return &missingSecrets{rt.info.Name, missing}
	}
	if short != nil {
		return fmt.Errorf("workflow %s: the secret %s has fewer than %d bytes, too few to keep it secret", rt.info.Name, strings.Join(short, ", "), redact.MinSecret)
	}
	return nil
}

// missingSecrets is the error of a workflow that cannot begin.
type missingSecrets struct {
	workflow string
	names    []string
}

func (e *missingSecrets) Error() string {
	what, are := "secret ", "is"
	if len(e.names) > 1 {
		what, are = "secrets ", "are"
	}
	return "workflow " + e.workflow + " needs the " + what + strings.Join(e.names, ", ") + ", which " + are + " not set"
}

// MissingSecrets are the names, for command lines that say what to do.
func (e *missingSecrets) MissingSecrets() []string { return e.names }

// ofOwners names the owners when they are not all.
func ofOwners(owners []Owner) string {
	if len(owners) == len(Owners()) {
		return ""
	}
	if len(owners) == 0 {
		return " (which nobody may have)"
	}
	words := make([]string, len(owners))
	for i, s := range owners {
		words[i] = string(s)
	}
	return " (of " + strings.Join(words, " or ") + ")"
}

// secret looks a secret up for a call. With short it may have fewer bytes than can be taken out of texts.
func (r *Run) secret(name string, short bool) (string, *value.ToolError) {
	rt := r.state.rt
	q := rt.query(name, r.state.tenant)
	v, at, ok := rt.lookup(q)
	if !ok || v == "" {
		return "", value.Errorf(value.AuthRequired, "secret %s%s is not set", name, ofOwners(q.Owners))
	}
	if len(v) < redact.MinSecret {
		if short {
			return v, nil
		}
		return "", value.Errorf(value.AuthRequired, "secret %s has fewer than %d bytes, too few to keep it secret", name, redact.MinSecret)
	}
	rt.learn(v)
	if at == Org && len(q.Owners) > 1 {
		r.warnBroad(name)
	}
	return v, nil
}

// warnBroad tells observers once for each run and secret that it is that of the entire organisation (Agent Tools 5.2).
func (r *Run) warnBroad(name string) {
	if !r.observed() {
		return
	}
	if _, told := r.state.warned.LoadOrStore("secret "+name, true); !told {
		r.emit(Event{Kind: Warning, Time: r.Now(), Message: "secret " + name + " is the one of the entire organisation (org)"})
	}
}
