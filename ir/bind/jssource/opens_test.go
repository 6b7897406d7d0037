package jssource

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/internal/straced"
)

// ofGo is what Go and the linker open when a program begins.
var ofGo = regexp.MustCompile(`^/((usr/)?lib(64)?/|etc/ld\.so\.(cache|preload)$|sys/kernel/mm/transparent_hugepage/|sys/fs/cgroup/|sys/devices/system/cpu/|proc/(self|\d+)/(cgroup|mountinfo|maps|auxv|stat)$|proc/sys/|dev/null$|etc/localtime$|usr/share/zoneinfo/)`)

// TestNothingOutsideIsOpened watches the bundling of all hostile imports: the process opens files and folders of the projects
// alone, be it this package or esbuild that would.
func TestNothingOutsideIsOpened(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs strace")
	}
	if list := os.Getenv("FLOWGEN_BUNDLED"); list != "" { // the process that is watched
		for _, project := range strings.Split(list, "\n") {
			home, rel, _ := strings.Cut(project, "\t")
			confined(home, rel)
		}
		return
	}
	straced.Need(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var projects, homes []string
	for name, files := range ways {
		home, rel := wayOut(t, name, files)
		if home, err = filepath.EvalSymlinks(home); err != nil {
			t.Fatal(err)
		}
		homes, projects = append(homes, home), append(projects, home+"\t"+rel)
	}
	cmd := exec.Command(exe, "-test.run=^TestNothingOutsideIsOpened$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), "FLOWGEN_BUNDLED="+strings.Join(projects, "\n"))
	seen, out := straced.Run(t, cmd)
	if !strings.Contains(string(out), "--- PASS") {
		t.Fatalf("%s", out)
	}
	opened := map[string]bool{}
	for _, o := range seen.Opens {
		in := slices.IndexFunc(homes, func(home string) bool { return o.Path == home || strings.HasPrefix(o.Path, home+"/") })
		switch {
		case o.Write:
			t.Errorf("%s was opened for writing", o.Path)
		case in >= 0:
			opened[homes[in]] = opened[homes[in]] || o.Path != homes[in]
		case !ofGo.MatchString(o.Path):
			t.Errorf("%s was opened", o.Path)
		}
	}
	for _, home := range homes {
		if !opened[home] {
			t.Errorf("nothing of %s was opened: strace does not see it", home)
		}
	}
	if len(seen.Started) != 1 {
		t.Errorf("started: %q", seen.Started)
	}
}
