//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bufio"
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// system are the directories of programs and libraries. What else is below /usr may be anybody's, such as /usr/src.
var system = []string{
	"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/libexec", "/usr/share", "/usr/include",
	"/usr/local/bin", "/usr/local/sbin", "/usr/local/lib", "/usr/local/lib64", "/usr/local/libexec", "/usr/local/share",
	"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store",
}

// systemPath are those in which programs are looked up.
const systemPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

// settings are files that programs read when they start, with nothing private in them.
var settings = []string{
	"/etc/ld.so.cache", "/etc/localtime", "/etc/timezone", "/etc/ssl/openssl.cnf", "/etc/ssl/certs", "/etc/mime.types", "/etc/os-release",
	"/dev/urandom", "/dev/random", "/proc/meminfo", "/proc/cpuinfo", "/proc/sys/vm/overcommit_memory",
	"/sys/devices/system/cpu/online", "/sys/devices/system/cpu/possible",
}

// ownProcess are the files of /proc/self that interpreters and libraries read. The others tell of the machine: its connections
// (net, and task, which has it too), its mounts, its control groups.
var ownProcess = []string{"auxv", "cmdline", "comm", "environ", "fd", "io", "limits", "maps", "oom_score_adj", "smaps", "smaps_rollup", "stat", "statm", "status"}

// machine is what every tool may reach.
func machine() []grant {
	var out []grant
	for _, dir := range system {
		out = append(out, grant{Path: []byte(dir), Rights: readAll, Optional: true})
	}
	for _, file := range settings {
		out = append(out, grant{Path: []byte(file), Rights: readFile | unix.LANDLOCK_ACCESS_FS_READ_DIR, Optional: true})
	}
	pythons, _ := filepath.Glob("/etc/python3*") // the pattern is good
	for _, dir := range pythons {
		out = append(out, grant{Path: []byte(dir), Rights: readAll, Optional: true})
	}
	for _, file := range ownProcess {
		out = append(out, grant{Path: []byte("/proc/self/" + file), Rights: readFile | unix.LANDLOCK_ACCESS_FS_READ_DIR, Optional: true})
	}
	return append(out,
		grant{Path: []byte("/dev/null"), Rights: readFile | write})
}

// A program is what a command starts, with what it needs to start.
type program struct {
	path   string
	grants []grant
}

// locate finds the program of a command: a name in the system's directories first, because programs elsewhere may be scripts
// that look for others where the sandbox does not let them.
func locate(cmd *exec.Cmd) (*program, error) {
	path := cmd.Path
	if len(cmd.Args) > 0 && !strings.Contains(cmd.Args[0], "/") && !inSystem(path) {
		if found := lookup(cmd.Args[0]); found != "" {
			path, cmd.Err = found, nil
		}
	}
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(cmd.Dir, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	p := &program{path: path}
	if err := p.need(path, 0); err != nil {
		return nil, err
	}
	if isPython(path) {
		if err := p.python(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func lookup(name string) string {
	for _, dir := range filepath.SplitList(systemPath) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

func inSystem(path string) bool {
	return slices.ContainsFunc(system, func(dir string) bool { return below(path, dir) })
}

func below(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// deepest is how many interpreters of interpreters are followed, and how many libraries of libraries.
const deepest = 8

// need grants a program outside the system's directories, with its interpreter or its libraries.
func (p *program) need(path string, depth int) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return &exec.Error{Name: path, Err: reason(err)}
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return &exec.Error{Name: path, Err: reason(err)}
	case !info.Mode().IsRegular(), depth == 0 && info.Mode()&0o111 == 0:
		return &exec.Error{Name: path, Err: fs.ErrPermission}
	}
	if inSystem(real) {
		return nil
	}
	if p.has(real) || depth > deepest {
		return nil
	}
	p.grants = append(p.grants, grant{Path: []byte(real), Rights: readAll})
	f, err := os.Open(real)
	if err != nil {
		return nil // it may be started though not read
	}
	defer f.Close()
	if interpreter := shebang(f); interpreter != "" {
		return p.need(interpreter, depth+1)
	}
	if e, err := elf.NewFile(f); err == nil {
		p.libraries(e, filepath.Dir(real), depth)
	}
	return nil
}

func (p *program) has(path string) bool {
	return slices.ContainsFunc(p.grants, func(g grant) bool { return string(g.Path) == path })
}

// shebang returns the interpreter that the first line of a script names.
func shebang(f *os.File) string {
	line, _ := bufio.NewReader(io.NewSectionReader(f, 0, 4096)).ReadBytes('\n')
	rest, ok := bytes.CutPrefix(line, []byte("#!"))
	if fields := bytes.Fields(rest); ok && len(fields) > 0 && fields[0][0] == '/' {
		return string(fields[0])
	}
	return ""
}

// libraries grants what a program brings along itself: libraries that it finds relative to itself or at a fixed place.
func (p *program) libraries(e *elf.File, dir string, depth int) {
	var places []string
	for _, tag := range []elf.DynTag{elf.DT_RUNPATH, elf.DT_RPATH} {
		paths, _ := e.DynString(tag)
		for _, list := range paths {
			for place := range strings.SplitSeq(list, ":") {
				place = strings.NewReplacer("${ORIGIN}", dir, "$ORIGIN", dir).Replace(place)
				if filepath.IsAbs(place) {
					places = append(places, place)
				}
			}
		}
	}
	names, _ := e.ImportedLibraries()
	for _, name := range names {
		for _, place := range places {
			path := filepath.Join(place, name)
			if _, err := os.Stat(path); err != nil {
				continue
			}
			_ = p.need(path, depth+1) // the loader says it better when it is missing
			break
		}
	}
}

func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// environment is that of the tool: as given (nothing where exec.Cmd would inherit everything), with the private directory where files of the user would be, and programs only from
// where they can be started.
func environment(given []string, dir string, grants []grant) []string {
	out := make([]string, 0, len(given)+4)
	for _, entry := range given {
		key, value, _ := strings.Cut(entry, "=")
		switch key {
		case "HOME", "TMPDIR", "PWD":
			if value == os.Getenv(key) || key == "PWD" {
				continue
			}
		case "PATH":
			value = reachable(value, grants)
			entry = "PATH=" + value
		}
		out = append(out, entry)
	}
	for _, entry := range []string{"HOME=" + dir, "TMPDIR=" + dir, "PATH=" + systemPath} {
		key, _, _ := strings.Cut(entry, "=")
		if !slices.ContainsFunc(out, func(e string) bool { return strings.HasPrefix(e, key+"=") }) {
			out = append(out, entry)
		}
	}
	return out
}

// reachable keeps the directories of a path from which programs can be started.
func reachable(path string, grants []grant) string {
	var out []string
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		granted := slices.ContainsFunc(grants, func(g grant) bool { return below(dir, string(g.Path)) })
		if inSystem(dir) || granted {
			out = append(out, dir)
		}
	}
	if len(out) == 0 {
		return systemPath
	}
	return strings.Join(out, ":")
}
