// Package programs decides which programs the compiler starts and what they see of its environment. Looking at a repository
// runs none of its programs: a program inside of what may come from a stranger is never one of them, even where PATH leads there.
package programs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/internal/files"
)

// Strangers are the folders that may hold what a stranger has written, for a workflow in dir: its project, and the
// repositories of the project and of the working directory. The largest is the first.
func Strangers(dir string) []string {
	var out []string
	add := func(name string) {
		if name != "" && name != filepath.Dir(name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	add(files.Repository(dir))
	if project := files.Project(filepath.Join(dir, "x")); len(project) > 0 {
		add(project[0].Dir)
	}
	if here, err := os.Getwd(); err == nil {
		add(files.Repository(here))
	}
	return out
}

// Holding is the folder among dirs that a name is in, by its text or by where links lead; "" for none.
func Holding(dirs []string, name string) string {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		real = name
	}
	for _, dir := range dirs {
		home, err := filepath.EvalSymlinks(dir)
		if err != nil {
			home = dir
		}
		if files.Within(dir, name) || files.Within(home, name) || files.Within(home, real) {
			return dir
		}
	}
	return ""
}

// Find looks for a program in the folders of PATH. own is one that lies in none of the strange folders and that no link there
// leads to; refused is one that does.
func Find(name string, strange []string) (own, refused string) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		for _, end := range ends() {
			exe := filepath.Join(dir, name+end)
			if !filepath.IsAbs(dir) || !Runnable(exe) {
				continue
			}
			if Own(exe, strange) {
				return exe, refused
			}
			refused = exe
		}
	}
	return "", refused
}

func ends() []string {
	if runtime.GOOS == "windows" {
		return []string{".exe", ".bat", ".cmd"}
	}
	return []string{""}
}

// Runnable reports whether a name leads to a program.
func Runnable(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.Mode().IsRegular() && (runtime.GOOS == "windows" || st.Mode()&0o111 != 0)
}

// Own reports whether neither a program nor a link on the way to it lies in one of the folders.
func Own(name string, strange []string) bool {
	for range 40 {
		dir, err := filepath.EvalSymlinks(filepath.Dir(name))
		if err != nil || Holding(strange, filepath.Dir(name)) != "" || Holding(strange, filepath.Join(dir, filepath.Base(name))) != "" {
			return false
		}
		to, err := os.Readlink(filepath.Join(dir, filepath.Base(name)))
		if err != nil {
			return true // no link
		}
		if name = to; !filepath.IsAbs(to) {
			name = filepath.Join(dir, to)
		}
	}
	return false
}

// OwnPath is a PATH without folders that depend on where a command runs, and without those of strangers.
func OwnPath(path string, strange []string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool {
		return !filepath.IsAbs(dir) || Holding(strange, dir) != ""
	})
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// GoFlags keep the go command from starting other programs: that of -toolexec, and those that version control needs. Places
// in what it reports lead to the files.
var GoFlags = []string{"-trimpath=false", "-toolexec=", "-buildvcs=false"}

// forGo are the folders whose programs the go command must not start. What holds the user's home is the user's.
func forGo(dir string) []string {
	home, err := os.UserHomeDir()
	return slices.DeleteFunc(Strangers(dir), func(strange string) bool { return err == nil && files.Within(strange, home) })
}

// CheckGo returns an error when the go command that would be started for a workflow in dir, the first in PATH, is one of the
// repository. No other is looked for: go/packages takes the first. A PATH without a go command is not an error here.
func CheckGo(dir string) error {
	_, err := Go(dir)
	if strange := (*GoError)(nil); errors.As(err, &strange) {
		return err
	}
	return nil
}

// Go is the absolute name of the go command to start for a workflow in dir, the first in PATH. The error is a *GoError where
// that is one of the repository, or depends on the working directory, and exec.ErrNotFound where there is none.
func Go(dir string) (string, error) {
	if link := moduleLink(dir); link != "" {
		return "", &GoError{Link: link}
	}
	exe, err := exec.LookPath("go")
	switch {
	case err != nil && !errors.Is(err, exec.ErrDot):
		return "", exec.ErrNotFound
	case err == nil && Own(exe, forGo(dir)):
		return exe, nil
	}
	return "", &GoError{Exe: exe}
}

// GoFolders are the folders in which the user's go command keeps its own packages and those of other modules.
func GoFolders(dir string) ([]string, error) {
	out, err := AskGo(dir, "env", "GOROOT", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.Split(strings.TrimSpace(string(out)), "\n"), func(dir string) bool { return !filepath.IsAbs(dir) }), nil
}

// noNetwork has the go command use what is on this machine. Modules that GONOPROXY or GOPRIVATE names would be fetched without a
// proxy, even where that is off.
var noNetwork = []string{"GOPROXY=off", "GONOPROXY=none", "GOVCS=*:off", "GOSUMDB=off"}

// AskGo returns what the go command says in dir. It fetches nothing.
func AskGo(dir string, args ...string) ([]byte, error) {
	exe, err := Go(dir)
	if err != nil {
		return nil, err
	}
	var out []byte
	err = Within(time.Minute, func(ctx context.Context) error {
		cmd := exec.CommandContext(ctx, exe, args...)
		cmd.Dir, cmd.Env = dir, append(GoEnvironment(os.Environ(), dir), noNetwork...)
		cmd.Env = append(cmd.Env, "PWD="+dir)
		out, err = cmd.Output()
		return err
	})
	return out, err
}

// BuildEnvironment is env for a go command that builds what is to run: the programs that it starts, such as git and a compiler
// for C, are none of the repository.
func BuildEnvironment(env []string, dir string) []string {
	strange, out := forGo(dir), slices.Clone(env)
	for i, v := range out {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			out[i] = "PATH=" + OwnPath(path, strange)
		}
	}
	return ownSettings(out, dir, strange)
}

// moduleFiles are what the go command reads of a module, and quotes where it cannot read it.
var moduleFiles = []string{"go.mod", "go.sum", "go.work", "go.work.sum", filepath.Join("vendor", "modules.txt")}

// moduleLink is a file of a module, in dir or above it, that leads out of what holds it; "" for none.
func moduleLink(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	strange := forGo(dir)
	for ; ; dir = filepath.Dir(dir) {
		home := Holding(strange, dir)
		if home == "" {
			return ""
		}
		for _, name := range moduleFiles {
			name = filepath.Join(dir, name)
			inside, err1 := filepath.EvalSymlinks(home)
			real, err2 := filepath.EvalSymlinks(name)
			if err1 == nil && err2 == nil && !files.Within(inside, real) {
				return name
			}
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// A GoError is the refusal to start a go command of the repository, or one that would read what a link of the repository leads to.
type GoError struct{ Exe, Link string }

func (e *GoError) Error() string {
	if e.Link != "" {
		return e.Link + " is a link out of the project, and the go command would read what it leads to"
	}
	return fmt.Sprintf("the go command in PATH, %s, belongs to the project, whose programs are never run at compile time", e.Exe)
}

// Help says what to do about it.
func (e *GoError) Help() string {
	if e.Link != "" {
		return "put the file itself in its place"
	}
	return "put the folder of your own Go first in PATH"
}

// GoEnvironment is the environment of a go command that looks at packages for a workflow in dir. It takes no other program's
// word for packages and starts no compiler for C and no program of the repository: the text of a package would decide what
// those read. What env already says about cgo and toolchains stays, but for sanitizers, which need cgo.
func GoEnvironment(env []string, dir string) []string {
	strange := forGo(dir)
	var out []string
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		switch name {
		case "GOPACKAGESDRIVER":
			continue
		case "PATH":
			v = "PATH=" + OwnPath(value, strange)
		case "GOFLAGS":
			v = "GOFLAGS=" + strings.Join(slices.DeleteFunc(strings.Fields(value), sanitizer), " ")
		}
		out = append(out, v)
	}
	out = append(ownSettings(out, dir, strange), "GOPACKAGESDRIVER=off")
	for _, v := range []string{"CGO_ENABLED=0", "GOTOOLCHAIN=local"} {
		name, _, _ := strings.Cut(v, "=")
		if !slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") }) {
			out = append(out, v)
		}
	}
	return out
}

// ownSettings leaves out what would make the go command start a program of the repository as its cache, and its settings where
// they are a file of the repository: they could name such a program, or other files in place of those that are looked at.
func ownSettings(env []string, dir string, strange []string) []string {
	inside := func(name string) bool {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return Holding(strange, name) != "" || Holding(strange, filepath.Dir(name)) != "" // through links, also of what is not there
	}
	value := func(name string) string { // the last one counts
		for _, v := range slices.Backward(env) {
			if text, ok := strings.CutPrefix(v, name+"="); ok {
				return text
			}
		}
		return ""
	}
	out := slices.Clone(env)
	settings := value("GOENV")
	if config, err := os.UserConfigDir(); settings == "" && err == nil {
		settings = filepath.Join(config, "go", "env")
	}
	if settings != "" && settings != "off" && inside(settings) {
		out = append(out, "GOENV=off")
	}
	if program := firstWord(value("GOCACHEPROG")); strings.ContainsAny(program, `/\`) && inside(program) {
		out = append(out, "GOCACHEPROG=")
	}
	return out
}

// firstWord is the program of a command line as the go command reads it: its words may be in quotes.
func firstWord(line string) string {
	line = strings.TrimLeft(line, " \t\r\n")
	if line != "" && (line[0] == '\'' || line[0] == '"') {
		word, _, _ := strings.Cut(line[1:], line[:1])
		return word
	}
	if end := strings.IndexAny(line, " \t\r\n"); end >= 0 {
		line = line[:end]
	}
	return line
}

func sanitizer(flag string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
	return name == "race" || name == "msan" || name == "asan"
}
