package yamlgraph

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/yamlgraph/providers"
)

// What a provider takes from the environment is in what a model of it reads, and of all where the environment says whom to ask.
func TestReads(t *testing.T) {
	for _, p := range providers.All {
		v := reflect.ValueOf(p)
		for i := range v.NumField() {
			name, variable := v.Type().Field(i).Name, v.Field(i).String()
			if variable == "" || !strings.HasSuffix(name, "Env") && !strings.HasSuffix(name, "Key") {
				continue
			}
			open, named := reads(Choice{}, "no key"), reads(Choice{Provider: p.Name, Model: "m"}, p.Key)
			if !slices.Contains(open, variable) {
				t.Errorf("a model that the environment names does not read %s of %s: %v", variable, p.Name, open)
			}
			if want := name != "ModelEnv" && name != "Key"; slices.Contains(named, variable) != want {
				t.Errorf("a model with a name reads %s of %s: %v, expected %v", variable, p.Name, named, want)
			}
		}
	}
	if all := reads(Choice{}, ""); all[0] != "PROVIDER" {
		t.Errorf("a model that the environment names reads %v", all)
	}
}
