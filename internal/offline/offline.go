// Package offline is for tests that run the go command without a network: what flowgen writes must build with the modules
// that flowgen itself requires, and with nothing else.
package offline

import (
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// download fetches the modules of go.mod into the user's module cache, once per process. On a new machine the go command
// has fetched only those that this test links; without a network it works as long as all are there.
var download = sync.OnceValues(func() ([]byte, error) { return exec.Command("go", "mod", "download").CombinedOutput() })

// Env returns the variables under which the go command works without a network, and with the caches of this machine
// whatever HOME is. The first call downloads what is missing; it needs the working directory to be in this module.
func Env(t testing.TB) map[string]string {
	t.Helper()
	if out, err := download(); err != nil {
		t.Fatalf("go mod download: %v\n%s", err, out)
	}
	names := []string{"GOCACHE", "GOMODCACHE", "GOROOT"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		t.Fatalf("go env: %v", err)
	}
	env := map[string]string{"GOPROXY": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "-modcacherw -ldflags=-s"} // nobody debugs what a test links
	for i, line := range strings.Split(strings.TrimRight(string(out), "\r\n"), "\n") {
		env[names[i]] = strings.TrimRight(line, "\r")
	}
	return env
}
