package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// Every flag that is offered is one of its verb, and reads a value exactly when completion thinks so.
func TestOfferedFlags(t *testing.T) {
	for _, verb := range verbs {
		for _, name := range verbFlags(verb) {
			if verb == "help" || verb == "completion" || name == "help" || name == "version" {
				continue // these read no flags, or end at once
			}
			c := newConsole(verb, "--"+name)
			c.run(echo)
			stderr := c.err.String()
			if strings.Contains(stderr, "unknown flag") {
				t.Errorf("%s --%s: %s", verb, name, stderr)
			}
			if needs := strings.Contains(stderr, "flag needs an argument"); needs == slices.Contains(switches, name) {
				t.Errorf("%s --%s takes a value: %t", verb, name, needs)
			}
		}
	}
}

// What is offered is bounded, and needs no quotes in any shell.
func TestOfferedNames(t *testing.T) {
	info := &flow.Info{Name: "many"}
	for i := range 2 * maxCompletions {
		info.Nodes = append(info.Nodes, &flow.Node{ID: fmt.Sprintf("n%d", i)})
	}
	for _, id := range []string{"a\x1b[31m", "a b", "a;b", "$(a)", "`a`", "a'b", "á", "a\nb", "good"} {
		info.Nodes = append(info.Nodes, &flow.Node{ID: id})
	}
	offered := func(word string) []string {
		c := newConsole()
		if code := c.complete(info, []string{"rerun", "latest", "--from", word}); code != ExitOK {
			t.Errorf("exit code %d", code)
		}
		return strings.Fields(c.out.String())
	}
	if n := len(offered("n")); n != maxCompletions {
		t.Errorf("%d names", n)
	}
	if got := slices.Concat(offered("a"), offered("$"), offered("g")); !slices.Equal(got, []string{"good"}) {
		t.Errorf("%q", got)
	}
}
