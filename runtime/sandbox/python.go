//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"time"
)

// A Python outside the system's directories (pyenv, conda, a virtual environment) reads its library from where it stands.

var pythonName = regexp.MustCompile(`^(python|pypy)[0-9.]*$`)

func isPython(path string) bool { return pythonName.MatchString(filepath.Base(path)) }

// where asks an interpreter for its places, without site modules and without the environment, so that nothing of the user's runs.
const where = `import sys, sysconfig, json
p = sysconfig.get_paths()
print(json.dumps({"exe": sys.executable, "paths": [p[k] for k in ("stdlib", "platstdlib", "purelib", "platlib") if k in p],
"libdir": sysconfig.get_config_var("LIBDIR") or "", "prefix": sys.base_prefix}))`

// places is the answer.
type places struct {
	Exe    string   `json:"exe"`
	Paths  []string `json:"paths"`
	LibDir string   `json:"libdir"`
	Prefix string   `json:"prefix"`
}

var asked sync.Map // of interpreters, by path and time of change: *places

// python grants the libraries of an interpreter.
func (p *program) python() error {
	if root := filepath.Dir(filepath.Dir(p.path)); isFile(filepath.Join(root, "pyvenv.cfg")) {
		p.grants = append(p.grants, grant{Path: []byte(root), Rights: readAll})
	}
	real, err := filepath.EvalSymlinks(p.path)
	if err != nil || inSystem(real) {
		return nil // its library is in the system's directories too
	}
	at, err := ask(p.path)
	if err != nil {
		return err
	}
	if script(real) { // one that chooses an interpreter, and would have to look around for it
		p.path = at.Exe
		if err := p.need(at.Exe, 0); err != nil {
			return err
		}
	}
	if isDir(filepath.Join(at.Prefix, "conda-meta")) { // its libraries are next to each other
		at.Paths = append(at.Paths[:len(at.Paths):len(at.Paths)], at.Prefix)
	}
	for _, path := range at.Paths {
		p.grants = append(p.grants, grant{Path: []byte(path), Rights: readAll, Optional: true})
	}
	libraries, _ := filepath.Glob(filepath.Join(at.LibDir, "lib*.so*"))
	const most = 200
	for _, path := range libraries[:min(len(libraries), most)] {
		p.grants = append(p.grants, grant{Path: []byte(path), Rights: readAll, Optional: true})
	}
	return nil
}

func ask(path string) (*places, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, &exec.Error{Name: path, Err: reason(err)}
	}
	key := path + "\x00" + info.ModTime().String()
	if at, ok := asked.Load(key); ok {
		return at.(*places), nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-I", "-S", "-c", where)
	// Scripts that choose an interpreter want to know the user's directory.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return nil, failed("interpreter %s does not say where its library is: %v", path, err)
	}
	at := new(places)
	if err := json.Unmarshal(bytes.TrimSpace(out), at); err != nil || !filepath.IsAbs(at.Exe) {
		return nil, failed("interpreter %s does not say where its library is", path)
	}
	asked.Store(key, at)
	return at, nil
}

func script(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return shebang(f) != ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
