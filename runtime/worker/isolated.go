package worker

import (
	"os/exec"

	"github.com/flowgen-dev/flowgen/runtime/internal/isolate"
	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// In returns the Start of a Config whose workers run in an isolation; nil, which starts them without, when it is nil.
// reads, which may be nil, names what they read besides their program.
func In(isolation tool.Isolation, reads func() ([]string, error)) func(*exec.Cmd) (*proc.Child, error) {
	if isolation == nil {
		return nil
	}
	return func(cmd *exec.Cmd) (*proc.Child, error) {
		starter, ok := isolation.(isolate.Starter)
		if !ok {
			return nil, value.Errorf(value.SandboxError, "the isolation of the tool cannot start workers")
		}
		need := isolate.Need{Warm: true}
		if reads != nil {
			var err error
			if need.Read, err = reads(); err != nil {
				return nil, err
			}
		}
		return starter.Start(cmd, need)
	}
}
