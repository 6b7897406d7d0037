package ir

// CopilotTool is a program that a copilot node of YAMLGraph asks.
type CopilotTool struct {
	Backend       string // cli, claude or opencode
	Model         string // empty: the program's own
	Before, After []string
	Continue      bool
	Here          bool // claude: it may use the working directory
}

func (*CopilotTool) binding() {}
