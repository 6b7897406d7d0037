package convert

import (
	"reflect"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Only refuses everything that a part of the workflow has, a pointer to a struct, besides the fields that are named, so that
// nothing that is added to dialects is lost silently. The message has the words of the user's file, never those of the field.
func (c *Converter) Only(at source.Span, what string, part any, fields string) {
	v, known := reflect.ValueOf(part).Elem(), strings.Fields(fields)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if v.Field(i).IsZero() || slices.Contains(known, name) {
			continue
		}
		w, ok := c.Words[name]
		if !ok {
			w = words[name]
		}
		if w.Is == "" {
			w.Is = "something without a native counterpart"
		}
		c.Refuse(at, w.Native, "%s has %s, which cannot be converted", what, w.Is)
	}
}

// A Word is what users call a part of a file, and what the native language says in its place.
type Word struct{ Is, Native string }

// words are those of parts that several dialects have, by the fields that hold them.
var words = map[string]Word{
	"Agents":    {"agents", "write a native `agent` node"},
	"Catch":     {"a handler of errors", "write `catch` on the native node"},
	"Defaults":  {"defaults", "write `defaults` in the native file"},
	"Flows":     {"other files that it runs", "convert each of them, and write a `flow` node for each run"},
	"Groups":    {"a state with groups", "declare each field below `state`"},
	"Init":      {"an initial value", "write `init` on the native state field"},
	"Inline":    {"an unnamed node", "write it below `do` of a native `map`"},
	"Input":     {"inputs", "declare `input` in the native file"},
	"InDoubt":   {"a rule for calls in doubt", "write `on_in_doubt` on the native node"},
	"Inherit":   {"the entire environment", "write `env` on the native tool"},
	"Join":      {"several nodes to wait for", "write edges from all of them, and a `when` that tests their results"},
	"Load":      {"files that it loads at startup", "set their values where the program runs"},
	"Lock":      {"a lock file", ""},
	"Media":     {"images or files", "write `media` on the native `llm` node"},
	"Merge":     {"a merge rule", "write `merge` on the native state field"},
	"Messages":  {"a conversation", "write `messages` on the native `llm` node"},
	"Models":    {"models", "declare `models` in the native file"},
	"OnError":   {"a rule for errors", "write `on_error` on the native node"},
	"Outcome":   {"an output of failed runs", "write `catch` on the native nodes that may fail"},
	"Policy":    {"a policy", "write `policy` in the native file"},
	"Price":     {"a price of a model", "write `price` on the native model"},
	"Providers": {"providers of its own", "declare `providers` in the native file"},
	"Retry":     {"retries", "write `retry` on the native node"},
	"Schema":    {"a schema of the answer", "write `out` on the native node"},
	"Secrets":   {"secrets", "declare `secrets` in the native file"},
	"Servers":   {"MCP servers", "declare `servers` in the native file"},
	"Timeout":   {"a time limit", "write `timeout` on the native node"},
	"Times":     {"a node that runs several times", "write a native `loop`"},
	"Types":     {"types of its own", "declare `types` in the native file"},
	"Undo":      {"a call that undoes it", "write `undo` on the native node"},
	"When":      {"a condition", "write `when` on the native node"},
	"Verbatim":  {"output with its last line break", "write the text that follows it into the native prompt"},
	"With":      {"arguments", "write `with` on the native node"},
	"Env":       {"environment variables", "write `env` on the native tool"},
	"Dir":       {"a folder to run in", "write `dir` on the native tool"},
	"Shell":     {"a shell script", "write `shell` in a native tool"},
	"New":       {"a model that the environment chooses", "name one model below `models`"},
}

// NoNode refuses a node of a kind that has no rule, and says what the native language has for it.
func (c *Converter) NoNode(id ir.Ident, verb any) {
	what, native := "is of a kind that cannot be converted", "write a native node for it, such as `tool` or `go`"
	switch verb.(type) {
	case *ir.Agent:
		what, native = "lets a model work with tools, in a conversation that the engine keeps", "write a native `agent` node"
	case *ir.Flow:
		what, native = "runs another file", "convert that file, and write a native `flow` node"
	case *ir.ToolCall:
		what, native = "calls a tool that cannot be converted", "declare the tool below `tools` in the native file"
	case *ir.LLM:
		what, native = "asks a model in a way that cannot be converted", "write a native `llm` node"
	case *ir.Human:
		what, native = "asks a user in a way that cannot be converted", "write a native `human` node"
	}
	c.Refuse(id.Span, native, "the node %s %s", id.Name, what)
}
