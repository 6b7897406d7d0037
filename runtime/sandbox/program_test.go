//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What a tool's environment is made from.
func TestEnvironment(t *testing.T) {
	t.Setenv("HOME", "/home/user")
	t.Setenv("TMPDIR", "/tmp/user")
	t.Setenv("PWD", "/work")
	for _, tt := range []struct{ given, want []string }{
		{nil, []string{"HOME=/p", "TMPDIR=/p", "PATH=" + systemPath}},
		{[]string{"A=1", "A=2", "B"}, []string{"A=1", "A=2", "B", "HOME=/p", "TMPDIR=/p", "PATH=" + systemPath}},
		{[]string{"HOME=/home/user", "TMPDIR=/tmp/user", "PWD=/work"}, []string{"HOME=/p", "TMPDIR=/p", "PATH=" + systemPath}},
		{[]string{"PWD=/else", "HOME=/else", "TMPDIR=/else"}, []string{"HOME=/else", "TMPDIR=/else", "PATH=" + systemPath}},
		{[]string{"PATH=/usr/bin:/opt:.:/g/bin:/g2"}, []string{"PATH=/usr/bin:/g/bin", "HOME=/p", "TMPDIR=/p"}},
		{[]string{"PATH=/opt:relative"}, []string{"PATH=" + systemPath, "HOME=/p", "TMPDIR=/p"}},
	} {
		if got := environment(tt.given, "/p", []grant{{Path: []byte("/g")}}); !slices.Equal(got, tt.want) {
			t.Errorf("%q is %q, want %q", tt.given, got, tt.want)
		}
	}
}

func TestBelow(t *testing.T) {
	for path, want := range map[string]bool{"/a": true, "/a/b": true, "/ab": false, "/": false, "/b/a": false} {
		if got := below(path, "/a"); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	for path, want := range map[string]bool{"/usr/bin/x": true, "/usr/src/x": false, "/bin": true, "/home/bin": false} {
		if got := inSystem(path); got != want {
			t.Errorf("%s is a program of the system: %v", path, got)
		}
	}
}

// The first line of a script names its interpreter when it does so by an absolute path.
func TestShebang(t *testing.T) {
	name := filepath.Join(t.TempDir(), "script")
	for text, want := range map[string]string{
		"": "", "#!": "", "#!\n/bin/sh": "", "#!/bin/sh": "/bin/sh", "#! /bin/sh -e\nx": "/bin/sh", "#!sh\n": "", "x#!/bin/sh\n": "", "/bin/sh\n": "",
	} {
		check(t, os.WriteFile(name, []byte(text), 0o600))
		f, err := os.Open(name)
		check(t, err)
		if got := shebang(f); got != want || script(name) != (want != "") {
			t.Errorf("%q: %q, a script: %v", text, got, script(name))
		}
		f.Close()
	}
	if script(name + "-none") {
		t.Error("a missing file is a script")
	}
}

// Scripts that scripts interpret are granted, up to a depth, each once. A program must be executable, a library need not be.
func TestGrantsOfPrograms(t *testing.T) {
	dir := wordDir(t)
	name := func(i int) string { return filepath.Join(dir, strings.Repeat("x", i+1)) }
	for i := range deepest + 3 {
		check(t, os.WriteFile(name(i), []byte("#!"+name(i+1)+"\n"), 0o700))
	}
	check(t, os.WriteFile(name(deepest+3), nil, 0o600))
	granted := func(path string, depth int) (paths []string, err error) {
		var p program
		err = p.need(path, depth)
		for _, g := range p.grants {
			paths = append(paths, string(g.Path))
		}
		return paths, err
	}
	if got, err := granted(name(0), 0); len(got) != deepest+1 || got[deepest] != name(deepest) || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := granted(name(0), deepest); len(got) != 1 || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := granted(name(0), deepest+1); len(got) != 0 || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := granted(name(deepest+3), 0); len(got) != 0 || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("not executable: %q, %v", got, err)
	}
	if got, err := granted(name(deepest+3), 1); len(got) != 1 || err != nil {
		t.Errorf("a library: %q, %v", got, err)
	}
	if got, err := granted(dir, 1); len(got) != 0 || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a directory: %q, %v", got, err)
	}
	check(t, os.WriteFile(name(1), []byte("#!"+name(0)+"\n"), 0o700))
	if got, err := granted(name(0), 0); len(got) != 2 || err != nil {
		t.Errorf("in a circle: %q, %v", got, err)
	}
}

// A name is looked up in the system's directories first; a path is taken as it is.
func TestLocate(t *testing.T) {
	dir := wordDir(t)
	own := filepath.Join(dir, "sh")
	check(t, os.WriteFile(own, []byte("#!/bin/sh\n"), 0o700))
	t.Setenv("PATH", dir)
	missing := exec.Command("flowgen-none")
	for _, tt := range []struct {
		cmd  *exec.Cmd
		want string
		err  error
	}{
		{exec.Command("sh"), lookup("sh"), nil},
		{exec.Command(own), own, nil},
		{&exec.Cmd{Path: own}, own, nil},
		{&exec.Cmd{Path: "sh", Dir: dir}, own, nil},
		{&exec.Cmd{Path: "/bin/sh", Args: []string{"cat"}}, "/bin/sh", nil}, // Args[0] is what the program is told
		{&exec.Cmd{Path: own, Args: []string{"./sh"}}, own, nil},
		{&exec.Cmd{Path: own, Args: []string{"flowgen-none"}}, own, nil},
		{missing, "", exec.ErrNotFound},
		{exec.Command("umask-is-no-program"), "", exec.ErrNotFound},
	} {
		got, err := locate(tt.cmd)
		switch {
		case tt.err != nil:
			if !errors.Is(err, tt.err) {
				t.Errorf("%v: %v, want %v", tt.cmd, err, tt.err)
			}
		case err != nil || got.path != tt.want:
			t.Errorf("%v: %v, %v, want %s", tt.cmd, got, err, tt.want)
		}
	}
	if got := lookup("sh"); got != "/usr/bin/sh" && got != "/bin/sh" {
		t.Errorf("sh is %q", got)
	}
	for _, name := range []string{"flowgen-none", ".", "python3/x"} {
		if got := lookup(name); got != "" {
			t.Errorf("%q is %q", name, got)
		}
	}
}

// An optional grant may be of a file that is not there; the others may not.
func TestGrantsOfMissingFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(file, nil, 0o600))
	domain, err := ruleset(leastABI, false)
	check(t, err)
	defer unix.Close(domain)
	for _, path := range []string{file + "-none", filepath.Join(file, "below")} {
		if err := (grant{Path: []byte(path), Rights: readAll, Optional: true}).allow(domain); err != nil {
			t.Error(err)
		}
		if err := (grant{Path: []byte(path), Rights: readAll}).allow(domain); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := (grant{Path: []byte(strings.Repeat("x", 5000)), Rights: readAll, Optional: true}).allow(domain); !errors.Is(err, unix.ENAMETOOLONG) {
		t.Error(err)
	}
	if err := (grant{Path: []byte(file), Rights: readAll}).allow(domain); err != nil {
		t.Errorf("a file with the rights of a directory: %v", err)
	}
	if err := (grant{Path: []byte(file), Rights: readAll}).allow(-1); !errors.Is(err, unix.EBADF) {
		t.Error(err)
	}
}

// dynamic writes what the loader reads of a program: the libraries it needs and where they are looked for.
func dynamic(t *testing.T, name string, mode os.FileMode, runpath string, needed ...string) {
	t.Helper()
	strs := "\x00" + runpath + "\x00"
	entries := []elf.Dyn64{{Tag: int64(elf.DT_RUNPATH), Val: 1}}
	for _, n := range needed {
		entries = append(entries, elf.Dyn64{Tag: int64(elf.DT_NEEDED), Val: uint64(len(strs))})
		strs += n + "\x00"
	}
	entries = append(entries, elf.Dyn64{})
	const head, section, entry = 64, 64, 16
	at := uint64(head + 3*section)
	var b bytes.Buffer
	for _, part := range []any{
		elf.Header64{Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}, Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64),
			Version: uint32(elf.EV_CURRENT), Shoff: head, Ehsize: head, Shentsize: section, Shnum: 3, Shstrndx: 1},
		elf.Section64{},
		elf.Section64{Type: uint32(elf.SHT_STRTAB), Off: at, Size: uint64(len(strs)), Addralign: 1},
		elf.Section64{Type: uint32(elf.SHT_DYNAMIC), Off: at + uint64(len(strs)), Size: uint64(len(entries) * entry), Link: 1, Entsize: entry},
		[]byte(strs), entries,
	} {
		check(t, binary.Write(&b, binary.LittleEndian, part))
	}
	check(t, os.WriteFile(name, b.Bytes(), mode))
}

// A program's libraries are granted where it looks for them, and theirs, whether it is started or interprets a script.
func TestGrantsOfLibraries(t *testing.T) {
	dir := wordDir(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, d := range []string{"bin", "lib", "more"} {
		check(t, os.Mkdir(at(d), 0o700))
	}
	dynamic(t, at("bin/prog"), 0o700, "$ORIGIN/../none:relative:${ORIGIN}/../lib:"+at("more"), "liba.so", "libnone.so", "libc.so")
	dynamic(t, at("lib/liba.so"), 0o600, "$ORIGIN", "libb.so", "libc.so")
	dynamic(t, at("lib/libb.so"), 0o600, "", "libc.so")
	dynamic(t, at("more/liba.so"), 0o600, "") // behind the first
	dynamic(t, at("more/libc.so"), 0o600, "")
	check(t, os.WriteFile(at("script"), []byte("#!"+at("bin/prog")+"\n"), 0o700))
	libraries := []string{at("bin/prog"), at("lib/liba.so"), at("lib/libb.so"), at("more/libc.so")}
	for start, want := range map[string][]string{"bin/prog": libraries, "script": append([]string{at("script")}, libraries...)} {
		var p program
		check(t, p.need(at(start), 0))
		var got []string
		for _, g := range p.grants {
			got = append(got, string(g.Path))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", start, got, want)
		}
	}
}

// wordDir is a temporary folder whose name has no blank: the first line of a script could not name a program in another.
func wordDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if strings.Contains(dir, " ") {
		made, err := os.MkdirTemp("/tmp", "sandbox")
		check(t, err)
		t.Cleanup(func() { _ = os.RemoveAll(made) })
		dir = made
	}
	dir, err := filepath.EvalSymlinks(dir)
	check(t, err)
	return dir
}
