// Package isolate starts the processes of tools, in the isolation that the call has or in none.
package isolate

import (
	"os/exec"

	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
)

// Need is what a process needs beyond its program.
type Need struct {
	// Read are files and directories that it reads and whose programs it may run; relative paths start from the working
	// directory of this process. Those that are missing are left out.
	Read []string
	// Warm processes serve many calls: no limit on processor time ends them.
	Warm bool
}

// A Starter starts processes apart from the machine.
type Starter interface {
	// Start starts cmd with proc.Start and returns when its program runs isolated. Nothing runs when there is an error, which
	// is a *value.ToolError with SANDBOX_ERROR. Reap of the child removes what belonged to it and says, as such an error
	// too, when the process was stopped for going beyond a limit.
	Start(cmd *exec.Cmd, need Need) (*proc.Child, error)
}
