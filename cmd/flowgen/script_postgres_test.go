package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// hasPostgres reports whether scripts can have a PostgreSQL. In CI it must be there.
func hasPostgres() bool {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	_, err := exec.LookPath("initdb")
	return runtime.GOOS != "windows" && (os.Getenv("CI") != "" || len(found) > 0 || err == nil)
}

// postgres starts a PostgreSQL, which ends with the script, and puts its address into a variable and the program stored, which reads and
// changes databases, into another: postgres ADDRESS STORED
func postgres(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: postgres ADDRESS STORED")
	}
	exe := ts.MkAbs(".stored")
	if out, err := exec.Command("go", "build", "-ldflags=-s", "-o", exe, "../../runtime/internal/leaves/stored").CombinedOutput(); err != nil {
		ts.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(exe, "postgres", "1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	ts.Check(err)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	ts.Check(err)
	ts.Setenv(args[0], strings.TrimSpace(line))
	ts.Setenv(args[1], exe)
}
