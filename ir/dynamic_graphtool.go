package ir

// GraphTool is a tool of YAMLGraph that runs another graph and gives one of its fields as text.
type GraphTool struct {
	Path Ident // as written
	Flow *Workflow
	In   []FieldPair // Parent is the name of an argument, Child a field of the graph
	Out  string      // the field
}

func (*GraphTool) binding() {}
