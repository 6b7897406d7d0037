// Package secret finds the secrets of workflows: in the environment, in .env
// files, and in directories of files as container platforms mount them.
//
// A Resolver asks for the user's secret first, then for the workspace's, then
// for the organisation's (Agent Tools 5.2). The `from` of a secret in the
// workflow leaves some of them out.
//
//	w, err := inbox.New(runtime.WithSecretLookup(secret.Default().Lookup))
//
// # Tenants
//
// In a run for a tenant (runtime.WithTenant, TenantContext) the user's and the
// workspace's secrets are those that a source holds for that tenant. What a
// source holds for nobody in particular belongs to the organisation then:
// environment and .env files know no tenants, and a Dir has a directory for
// each next to its own files. One tenant never gets the secret of another.
package secret

import (
	"os"
	"slices"

	"github.com/flowgen-dev/flowgen/runtime"
)

// Source holds secrets by tenant and name; tenant is empty for those of nobody
// in particular. An empty value is none. It is safe for concurrent use.
type Source interface {
	Secret(tenant, name string) (string, bool)
}

// Resolver asks sources owner by owner, and those of one owner in their order.
// It must not be changed once it is used.
type Resolver struct{ User, Workspace, Org []Source }

// Default returns the resolver that programs use unless they say otherwise: the
// user's secrets are in the environment, the workspace's in the file .env of
// the working directory, the organisation's in /run/secrets.
func Default() *Resolver {
	return &Resolver{User: []Source{Env("")}, Workspace: []Source{File(".env")}, Org: []Source{Dir("/run/secrets")}}
}

// Lookup is a runtime.SecretLookup.
func (r *Resolver) Lookup(q runtime.SecretQuery) (string, runtime.Owner, bool) {
	for _, owner := range runtime.Owners() {
		if !slices.Contains(q.Owners, owner) {
			continue
		}
		if v, ok := ask(r.of(owner), q.Tenant, q.Name); ok {
			return v, owner, true
		}
		if owner == runtime.Org && q.Tenant != "" { // what belongs to no tenant belongs to all
			if v, ok := ask(slices.Concat(r.User, r.Workspace, r.Org), "", q.Name); ok {
				return v, owner, true
			}
		}
	}
	return "", "", q.Starting && q.Tenant == "" && r.tenants(q.Owners)
}

func (r *Resolver) of(s runtime.Owner) []Source {
	switch s {
	case runtime.User:
		return r.User
	case runtime.Workspace:
		return r.Workspace
	}
	return r.Org
}

// tenants reports whether a source has secrets of tenants, about whom nothing
// can be said before a run is for one.
func (r *Resolver) tenants(owners []runtime.Owner) bool {
	for _, s := range owners {
		for _, src := range r.of(s) {
			if t, ok := src.(interface{ Tenants() bool }); ok && t.Tenants() {
				return true
			}
		}
	}
	return false
}

func ask(sources []Source, tenant, name string) (string, bool) {
	for _, s := range sources {
		if v, ok := s.Secret(tenant, name); ok && v != "" {
			return v, true
		}
	}
	return "", false
}

// Env is the environment of the program: the secret NAME is the variable
// prefix + NAME.
func Env(prefix string) Source { return env(prefix) }

type env string

func (e env) Secret(tenant, name string) (string, bool) {
	if tenant != "" {
		return "", false
	}
	return os.LookupEnv(string(e) + name)
}
