package diag

// Files, includes and the compiler's surroundings.
const (
	CannotRead      Code = "FG0901"
	IncludeCycle    Code = "FG0902"
	RecursiveFlow   Code = "FG0903"
	NotIncludable   Code = "FG0904"
	UnknownLanguage Code = "FG0905"
	SecretNotSet    Code = "FG0906"
	SecretBroad     Code = "FG0907"
	ModuleFile      Code = "FG0908"
	ModuleTool      Code = "FG0909"
	ProgramMissing  Code = "FG0910"
	EngineBound     Code = "FG0911"
)

var fileCodes = []Entry{
	{
		Code:  CannotRead,
		Title: "a file that cannot be read",
		Cause: "A workflow names a file that does not exist or cannot be read. Names are relative to the folder of the file they are in.",
		Wrong: `flowgen: 1
name: greet
include: [no_such_file.flowgen.yaml]
nodes:
  hello: {let: {text: Hello}}
`,
		Right: `flowgen: 1
name: greet
nodes:
  hello: {let: {text: Hello}}
output: {text: $hello.text}
`,
	},
	{
		Code:  IncludeCycle,
		Title: "an include cycle",
		Cause: "A file includes itself, directly or through others, so neither comes first. Move what both need into a file of its own that includes neither. It takes two files, or one that names itself, to see it.",
	},
	{
		Code:  RecursiveFlow,
		Title: "a recursive workflow",
		Cause: "A flow node runs the workflow it is in, directly or through others. Workflows end because they cannot call themselves; repeat with `loop` instead. It takes two files, or one that names itself, to see it.",
	},
	{
		Code:  NotIncludable,
		Title: "an included file with a section of a workflow",
		Cause: "Included files bring types, tools, models, servers and agents. Nodes, state and the rest belong to a workflow, which is called by a flow node, not included. It takes two files to see it.",
	},
	{
		Code:  UnknownLanguage,
		Title: "an unknown workflow language",
		Cause: "The language of a workflow file is recognised by its keys; a file of flowgen's own language starts with `flowgen: 1`. `--dialect` says which language another file is in.",
		Wrong: `name: greet
steps:
  hello: {text: Hello}
`,
		Right: `flowgen: 1
name: greet
nodes:
  hello: {let: {text: Hello}}
output: {text: $hello.text}
`,
	},
	{
		Code:  SecretNotSet,
		Title: "a secret that is not set here",
		Cause: "`flowgen check --secrets` looks up every declared secret as a run on this machine would: the user's in the environment, the workspace's in the file .env of the working directory, the organisation's in /run/secrets, limited by its `from`. This one is missing or empty, so the program would not start. The check is optional, because it depends on the machine and not on the workflow. No workflow file can show this mistake.",
	},
	{
		Code:  SecretBroad,
		Title: "a secret that is only the organisation's",
		Cause: "`flowgen check --secrets` found this secret in /run/secrets only, which the entire organisation shares, although its `from` allows a more specific one of the user or the workspace. Shared secrets often have too many rights. The check is optional, because it depends on the machine and not on the workflow. No workflow file can show this mistake.",
	},
	{
		Code:  ModuleFile,
		Title: "a file of a Go module that cannot be used",
		Cause: "`include` and `flow` read a file of a Go module that the go.mod above the workflow requires, as in `go:github.com/acme/flows/shop.flowgen.yaml`. The version is that of go.mod, its files have the hash of go.sum, and nothing is fetched: `go get` adds the module. Files of a module name files of their own module only, and are in flowgen's own language. The go.mod of the module decides, so no single file shows this mistake.",
	},
	{
		Code:  ModuleTool,
		Title: "a tool in a Go module whose source cannot be used from there",
		Cause: "A file of a Go module that is included or run as `go:...` declares tools in Go, over HTTP, on MCP servers and as commands. Python, JavaScript, Starlark, WebAssembly, OpenAPI documents and schemas of databases are not read from modules: their imports and environments are those of a project. Write the tool as a Go function in the module, as in `go: ./shop.Search`, or copy the file into the project. It takes a module to see it.",
	},
	{
		Code:  ProgramMissing,
		Title: "a missing program",
		Cause: "A tool or an MCP server starts a program that is not on PATH, or whose path, relative to the folder of the file, does not exist. A run on this machine would fail with SANDBOX_ERROR at the call. It is a note, which `--strict` ignores, because it depends on the machine and not on the workflow. No workflow file can show this mistake.",
	},
	{
		Code:  EngineBound,
		Title: "a bound of an engine that a run may exceed",
		Cause: "`check --engine temporal` warns about what a Temporal server rejects: payloads of more than 2 MB, and histories of more than 51,200 events. Workers with a store (`--blobs`) put large payloads there, and a run goes on in a new history with its journal. The check is optional, so no workflow file can show it.",
	},
}
