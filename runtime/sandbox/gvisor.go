package sandbox

import (
	"context"
	"os/exec"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/isolate"
	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
	"github.com/flowgen-dev/flowgen/runtime/tool"
)

// Runsc is how a user gets the program of gVisor, at the version that this package is tested with.
const Runsc = "CGO_ENABLED=0 go install gvisor.dev/gvisor/runsc@v0.0.0-20260905035102-160fafc42237"

// RunscVariable is the environment variable that names runsc where it is not on PATH.
const RunscVariable = "FLOWGEN_RUNSC"

// A Kernel is one way to run processes with a kernel of their own: gVisor, which answers their system calls in a process without rights.
// It is read-only and safe for concurrent use; the zero value has the default limits.
//
// What a process reads and writes is as in a Profile. Memory and processor are limited for all its processes together: Memory counts
// what the sandbox takes outside, the kernel's own part excepted. There is no network.
type Kernel struct {
	Limits Limits
	Read   []string // as in Profile
}

var standardKernel = new(Kernel)

// GVisor makes a tool run in gVisor: one of those that package exectool, pytool or jstool binds. read are files and directories that it
// reads besides its program, its interpreter and its modules. The program runsc must be on PATH, or named by FLOWGEN_RUNSC.
func GVisor(read ...string) flow.ToolOption {
	k := standardKernel
	if len(read) > 0 {
		k = &Kernel{Read: read}
	}
	return tool.Isolate(k, runtime.GVisor)
}

// Obtain returns runtime.GVisor when processes can be isolated here. The error is a *value.ToolError with SANDBOX_ERROR that says
// what is missing. The first call starts a sandbox that tries to break out, which takes some hundred milliseconds; others nothing.
func (k *Kernel) Obtain(context.Context, runtime.Tier) (runtime.Tier, error) {
	if err := Available(runtime.GVisor); err != nil {
		return runtime.Native, err
	}
	return runtime.GVisor, nil
}

// Start starts cmd isolated; see Profile.Start.
func (k *Kernel) Start(cmd *exec.Cmd, need isolate.Need) (*proc.Child, error) {
	if err := Available(runtime.GVisor); err != nil {
		return nil, err
	}
	return k.start(cmd, need)
}

var _ isolate.Starter = (*Kernel)(nil)

// In is how processes run in a tier, with the default limits: runtime.Process or runtime.GVisor.
func In(t runtime.Tier) tool.Isolation {
	if t == runtime.GVisor {
		return standardKernel
	}
	return standard
}

// Available says why tools cannot run in a tier on this machine: a *value.ToolError with SANDBOX_ERROR. The tiers native and wasm are
// there everywhere.
func Available(t runtime.Tier) error {
	switch t {
	case runtime.Native, runtime.Wasm:
		return nil
	case runtime.Process:
		return available()
	case runtime.GVisor:
		return kernelAvailable()
	}
	return failed("this version has no tier %s", t)
}
