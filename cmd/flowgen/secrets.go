package main

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/secret"
)

// checkSecrets warns about the secrets of workflows that lookup does not find, or finds only with the organisation where
// somebody closer may have them (Agent Tools 5.2); each once for the place where it is declared.
func checkSecrets(programs []*compiled, lookup runtime.SecretLookup) []diag.Diagnostic {
	var out []diag.Diagnostic
	told := map[source.Span]bool{}
	var visit func(wf *ir.Workflow)
	visit = func(wf *ir.Workflow) {
		for _, s := range wf.Secrets {
			if told[s.Name.Span] {
				continue
			}
			told[s.Name.Span] = true
			if d, wrong := checkSecret(s, lookup); wrong {
				out = append(out, d)
			}
		}
		for _, f := range wf.Flows {
			visit(f)
		}
	}
	for _, c := range programs {
		if c.workflow != nil {
			visit(c.workflow)
		}
	}
	return out
}

func checkSecret(s *ir.Secret, lookup runtime.SecretLookup) (diag.Diagnostic, bool) {
	name := s.Name.Name
	owners := slices.DeleteFunc(runtime.Owners(), func(o runtime.Owner) bool {
		return len(s.From) > 0 && !slices.Contains(s.From, string(o))
	})
	var places, help []string
	for _, o := range owners {
		switch o {
		case runtime.User:
			places, help = append(places, "the environment"), append(help, "set the variable "+name)
		case runtime.Workspace:
			places, help = append(places, "the file .env of this folder"), append(help, "write the line "+name+"=... to .env")
		case runtime.Org:
			places, help = append(places, "/run/secrets"), append(help, "put it into the file /run/secrets/"+name)
		}
	}
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.SecretNotSet, Span: s.Name.Span}
	_, of, ok := lookup(runtime.SecretQuery{Name: name, Owners: owners, Starting: true})
	switch {
	case !ok:
		d.Message, d.Help = "secret \""+name+"\" is not set in "+strings.Join(places, ", or in "), help[0]+" before the program runs"
	case of == runtime.Org && len(owners) > 1:
		d.Code, d.Message, d.Help = diag.SecretBroad, "secret \""+name+"\" is the one of the entire organisation, from /run/secrets", help[0]+" to use one of your own, or declare `"+name+": {from: [org]}`"
	default:
		return d, false
	}
	return d, true
}

// secretFrom is the place where a run of wf finds a secret; the secret itself goes nowhere.
func secretFrom(wf *ir.Workflow, name string) string {
	owners := runtime.Owners()
	for _, s := range wf.Secrets {
		if s.Name.Name == name && len(s.From) > 0 {
			owners = slices.DeleteFunc(owners, func(o runtime.Owner) bool { return !slices.Contains(s.From, string(o)) })
		}
	}
	_, of, ok := secret.Default().Lookup(runtime.SecretQuery{Name: name, Owners: owners, Starting: true})
	switch {
	case !ok:
		return "not set"
	case of == runtime.Workspace:
		return ".env"
	case of == runtime.Org:
		return "/run/secrets"
	}
	return "environment"
}
