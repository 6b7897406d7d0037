package worker

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Interpreter is where an interpreter is looked for.
type Interpreter struct {
	Name       string   // "Python"
	Variable   string   // environment variable that names the program: "FLOWGEN_PYTHON"
	Candidates []string // programs, tried in this order; those without a slash are looked up in PATH
	Ask        []string // arguments that make it print its own path
}

// versionManagers are the variables with which the shims of version managers choose what they stand for.
var versionManagers = []string{"PYENV_ROOT", "PYENV_VERSION", "NODENV_ROOT", "NODENV_VERSION", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR"}

var resolved sync.Map // program -> *resolution

type resolution struct {
	once sync.Once
	path string
	err  error
}

// Find returns the path of the interpreter: explicit when it is set, else what the variable names, else the first
// candidate there is. A version manager's shim, which costs a shell for every start, is asked once what it stands for.
func (i *Interpreter) Find(explicit string) (string, error) {
	if explicit == "" {
		explicit = os.Getenv(i.Variable)
	}
	candidates := i.Candidates
	if explicit != "" {
		candidates = []string{explicit}
	}
	for _, c := range candidates {
		path, err := exec.LookPath(c)
		if err != nil {
			continue
		}
		if path, err = filepath.Abs(path); err != nil {
			return "", err
		}
		v, _ := resolved.LoadOrStore(path, &resolution{})
		r := v.(*resolution)
		r.once.Do(func() { r.path, r.err = i.behind(path) })
		return r.path, r.err
	}
	return "", value.Errorf(value.SandboxError, "%s was not found (%s); install it or set %s", i.Name,
		plain.Line(strings.Join(candidates, ", "), 200), i.Variable)
}

// behind returns the program that a script at path stands for, and path itself when it is not a script.
func (i *Interpreter) behind(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return path, nil // readable or not, it may be executed
	}
	defer func() { _ = f.Close() }()
	var magic [2]byte
	if n, _ := f.Read(magic[:]); n < 2 || string(magic[:]) != "#!" {
		return path, nil
	}
	var manager []string
	for _, key := range versionManagers {
		if v, ok := os.LookupEnv(key); ok {
			manager = append(manager, key+"="+v)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), StartTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, i.Ask...)
	cmd.Env = proc.Environment(manager...)
	cmd.WaitDelay = time.Second
	var stderr proc.Tail
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	real := string(bytes.TrimSpace(out))
	if err == nil && !filepath.IsAbs(real) {
		err = errors.New("it did not say where it is")
	}
	if err != nil {
		text := lastLine(stderr.Text(), nil)
		if text == "" {
			text = err.Error()
		}
		return "", value.Errorf(value.SandboxError, "%s at %s could not be asked for its path: %s", i.Name, plain.Line(path, 200), plain.Line(text, 300))
	}
	return real, nil
}
