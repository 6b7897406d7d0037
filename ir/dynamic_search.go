package ir

// SearchTool searches the web, for agents of YAMLGraph.
type SearchTool struct {
	Results int // so many are given at most
}

func (*SearchTool) binding() {}
