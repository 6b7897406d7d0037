//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/flowgen-dev/flowgen/runtime/internal/isolate"
)

func left(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, folderPrefix+"*"))
	check(t, err)
	return list
}

// What tools leave in their folder does not keep it from being removed.
func TestFolderGoes(t *testing.T) {
	for name, script := range map[string]string{
		"nothing":     `true`,
		"files":       `mkdir -p a/b; echo x > a/b/c; ln -s / link; mkfifo pipe`,
		"unreadable":  `mkdir a; echo x > a/b; mkdir -m 0 a/c; umask 0777; mkdir d; mkdir -m 300 e; : > e/f`,
		"still busy":  `exec >/dev/null 2>&1; (while :; do : > "$$.$(date +%N)"; done) & (while :; do mkdir -p x/y/z; done) & sleep 0.05; exit 3`, // output reads until all have closed its pipe
		"killed":      `echo x > a; kill -9 $$`,
		"many levels": `for i in 1 2 3 4 5 6 7 8 9; do mkdir -p a/a/a/a/a/a/a/a/a; cd a/a/a/a/a/a/a/a/a; done; echo x > y`,
	} {
		temp := publicDir(t)
		check(t, os.Chmod(temp, 0o777))
		t.Setenv("TMPDIR", temp)
		_, _ = output(t, new(Profile), isolate.Need{}, exec.Command("sh", "-c", script))
		if list := left(t, temp); len(list) > 0 {
			t.Errorf("%s: %q are left", name, list)
		}
	}
}

// TestSweep has a program killed while its tool runs. The next one removes its folder, and nothing else.
func TestSweep(t *testing.T) {
	temp := t.TempDir()
	check(t, os.Chmod(temp, 0o711)) // root's tools are other users
	program := exec.Command("/proc/self/exe")
	program.Env = []string{"FLOWGEN_ATTACK=start and wait", "PATH=" + systemPath, "TMPDIR=" + temp}
	out, err := program.StdoutPipe()
	check(t, err)
	check(t, program.Start())
	said := bufio.NewReader(out)
	if line, err := said.ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	dead := left(t, temp)
	check(t, os.Mkdir(filepath.Join(dead[0], "closed"), 0))

	outside := t.TempDir()
	check(t, os.WriteFile(filepath.Join(outside, "file"), nil, 0o600))
	check(t, os.Symlink(outside, filepath.Join(temp, folderPrefix+"link")))
	check(t, os.Symlink(outside, filepath.Join(dead[0], "link")))
	check(t, os.WriteFile(filepath.Join(temp, folderPrefix+"file"), nil, 0o600))
	check(t, unix.Mkfifo(filepath.Join(temp, folderPrefix+"pipe"), 0o600))
	check(t, os.Mkdir(filepath.Join(temp, "other"), 0o700))
	keep := []string{folderPrefix + "file", folderPrefix + "link", folderPrefix + "pipe", "other"}
	if os.Geteuid() == 0 { // the folder of another user
		name := folderPrefix + "stranger"
		check(t, os.Mkdir(filepath.Join(temp, name), 0o700))
		check(t, os.Chown(filepath.Join(temp, name), ordinary, ordinary))
		keep = append(keep, name)
	}
	t.Setenv("TMPDIR", temp)
	own, err := newFolder()
	check(t, err)
	defer own.remove()
	keep = append(keep, filepath.Base(own.path))
	slices.Sort(keep)

	sweep(temp) // the program is alive
	if len(dead) != 1 || !slices.Contains(left(t, temp), dead[0]) {
		t.Fatalf("%q, then %q", dead, left(t, temp))
	}
	check(t, program.Process.Kill())
	_, _ = said.ReadString('\n') // until its tool is gone, too
	_ = program.Wait()
	sweep(temp)
	var have []string
	list, err := os.ReadDir(temp)
	check(t, err)
	for _, e := range list {
		have = append(have, e.Name())
	}
	if !slices.Equal(have, keep) {
		t.Errorf("there are %q, want %q", have, keep)
	}
	if _, err := os.Stat(filepath.Join(outside, "file")); err != nil {
		t.Error(err)
	}
}

// TestOwnProcess opens every file of /proc/self in the sandbox: those that tell of the machine are not among the readable.
func TestOwnProcess(t *testing.T) {
	var names []string
	for _, dir := range []string{"", "net", "task", "attr", "ns", "map_files", "fdinfo"} {
		list, _ := os.ReadDir("/proc/self/" + dir)
		for _, e := range list {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	if !slices.Contains(names, "net/tcp") || !slices.Contains(names, "mountinfo") {
		t.Fatalf("there is nothing to hide: %q", names)
	}
	script := `for f; do if true < "/proc/self/$f"; then echo "$f"; fi; done 2>/dev/null`
	got, err := output(t, new(Profile), isolate.Need{}, exec.Command("sh", append([]string{"-c", script, "sh"}, names...)...))
	check(t, err)
	for _, name := range strings.Fields(got) {
		// The program, its directory and handles of its namespaces, which no allowed call takes.
		if !slices.Contains(ownProcess, name) && name != "exe" && name != "cwd" && !strings.HasPrefix(name, "ns/") {
			t.Errorf("/proc/self/%s can be read", name)
		}
	}
	if !strings.Contains(got, "status") {
		t.Errorf("only %q can be read", got)
	}
}

// Where the directory for temporary files is a link, the folder is not below it.
func TestFolderBehindLink(t *testing.T) {
	real, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	link := filepath.Join(t.TempDir(), "link")
	check(t, os.Symlink(real, link))
	t.Setenv("TMPDIR", link)
	f, err := newFolder()
	check(t, err)
	defer f.remove()
	if filepath.Dir(f.path) != real {
		t.Errorf("%s is not in %s", f.path, real)
	}
}
