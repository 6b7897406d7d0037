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
		Cause: "What a Python function takes and returns is read with Python's own parser, by running `python3` once; the function itself is not run. Without it a tool is what it declares in `in:` and `out:`, and nothing checks that the function agrees: that is a warning. A tool that does not declare both cannot be compiled. Install Python, or declare them. No workflow file can show this mistake: it is the machine's.",
	},
	{
		Code:  SourceMissing,
		Title: "the source of a tool that cannot be found",
		Cause: "There is no such file or module: of code, of an OpenAPI document, of the tables of a SQL statement. Files are relative to the folder of the workflow file that names them and stay inside of it; Python modules are looked for in that folder, in the tool's virtual environment, in PYTHONPATH and in Python's own library." + inOtherFile,
	},
	{
		Code:  SourceSyntax,
		Title: "the source of a tool that cannot be read",
		Cause: "The file, or the SQL statement in the workflow, has an error of syntax, names something that does not exist, imports a file that is not there, is too large, or is not text. Fix it; the message and the related place say where it is." + inOtherFile,
	},
	{
		Code:  SourceName,
		Title: "a function that does not exist in the source of a tool",
		Cause: "The Python module, the JavaScript module's default export or the Starlark file has no function of that name, the OpenAPI document no operation, or the schema of a SQL statement no table, column or function: it was renamed, is something else than a function, or is defined only when the module runs. Correct the name, here or there." + inOtherFile,
	},
	{
		Code:  SourceShape,
		Title: "a function that cannot be a tool",
		Cause: "A tool is called once with named values and returns once. Generators, positional-only parameters without a default and functions of more than one object are not; write a small function around them. Types that JSON cannot represent cannot be parameters or results. A SQL statement reads or changes rows, and each of its columns has a name and is text, a number, true or false, or a time." + inOtherFile,
	},
	{
		Code:  SourceDeclared,
		Title: "a declaration that the source of a tool contradicts",
		Cause: "`in:` and `out:` of a tool whose source has types may be left out. When they are written they may only narrow what the source says: fewer optional inputs, an enum where the source has a string, an int where it has any number, bounds and defaults. Every declared field must exist there, and every field that the source requires or always returns must be declared." + inOtherFile,
	},
	{
		Code:  SourceUnclear,
		Title: "a tool whose input is not known",
		Cause: "Neither the source nor the workflow says what the function, or a parameter of a SQL statement, takes. Declare it with `in:`, or write the types of the parameters in the source." + inOtherFile,
	},
	{
		Code:  SourceSpec,
		Title: "a description of a tool in its source that cannot be used",
		Cause: "The literals of a `@tool(...)` decorator describe the tool: name, namespace, version, side_effects, replay_policy, requires_capability, description, idempotency_key, cost_estimate. Each must be a literal of the right kind, because the module is read and not run. A Go function is described by comments of the form `//flowgen:tool key=value` above it, with the keys effects, permissions, replay, cache, rate, cost_usd, idempotency_key, category, tags, state, max_output and example. What the workflow file says wins, but can only narrow this." + inOtherFile,
	},
	{
		Code:  EngineUnfit,
		Title: "a module that its engine cannot run",
		Cause: "`engine: embedded` runs JavaScript inside of the program, without Node: files, network, processes and the other modules of Node do not exist there. Leave `engine` out, or remove the imports." + inOtherFile,
	},
	{
		Code:  OpenSlot,
		Title: "a class or a function that only the program can bring which embeds the workflow",
		Cause: "There is no code for what the workflow names here. Its Go has an interface with a method for each such place, Slots, which New takes: a program that embeds the workflow implements it, and does not compile until it does. A program of its own cannot be built of the workflow until there is code: Python next to it, or a Go function in flowgen.bindings.yaml.",
	},
	{
		Code:  EffectsLowered,
		Title: "effects below those that a request or a statement has",
		Cause: "A GET, HEAD or OPTIONS request and a SELECT statement have effects `reads`, every other one `writes`. `effects:` may say more than that. To say less is a promise that nothing checks, and replays, retries and approvals rely on it: keep it only if the service changes nothing, as a search by POST does. For a SQL statement less is an error, because the engine knows." + inOtherFile,
	},
}
