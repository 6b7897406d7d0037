package ir

// Made is a tool that a function of a runtime package makes, once, when the program starts.
type Made struct {
	New   *Expr  // its type is a tool of the declaration's In and Out
	Reach *Reach // nil is refused: nothing reaches out unseen
}

// Reach is what a tool or a model that a function makes can touch: manifests, policies and sandboxes know of it what is
// said here. An empty one says: nothing.
type Reach struct {
	Hosts    []string // of addresses, with a port if one is written; * for what data says
	Commands []string // programs that it starts
	Env      []string // variables of the environment that it reads; * for all
	Files    []string // that it reads
	Code     []string // what else it runs, as a manifest lists it: "data:rows.csv"
}

func (*Made) binding() {}

// An Answer is what the answer of a model has to fit.
type Answer struct {
	Name string // as the model reads it
	JSON string // a JSON Schema
	Tool string // the tool whose arguments the answer is; empty: the provider's own way
}
