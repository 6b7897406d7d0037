package starter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/atomicfile"
	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/origin"
	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/internal/programs"
)

// requireFlowgen makes or completes go.mod and go.sum: the runtime, and flowgen as a tool for go generate.
func (p *Project) requireFlowgen(ctx context.Context, from origin.Origin) (changed []string, err error) {
	dir := p.Dir
	if !p.NewModule() {
		dir = p.root
	}
	before := map[string][]byte{}
	for _, name := range []string{filepath.Join(dir, "go.mod"), filepath.Join(dir, "go.sum")} {
		text, err := files.Read(name, files.Max)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		before[name] = text
	}
	mod, err := p.edited(before[filepath.Join(dir, "go.mod")], from)
	if err != nil {
		return nil, err
	}
	own, err := from.Sums(origin.Command)
	if err != nil {
		return nil, err
	}
	if err := atomicfile.Write(filepath.Join(dir, "go.mod"), mod); err != nil {
		return nil, err
	}
	sumName := filepath.Join(dir, "go.sum")
	if err := atomicfile.Write(sumName, origin.MergeSums(before[sumName], own)); err != nil {
		return nil, err
	}
	err = complete(ctx, p.Dir)
	for name, text := range before {
		if now, readErr := files.Read(name, files.Max); readErr == nil && !bytes.Equal(now, text) {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	return changed, err
}

// edited is a go.mod with flowgen in it; what else stands there stays.
func (p *Project) edited(before []byte, from origin.Origin) ([]byte, error) {
	mod := &modfile.File{}
	if p.NewModule() {
		if err := module.CheckImportPath(p.modulePath()); err != nil {
			return nil, err
		}
		if err := mod.AddModuleStmt(p.modulePath()); err != nil {
			return nil, err
		}
	} else {
		var err error
		if mod, err = modfile.Parse(filepath.Join(p.root, "go.mod"), before, nil); err != nil {
			return nil, err
		}
	}
	if mod.Module == nil {
		return nil, fmt.Errorf("the go.mod in %s names no module", p.root)
	}
	if mod.Module.Mod.Path != origin.Module { // flowgen does not require itself
		if _, err := from.Require(mod, origin.Command); err != nil {
			return nil, err
		}
		if from.Newer(mod) {
			if err := mod.AddGoStmt(from.GoVersion()); err != nil {
				return nil, err
			}
		}
	}
	if err := mod.AddTool(origin.Command); err != nil {
		return nil, err
	}
	mod.Cleanup()
	return mod.Format()
}

// complete lets the go command add to go.mod what the new imports need. It only ever adds, which `go mod tidy` would
// not promise for the rest of a user's module.
func complete(ctx context.Context, dir string) error {
	cmd, err := goCommand(ctx, dir, "list", "-mod=mod", "-deps", "-test", "./...", origin.Command)
	if err != nil {
		return fmt.Errorf("the files are written, but go.mod could not be completed: %w", err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the files are written, but go.mod could not be completed; `go mod tidy` may do it: %w\n%s", err,
			stderr.Bytes())
	}
	return nil
}

// Tidy removes from a new project's go.mod and go.sum what it does not need. It goes on without modules that only tests of
// the compiler's dependencies import, which a machine without a network may not have.
func Tidy(ctx context.Context, dir string) error {
	cmd, err := goCommand(ctx, dir, "mod", "tidy", "-e")
	if err != nil {
		return fmt.Errorf("go mod tidy: %w", err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go mod tidy: %w\n%s", err, bytes.TrimSpace(out))
	}
	return nil
}

// goCommand is a call of the user's own go command.
func goCommand(ctx context.Context, dir string, args ...string) (*exec.Cmd, error) {
	exe, err := programs.Go(dir)
	if errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("the go command is not installed or not in PATH")
	}
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Dir = dir
	cmd.Env = append(programs.BuildEnvironment(os.Environ(), dir), "GOWORK=off")
	return cmd, nil
}
