package diag

import "slices"

// Code identifies a kind of mistake: stable, documented, never reused.
type Code string

// An Entry documents one code. The wrong example reports the code and nothing else of its severity; the right one is
// clean. Both are complete workflow files in the native language and are run by a test.
type Entry struct {
	Code  Code
	Title string // what the code is about, in a few words
	Cause string // why it is a mistake and what to do, in full sentences
	Wrong string // YAML; "" when no single file can show it, then Cause says why, or when the examples are those of dialects
	Right string
	Cases []Case // what it says, where it says several things
}

// A Case is one of several mistakes that have a code in common. Its YAML reports the code with this message and help, which a test
// holds it to.
type Case struct {
	YAML, Message, Help string
}

// An Example is a workflow that reports a code, and one that does not.
type Example struct {
	Code         Code
	Wrong, Right string
}

// The ranges, a file each:
//
//	FG00xx codes_yaml.go    the YAML itself
//	FG01xx codes_native.go  the shape of the native language
//	FG012x codes_dialect.go the public dialects
//	FG02xx codes_expr.go    expressions: syntax, operators, types inside them
//	FG03xx codes_refs.go    names and what they refer to
//	FG04xx codes_types.go   values that do not fit
//	FG05xx codes_graph.go   edges, order, loops, state under concurrency
//	FG06xx codes_tools.go   tools and their bindings; codes_foreign.go, from FG0611, those in other
//	                        languages; codes_use.go, from FG0640, their use; codes_http.go, from FG0650, requests;
//	                        codes_mcp.go, from FG0680, tools of servers; codes_llm.go, from FG0690, models
//	FG07xx codes_policy.go  effects, caps, secrets
//	FG08xx codes_names.go      names in the generated Go
//	FG09xx codes_files.go   files, includes, the compiler's surroundings
//	FG095x codes_output.go  the generated file and where it goes
var table = slices.Concat(yamlCodes, nativeCodes, dialectCodes, exprCodes, refCodes, typeCodes, graphCodes, toolCodes, foreignCodes, useCodes, httpCodes, mcpCodes, modelCodes, policyCodes, goCodes, fileCodes, outputCodes)

// Codes lists every code in order.
func Codes() []Entry { return table }

// Explain returns the entry of a code; ok is false when there is none.
func Explain(c Code) (e Entry, ok bool) {
	for _, e := range table {
		if e.Code == c {
			return e, true
		}
	}
	return Entry{}, false
}
