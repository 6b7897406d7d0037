package native

// TopKeys are the keys of a workflow file in the order in which they are read best: what it is, what it is given, what
// it uses, what it does, what it returns.
func TopKeys() []string {
	return []string{
		"flowgen", "name", "description", "include", "types", "input", "state", "secrets", "models", "servers", "tools", "agents",
		"policy", "defaults", "nodes", "edges", "output",
	}
}
