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
	"strings"

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
	own, err := from.Sums(p.needs())
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
	if p.Library {
		err = Complete(ctx, p.Dir)
		more, toolErr := p.writeToolFile(ctx, from)
		changed, err = more, errors.Join(err, toolErr)
	} else {
		err = Complete(ctx, p.Dir, origin.Command)
	}
	for name, text := range before {
		if now, readErr := files.Read(name, files.Max); readErr == nil && !bytes.Equal(now, text) {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	return changed, err
}

// edited is a go.mod with flowgen in it; what else is there stays.
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
		if _, err := from.Require(mod, p.needs()); err != nil {
			return nil, err
		}
		if from.Newer(mod) {
			if mod.Go != nil {
				p.Raised = fmt.Sprintf("go.mod says go %s in place of %s, which is the least that flowgen's runtime needs", from.GoVersion(), mod.Go.Version)
			}
			if err := mod.AddGoStmt(from.GoVersion()); err != nil {
				return nil, err
			}
		}
	}
	if !p.Library {
		if err := mod.AddTool(origin.Command); err != nil {
			return nil, err
		}
	}
	mod.Cleanup()
	return mod.Format()
}

// needs is the package of flowgen that go.mod has to have the module of.
func (p *Project) needs() string {
	if p.Library {
		return origin.Runtime
	}
	return origin.Command
}

// toolFile is the go.mod by which go generate builds flowgen, so that the module requires nothing of the compiler.
const toolFile = "flowgen.mod"

// writeToolFile makes flowgen.mod and flowgen.sum in the folder of go.mod, unless they are there.
func (p *Project) writeToolFile(ctx context.Context, from origin.Origin) (changed []string, err error) {
	name := filepath.Join(p.root, toolFile)
	if files.Exists(name) {
		return nil, nil
	}
	mod := &modfile.File{}
	if err := errors.Join(mod.AddModuleStmt(p.modulePath()), mod.AddGoStmt(from.GoVersion())); err != nil {
		return nil, err
	}
	if _, err := from.Require(mod, origin.Command); err != nil {
		return nil, err
	}
	if err := mod.AddTool(origin.Command); err != nil {
		return nil, err
	}
	mod.Cleanup()
	text, err := mod.Format()
	if err != nil {
		return nil, err
	}
	sums, err := from.Sums(origin.Command)
	if err != nil {
		return nil, err
	}
	sum := strings.TrimSuffix(name, ".mod") + ".sum"
	if err := errors.Join(atomicfile.Write(name, text), atomicfile.Write(sum, sums)); err != nil {
		return nil, err
	}
	cmd, err := goCommand(ctx, p.root, "list", "-mod=mod", "-modfile="+name, "-deps", origin.Command)
	if err != nil {
		return []string{name, sum}, err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return []string{name, sum}, fmt.Errorf("the files are written, but %s could not be completed: %w\n%s", toolFile, err, out)
	}
	return []string{name, sum}, nil
}

// Complete lets the go command add to go.mod what the new imports need. It only ever adds, which `go mod tidy` would
// not promise for the rest of a user's module.
func Complete(ctx context.Context, dir string, more ...string) error {
	cmd, err := goCommand(ctx, dir, append([]string{"list", "-mod=mod", "-deps", "-test", "./..."}, more...)...)
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
		return nil, errors.New("the go command is not installed or not in PATH: install Go, or download it with flowgen toolchain")
	}
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Dir = dir
	cmd.Env = append(programs.BuildEnvironment(os.Environ(), dir), "GOWORK=off")
	return cmd, nil
}
