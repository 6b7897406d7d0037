//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"os/exec"
	goruntime "runtime"

	"github.com/flowgen-dev/flowgen/runtime/internal/isolate"
	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
)

func available() error {
	return failed("processes cannot be isolated on %s/%s, only on Linux (amd64, arm64)", goruntime.GOOS, goruntime.GOARCH)
}

func (p *Profile) start(*exec.Cmd, isolate.Need) (*proc.Child, error) { return nil, available() }

func kernelAvailable() error { return available() }

func (k *Kernel) start(*exec.Cmd, isolate.Need) (*proc.Child, error) { return nil, available() }
