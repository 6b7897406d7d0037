package diag

// Tools of MCP servers.
const (
	NotLocked Code = "FG0680"
	LockFile  Code = "FG0681"
	BadServer Code = "FG0682"
)

var mcpCodes = []Entry{
	{
		Code:  NotLocked,
		Title: "a server tool that is not locked",
		Cause: "What a tool of an MCP server takes and returns is known only to the server. `flowgen lock` asks it, and writes the answer to flowgen.lock next to the workflow, which is checked in: it is what the compiler works with, without any server, and a program that finds a tool changed does not call it. Run `flowgen lock` after adding a server or a tool, and after changing the command or the address of a server; correct the name when it is misspelled. Where flowgen.lock holds an OpenAPI document, its operations are held to it as well: one that is not in it, and one that has changed since, is reported, as a warning when no workflow can break by the change. Where it holds a database of PostgreSQL, each statement for that database must be in it. No single workflow file can show the right form: it needs the lock file next to it.",
	},
	{
		Code:  LockFile,
		Title: "a lock file that cannot be used",
		Cause: "flowgen.lock is written by `flowgen lock` and not edited manually. It cannot be used if it is not JSON, if a merge mixed two versions of a tool, so its hash does not match, or if a text contains invisible characters. Restore it, or regenerate it with `flowgen lock` and review the diff. No single workflow file can show this mistake: the mistake is in flowgen.lock.",
	},
	{
		Code:  BadServer,
		Title: "an invalid declaration of a server",
		Cause: "A server under `servers:` is either a program, with `command` and the secrets of its environment variables, or an address, with `url` and `auth`. A variable takes the name of a secret; the address starts with https:// or http://, without user, password or fragment. A tool of a server has no `auth` of its own.",
		Wrong: `flowgen: 1
name: docs
secrets: [DOCS]
servers: {docs: {url: docs.example.com, auth: {bearer: DOCS}}}
nodes:
  n: {let: {x: 1}}
output: {x: $n.x}
`,
		Right: `flowgen: 1
name: docs
secrets: [DOCS]
servers: {docs: {url: "https://docs.example.com/mcp", auth: {bearer: DOCS}}}
nodes:
  n: {let: {x: 1}}
output: {x: $n.x}
`,
	},
}
