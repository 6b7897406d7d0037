package diag

// Tools and their bindings. FG0601 to FG0610 are about Go, those from FG0611 (codes_foreign.go) about other languages.
const (
	GoReference Code = "FG0601"
	GoPackage   Code = "FG0602"
	GoCompile   Code = "FG0603"
	GoName      Code = "FG0604"
	GoShape     Code = "FG0605"
	GoType      Code = "FG0606"
	GoDeclared  Code = "FG0607"
	GoReducer   Code = "FG0608"
	GoImport    Code = "FG0609"
	GoTag       Code = "FG0610"
)

// goTool is a workflow that calls one Go function with a text.
func goTool(tool string) string {
	return `flowgen: 1
name: shout
input: {text: string}
tools:
  upper: ` + tool + `
nodes:
  up: {tool: upper, with: {s: $input.text}}
output: {text: $up}
`
}

var toolCodes = []Entry{
	{
		Code:  GoReference,
		Title: "an invalid Go reference",
		Cause: "A Go function or type is named by the import path of its package, a dot and its name: example.com/app/tools.Search. A path that starts with ./ or ../ is a folder relative to the file that names it: ./tools.Search, or ./.Search for the folder itself.",
		Wrong: goTool("{go: strings, effects: none}"),
		Right: goTool("{go: strings.ToUpper, effects: none}"),
	},
	{
		Code:  GoPackage,
		Title: "a Go package that cannot be found",
		Cause: "The go command, run in the folder of the workflow, cannot find the package. Correct the import path; add the module that provides the package with go get; or, for a package of your own, make sure that the folder belongs to a Go module and contains Go files. Paths of packages next to the file start with ./.",
		Wrong: goTool("{go: stringz.ToUpper, effects: none}"),
		Right: goTool("{go: strings.ToUpper, effects: none}"),
	},
	{
		Code:  GoCompile,
		Title: "a Go package that does not compile",
		Cause: "The package of a Go function or type, or a package it imports, has errors; the first is shown. Use go build to fix it. Only the package in the folder of the workflow may have errors, because it may use the generated file; the types of the function must not depend on that file. No single workflow file can show this mistake: the mistake is in Go.",
	},
	{
		Code:  GoName,
		Title: "a Go function or type that does not exist",
		Cause: "The package has no exported function, or type, of that name. Correct the spelling, or export it: generated code can only use names that start with an upper-case letter.",
		Wrong: goTool("{go: strings.ToUper, effects: none}"),
		Right: goTool("{go: strings.ToUpper, effects: none}"),
	},
	{
		Code:  GoShape,
		Title: "a Go function with an unsupported signature",
		Cause: "A function can be bound when it is func(ctx context.Context, in In) (Out, error), where the context, the input, the result and the error are each optional. In is a struct, or a pointer to one, whose fields are the input; or there are any number of named parameters, which become fields of those names. Methods, generic and variadic functions, unnamed parameters and further results are not accepted: write a small function around them.",
		Wrong: `flowgen: 1
name: paths
input: {dir: string}
tools:
  join: {go: path.Join, effects: none}
nodes:
  joined: {tool: join, with: {elem: [$input.dir]}}
output: {path: $joined}
`,
		Right: `flowgen: 1
name: paths
input: {dir: string}
tools:
  base: {go: path.Base, effects: none}
nodes:
  last: {tool: base, with: {path: $input.dir}}
output: {path: $last}
`,
	},
	{
		Code:  GoType,
		Title: "a Go type that cannot be journalled",
		Cause: "Inputs and outputs of a Go function are written to the journal and must be equal when read back. That works for booleans, strings, numbers, []byte, time.Time, time.Duration, slices, maps with string keys, pointers (optional values), named structs of exported fields, and value.Value for anything else. It does not work for functions, channels, interfaces, arrays, unexported fields (unless tagged `json:\"-\"`), recursive types, and types with a JSON or text form of their own. The message names the field.",
		Wrong: `flowgen: 1
name: reader
input: {text: string}
tools:
  open: {go: strings.NewReader, effects: none}
nodes:
  opened: {tool: open, with: {s: $input.text}}
`,
		Right: `flowgen: 1
name: reader
input: {text: string}
tools:
  split: {go: strings.Fields, effects: none}
nodes:
  words: {tool: split, with: {s: $input.text}}
output: {words: $words}
`,
	},
	{
		Code:  GoDeclared,
		Title: "a declaration that the Go function contradicts",
		Cause: "`in:` and `out:` of a Go tool are optional: the function defines them. If written, they may only narrow it: fewer optional inputs, fewer results, an enum where Go has a string, bounds and defaults. Every declared field must exist in Go with the same type, and every field that Go requires must be declared.",
		Wrong: goTool("{go: strings.ToUpper, in: {s: string}, out: int, effects: none}"),
		Right: goTool("{go: strings.ToUpper, in: {s: string}, out: string, effects: none}"),
	},
	{
		Code:  GoReducer,
		Title: "a merge rule with the wrong signature",
		Cause: "A state field can be merged by a Go function that takes the old and the new value and returns what the field becomes: func(old, new T) T. It has no context and no error, because it is applied when branches meet.",
		Wrong: `flowgen: 1
name: best
input: {score: float}
state: {best: {type: float, init: 0.0, merge: "go:math.Sqrt"}}
nodes:
  keep: {let: {score: $input.score}, set: {best: $input.score}}
output: {best: $state.best}
`,
		Right: `flowgen: 1
name: best
input: {score: float}
state: {best: {type: float, init: 0.0, merge: "go:math.Max"}}
nodes:
  keep: {let: {score: $input.score}, set: {best: $input.score}}
output: {best: $state.best}
`,
	},
	{
		Code:  GoImport,
		Title: "a Go package that generated code cannot import",
		Cause: "Go does not allow to import a command (package main), nor a package below an `internal` folder from outside of that folder's parent. Functions next to the workflow in package main are fine: the generated file is part of that package. Move other functions to a package that can be imported.",
		Wrong: goTool("{go: internal/stringslite.Clone, effects: none}"),
		Right: goTool("{go: strings.Clone, effects: none}"),
	},
	{
		Code:  GoTag,
		Title: "a struct tag that cannot be read",
		Cause: "Fields of Go structs may say more about their values in tags: `flow:\"enum=low|high\"`, `flow:\"min=0,max=10\"`, `flow:\"pattern=^[a-z]+$\"` (the last rule, it takes the rest of the tag) and `default:\"<JSON>\"`. The rule must exist and fit the field's type. No single workflow file can show this mistake: the mistake is in Go.",
	},
}
