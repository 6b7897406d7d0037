package check_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/ir/diag"
)

// lookalikes are names that a person, or a careless comparison, could take for a.find@1.
var lookalikes = []string{
	"a.find@01", "a.find@001", "a.find@1.0", "a.find@1.0.0", "a.find@v1", "a.find@V1", "a.find@+1", "a.find@1+", "a.find@1-", "a.find@", "a.find@@1", "a.find@1@1",
	"A.find@1", "a.Find@1", "A.FIND@1", "a.find@0x1", "a.find@1 ", " a.find@1", "a.find @1", "a.find@ 1", "a. find@1", "a.find@1\t", "a.find@1\u00a0",
	"a.find@1\u200b", "a.\u200bfind@1", "\u200ba.find@1", "a.fi\u200cnd@1", "a.fi\u200dnd@1", "a.find\u2060@1", "\ufeffa.find@1", "a.fi\u00adnd@1",
	"\u0430.find@1", "a.f\u0456nd@1", "\uff41.find@1", "a.find@\uff11", "a.find@\u0661", "a.find\uff201", "a\uff0efind@1", "a\u2024find@1", "a.\ufb01nd@1",
	"a.find\u0301@1", "\u00e1.find@1", "a\u0301.find@1", "a.f\u00ednd@1", "a.fi\u0301nd@1",
	"a..find@1", "a.find.@1", ".a.find@1", "a/find@1", "a:find@1", "a-find@1", "a_find@1", "a\\.find@1", "a%2efind@1", "a.find%401",
	"find.a@1", "b.find@1", "a.find2@1", "a.fin@1", "a.find@2", "a.find@10", "case.a.find@1", "a.find@1.", "a.find;b.find@1", "a.find@1\u202e",
}

// TestConfusedNames: a name that only looks like that of a tool never reaches it, in a node, in `allow`, or as a second
// declaration (P32).
func TestConfusedNames(t *testing.T) {
	const tools = "tools:\n  a.find@1: {command: [echo, \"{{ s }}\"], in: {s: string}, effects: none, permissions: [text:up]}\n"
	uses := map[string]string{
		"node":  tools + "nodes:\n  x: {tool: %s, with: {s: a}}\noutput: {x: $x}\n",
		"allow": tools + "input: {n: string}\nnodes:\n  x: {tool_call: $input.n, with: {s: a}, allow: [%s]}\noutput: {x: $x}\n",
		"item":  tools + "nodes:\n  x: {map: [a], as: s, do: {tool: %s, with: {s: $s}}}\noutput: {x: $x}\n",
	}
	attempts := 0
	for _, name := range lookalikes {
		for where, text := range uses {
			attempts++
			p, list := checked(memory{mainFile: header + fmt.Sprintf(text, strconv.Quote(name))})
			if p != nil || !reported(list, diag.UnknownTool, diag.BadName, diag.WrongShape, diag.YAMLCharacter, diag.YAMLSyntax) {
				t.Errorf("%s: %+q: the program is %v, and reported is %v", where, name, p != nil, list)
			}
		}
	}
	if attempts < 180 {
		t.Errorf("only %d attempts", attempts)
	}
	for _, name := range []string{"a.find@1", "a.find"} { // and these do reach it
		for where, text := range uses {
			if p, list := checked(memory{mainFile: header + fmt.Sprintf(text, strconv.Quote(name))}); p == nil {
				t.Errorf("%s: %s: %v", where, name, list)
			}
		}
	}
}

// TestConfusedGrants: a grant that only looks like what a tool claims grants nothing, and can mostly not be written.
func TestConfusedGrants(t *testing.T) {
	const text = "policy: {grants: [%s]}\ntools:\n  a: {command: [echo, \"{{ s }}\"], in: {s: string}, effects: none, permissions: [%s]}\nnodes:\n  x: {tool: a, with: {s: a}}\noutput: {x: $x}\n"
	run := func(grant, claim string) (bool, []diag.Diagnostic) {
		p, list := checked(memory{mainFile: header + fmt.Sprintf(text, strconv.Quote(grant), strconv.Quote(claim))})
		return p != nil, list
	}
	wrong := []string{
		"Tools:search", "tools:Search", "TOOLS:SEARCH", "tools:search ", " tools:search", "tools: search", "tools :search", "tools:searc", "tools:search2", "tools:search:", "tool:search",
		"tools.search", "tools/search", "tools::search", ":tools:search", "tools", "tools:", "search", "*:search", "tools:s*h", "**", "t?ols:search", "tools:[s]earch", "tools:search\u200b",
		"tools:\u200bsearch", "tools:\u0455earch", "\uff54ools:search", "tools\uff1asearch", "tools:se\u0301arch", "tools:search\x00", "tools:search\n", "Tools:*", "tools:searcH*", "tool:*",
		"tools:x*", "tools:search.*", "tools:search:*", "\u200btools:*", "tools:*\u200b", "", "tools:%73earch", "!tools:search", "-tools:search", "tools:search,net:out",
	}
	for _, grant := range wrong {
		if ok, list := run(grant, "tools:search"); ok {
			t.Errorf("%+q grants tools:search: %v", grant, list)
		}
	}
	for _, grant := range []string{"tools:search", "tools:*", "tools:sea*", "t*", "*", "tools:search*"} {
		if ok, list := run(grant, "tools:search"); !ok {
			t.Errorf("%q does not grant tools:search: %v", grant, list)
		}
	}
	for _, claim := range []string{"*", "tools:*", "tools:search\u200b", " tools:search", "", "tools:se\u0301arch", "tools search", strings.Repeat("a", 201)} {
		if ok, list := run("*", claim); ok {
			t.Errorf("a tool may claim %+q: %v", claim, list)
		}
	}
}

func reported(list []diag.Diagnostic, codes ...diag.Code) bool {
	for _, d := range list {
		for _, c := range codes {
			if d.Code == c && d.Severity == diag.Error {
				return true
			}
		}
	}
	return false
}
