package core

import (
	"fmt"
	"testing"
)

// A runtime remembers the secrets that it has learnt last.
func TestKnownSecretsAreBounded(t *testing.T) {
	rt := &Runtime{}
	for i := range maxKnown - 1 {
		rt.known = append(rt.known, fmt.Sprintf("secret-%04d", i))
	}
	for i, want := range []string{"secret-0000", "secret-0001", "secret-0002"} {
		rt.learn(fmt.Sprint("another-", i))
		if len(rt.known) != maxKnown || rt.known[0] != []string{"secret-0000", "secret-0001", "secret-0002"}[i] || !rt.redactor.Load().Found(want) {
			t.Errorf("%d secrets are known, the first is %s", len(rt.known), rt.known[0])
		}
	}
}
