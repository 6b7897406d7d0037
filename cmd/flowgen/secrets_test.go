package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/runtime/secret"
)

// TestCheckSecrets: a secret is looked for where its owners have theirs, and what is wrong is said with what helps.
func TestCheckSecrets(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"org/SHARED": "for all\n", "org/EMPTY": "", "env": "NEAR=own\n"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("FLOWGEN_TEST_SHARED", "somebody's") // by another name: not asked
	lookup := (&secret.Resolver{
		User: []secret.Source{secret.Env("")}, Workspace: []secret.Source{secret.File(filepath.Join(dir, "env"))},
		Org: []secret.Source{secret.Dir(filepath.Join(dir, "org"))},
	}).Lookup
	const env, dotenv, run = "the environment", "the file .env of this folder", "/run/secrets"
	tests := []struct {
		name string
		from []string
		want string
	}{
		{"NEAR", nil, ""},
		{"NEAR", []string{"user"}, `FG0906 secret "NEAR" is not set in ` + env + ` | set the variable NEAR before the program runs`},
		{"EMPTY", []string{"org", "workspace"}, `FG0906 secret "EMPTY" is not set in ` + dotenv + `, or in ` + run + ` | write the line EMPTY=... to .env before the program runs`},
		{"SHARED", []string{"org"}, ""},
		{"SHARED", []string{"user", "org"}, `FG0907 secret "SHARED" is the one of the entire organisation, from ` + run + ` | set the variable SHARED to use one of your own, or declare ` + "`SHARED: {from: [org]}`"},
		{"GONE", []string{"org"}, `FG0906 secret "GONE" is not set in ` + run + ` | put it into the file /run/secrets/GONE before the program runs`},
	}
	for _, test := range tests {
		var got string
		if d, wrong := checkSecret(&ir.Secret{Name: ir.Ident{Name: test.name}, From: test.from}, lookup); wrong {
			got = string(d.Code) + " " + d.Message + " | " + d.Help
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s from %v: %s", test.name, test.from, diff)
		}
	}
}
