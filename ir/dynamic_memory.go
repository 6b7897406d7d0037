package ir

// MemoryTool keeps values of a SirenSpec workflow from run to run, in files of a folder.
type MemoryTool struct {
	Path    string // relative to where the program runs
	Seconds int64  // how long a value is kept; 0: for ever
}

func (*MemoryTool) binding() {}
