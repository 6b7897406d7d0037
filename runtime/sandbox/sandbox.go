// Package sandbox runs the processes of tools without rights: the tier "process" of the workflow language.
//
// The program starts itself once more; before that second process becomes the tool it takes everything away from itself:
//
//   - the environment is empty but for the variables of the command, HOME and TMPDIR are a private directory
//   - descriptors other than the standard ones and those handed over are closed
//   - started by root it becomes an ordinary user, without groups
//   - resource limits hold for memory, processor time, files, processes
//   - Landlock lets it read the system's programs and libraries, its interpreter and what the tool names, and write to the private
//     directory only
//   - a system call filter leaves no sockets, no new session or process group, no namespaces, no debugging of others
//
// So that a process cannot leave its group, and killing the group ends everything it started.
//
// The first use in a program proves on this machine that all of this holds, with a process that tries to break out; where it does
// not hold, nothing is run. It needs Linux 6.2 or later with Landlock, on amd64 or arm64. From Linux 6.12 on signals within the
// sandbox are unrestricted; before it a process can signal only the first process and the whole group.
//
// # Limits
//
// The kernel is shared: an error in it can be a way out. Names, sizes and times of files that cannot be read are not hidden. Memory
// is limited for each process, not for all of them together. Who may start a program may also bring code of his own along; the
// walls are around the code, not in it. The private directory is bounded from outside, by a look at it every few milliseconds, and
// can grow beyond the bound in between.
//
// A program that links this package runs the initialisers of packages before this one a second time, without arguments and
// environment, in each process that becomes a tool.
package sandbox

import (
	"context"
	"os/exec"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/isolate"
	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Limits bound one process. Zero fields take the value of DefaultLimits.
type Limits struct {
	Memory    int64         // bytes of data of each process; at least 64 MiB
	Files     int           // open descriptors of each process
	FileSize  int64         // bytes of each file written
	Disk      int64         // bytes of all files written, looked at from outside
	Processes int           // processes and threads beyond those that the user has when it starts
	CPU       time.Duration // of each process; warm processes have none
}

// DefaultLimits returns what a process gets that asks for nothing else.
func DefaultLimits() Limits {
	return Limits{Memory: 256 << 20, Files: 256, FileSize: 64 << 20, Disk: 256 << 20, Processes: 128, CPU: 10 * time.Minute}
}

const leastMemory = 64 << 20 // below it interpreters hang when they start instead of failing

// fill sets what is not set.
func (l Limits) fill() Limits {
	d := DefaultLimits()
	set(&l.Memory, d.Memory)
	set(&l.Files, d.Files)
	set(&l.FileSize, d.FileSize)
	set(&l.Disk, d.Disk)
	set(&l.Processes, d.Processes)
	set(&l.CPU, d.CPU)
	l.Memory = max(l.Memory, leastMemory)
	return l
}

func set[T int | int64 | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// A Profile is one way to run processes isolated. It is read-only and safe for concurrent use; the zero value has the default limits.
type Profile struct {
	Limits  Limits
	Read    []string // files and directories to read besides the program's own; relative to the working directory of this process
	Network bool     // outgoing connections, which nothing in the sandbox restricts further
}

var standard = new(Profile)

// Process makes a tool run as a process without rights: one of those that package exectool, pytool or jstool binds. read are files and
// directories that it reads besides its program, its interpreter and its modules.
func Process(read ...string) flow.ToolOption {
	p := standard
	if len(read) > 0 {
		p = &Profile{Read: read}
	}
	return tool.Isolate(p, runtime.Process)
}

// Obtain returns runtime.Process when processes can be isolated here and no more is required. The error is a *value.ToolError with
// SANDBOX_ERROR that says what is missing. The first call takes some milliseconds, others nothing.
func (p *Profile) Obtain(_ context.Context, required runtime.Tier) (runtime.Tier, error) {
	if err := available(); err != nil {
		return runtime.Native, err
	}
	return runtime.Process, nil
}

// Start starts cmd isolated; see isolate.Starter. cmd must not be started by anything else. Its arguments, environment, directory,
// standard streams, and extra files are the tool's. The directory and the variables TMPDIR and HOME are the private directory when cmd names none.
func (p *Profile) Start(cmd *exec.Cmd, need isolate.Need) (*proc.Child, error) {
	if err := available(); err != nil {
		return nil, err
	}
	return p.start(cmd, need)
}

var _ isolate.Starter = (*Profile)(nil)

func failed(format string, args ...any) *value.ToolError {
	return value.Errorf(value.SandboxError, "sandbox: "+format, args...)
}
