package diag

// Tools in other languages than Go.
const (
	Interpreter    Code = "FG0611"
	SourceMissing  Code = "FG0612"
	SourceSyntax   Code = "FG0613"
	SourceName     Code = "FG0614"
	SourceShape    Code = "FG0615"
	SourceDeclared Code = "FG0616"
	SourceUnclear  Code = "FG0617"
	SourceSpec     Code = "FG0618"
	EngineUnfit    Code = "FG0619"
	OpenSlot       Code = "FG0620"
	EffectsLowered Code = "FG0621"
)

// inOtherFile ends the causes that no workflow file can show alone.
const inOtherFile = " No single workflow file can show this mistake: the other half of it is in another file."

var foreignCodes = []Entry{
	{
		Code:  Interpreter,
		Title: "a missing interpreter for a tool's source",
		Cause: "flowgen reads the signature of a Python function with Python's own parser, by running `python3` once; the function itself is not run. Without Python, `in:` and `out:` of the tool are not checked against the function, which is a warning. A tool that does not declare both cannot be compiled. Install Python, or declare them. No workflow file can show this mistake: it is the machine's.",
	},
	{
		Code:  SourceMissing,
		Title: "the source of a tool that cannot be found",
		Cause: "The source file, Python module, OpenAPI document or SQL schema does not exist. Files are relative to the folder of the workflow file that names them and must be inside it; Python modules are searched in that folder, in the tool's virtual environment, in PYTHONPATH and in Python's own library." + inOtherFile,
	},
	{
		Code:  SourceSyntax,
		Title: "the source of a tool that cannot be read",
		Cause: "The file, or the SQL statement in the workflow, has a syntax error, refers to something that does not exist, imports a missing file, is too large, or is not text. Fix it at the position in the message." + inOtherFile,
	},
	{
		Code:  SourceName,
		Title: "a function that does not exist in the source of a tool",
		Cause: "The Python module, the JavaScript module's default export or the Starlark file has no function of that name, the OpenAPI document no operation, or the schema of a SQL statement no table, column or function: it was renamed, is not a function, or is defined only when the module runs. Correct the name in the workflow or in the source." + inOtherFile,
	},
	{
		Code:  SourceShape,
		Title: "a function that cannot be a tool",
		Cause: "A tool is called once with named values and returns once. Generators, positional-only parameters without a default and functions of more than one object are not; write a small function around them. Types that JSON cannot represent cannot be parameters or results. A SQL statement reads or changes rows, and each of its columns has a name and is text, a number, true or false, or a time." + inOtherFile,
	},
	{
		Code:  SourceDeclared,
		Title: "a declaration that the source of a tool contradicts",
		Cause: "`in:` and `out:` of a tool whose source has types are optional. If written, they may only narrow the types of the source: fewer optional inputs, an enum where the source has a string, an int where it has any number, bounds and defaults. Every declared field must exist there, and every field that the source requires or always returns must be declared." + inOtherFile,
	},
	{
		Code:  SourceUnclear,
		Title: "a tool whose input is not known",
		Cause: "Neither the source nor the workflow declares the type of a parameter of the function or SQL statement. Declare it with `in:`, or annotate the parameters in the source." + inOtherFile,
	},
	{
		Code:  SourceSpec,
		Title: "a description of a tool in its source that cannot be used",
		Cause: "The literals of a `@tool(...)` decorator describe the tool: name, namespace, version, side_effects, replay_policy, requires_capability, description, idempotency_key, cost_estimate. Each must be a literal of the right kind, because the module is read and not run. A Go function is described by comments of the form `//flowgen:tool key=value` above it, with the keys effects, permissions, replay, cache, rate, cost_usd, idempotency_key, category, tags, state, max_output and example. The workflow file takes precedence, but can only narrow this." + inOtherFile,
	},
	{
		Code:  EngineUnfit,
		Title: "a module that its engine cannot run",
		Cause: "`engine: embedded` runs JavaScript inside the program, without Node: files, network, processes and Node's modules are not available. Remove `engine`, or remove the imports." + inOtherFile,
	},
	{
		Code:  OpenSlot,
		Title: "a class or function that only an embedding program can provide",
		Cause: "The workflow names code that does not exist. Its generated Go has an interface, Slots, with a method for each of these places; New takes an implementation, so an embedding program compiles only with one. To build the workflow as a program, add Python code next to it, or a Go function in flowgen.bindings.yaml.",
	},
	{
		Code:  EffectsLowered,
		Title: "effects below those that a request or a statement has",
		Cause: "A GET, HEAD or OPTIONS request and a SELECT statement have effects `reads`, every other one `writes`. `effects:` may declare more. Declaring less is an unchecked promise that replays, retries and approvals rely on: keep it only if the request changes nothing, such as a search by POST. For a SQL statement it is an error, because the statement is known." + inOtherFile,
	},
}
