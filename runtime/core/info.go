package core

// Compat2 is named by generated code (const _ = flow.Compat2). A runtime that can no longer run code of that
// generation drops the constant, so the mismatch is a compile error and not a surprise at run time.
const Compat2 = 2

// Info is the static description of a compiled workflow, for command lines, viewers and the runtime itself.
// It is read-only once New has seen it.
type Info struct {
	Name        string
	Source      string // path of the YAML file, as the user gave it
	Description string
	Nodes       []*Node // the node table: Nodes[i].Index == i
	Input       []Field
	Output      []Field
	Edges       []Edge
	Secrets     []string // names of the secrets the workflow declares

	Providers []string // of models, which options give New

	ShortKeys bool // a secret may be too short to be found in texts and taken out

	// SecretOwners are the owners of secrets that not every owner may have.
	SecretOwners map[string][]Owner

	Policy *Policy // what a run may do; nil: anything

	// Proxied: requests go through the proxy of the environment, see EnvironmentProxy.
	Proxied bool

	// Needs are the sandbox tiers that tools run in. Where one is missing, New fails before anything has run; engines that run no
	// tools, such as a replay, need none.
	Needs []Need

	Env      []Field // environment variables that tools need; Description says what for. New fails when one is not set
	Programs []Field // programs named by a relative path, which New looks for from FLOWGEN_ROOT or the working directory

	Facts *Facts // the JSON file next to the code: plan, manifest, versions of the nodes, schemas; nil knows nothing

	Partial bool // a run that fails returns an output, too: what it has reached
	Status  bool // the field status of the output says how the run went, and anything but "success" is a failure of the program

	Journal *Journaling // how runs are recorded; nil: as the command or engine says
}

// A Need is a sandbox tier and the first node whose tool runs in it.
type Need struct {
	Node      *Node
	Isolation Isolation
	Tier      Tier
}

// Journaling is a workflow's configuration of the journals of its runs. Users of the program can override it.
type Journaling struct {
	Dir  string // folder of the runs, slash-separated, below the working directory; empty: the usual one
	Sync string // when records reach the disk: off, buffered or effect; empty: the usual
}

// Field is one field of a workflow's input or output.
type Field struct {
	Name        string
	Type        string // in the workflow language's syntax: "list<string>", "enum<a|b>", "opt<int>"
	Default     string // JSON text; empty = required
	Description string
}

// Edge is one edge of the workflow's graph as a reader sees it.
type Edge struct {
	From, To string // node ids; From may be "start", To may be "end"
	Label    string // "fix", "size(tasks) > 0", "catch TIMEOUT"
}
