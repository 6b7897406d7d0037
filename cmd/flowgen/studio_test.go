package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestStudioDocs runs the commands of docs/studio.md, each until it has answered with the page and, for its token only, with the
// project, and is stopped.
func TestStudioDocs(t *testing.T) {
	if _, err := exec.LookPath("flowgen"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "studio.md"))
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^flowgen (studio[^#\n]*)`).FindAllStringSubmatch(string(text), -1)
	if len(commands) < 3 {
		t.Fatalf("docs/studio.md has %d commands", len(commands))
	}
	for _, c := range commands {
		args := strings.Fields(c[1])
		for i, arg := range args {
			args[i] = strings.NewReplacer("/var/lib", t.TempDir(), "7070", freePort(t)).Replace(arg)
		}
		t.Run(strings.TrimSpace(c[1]), func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "flowgen", args...)
			cmd.Dir, cmd.Stderr = root, os.Stderr
			if len(args) == 1 || strings.HasPrefix(args[1], "-") {
				cmd.Dir = t.TempDir() // the folder of somebody's workflows
			}
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			base, token, ok := strings.Cut(strings.TrimSpace(line), "/#token=")
			if !ok {
				t.Fatalf("it prints %q", line)
			}
			if code, body := fetched(t, base+"/", ""); code != http.StatusOK || !strings.Contains(body, "studio.js") {
				t.Errorf("the page: %d %s", code, body)
			}
			if code, body := fetched(t, base+"/api/v1/project", ""); code != http.StatusUnauthorized || strings.Contains(body, "files") {
				t.Errorf("without a token: %d %s", code, body)
			}
			if code, body := fetched(t, base+"/api/v1/project", token); code != http.StatusOK || strings.Contains(c[1], "triage ") && !strings.Contains(body, `"name":"triage"`) {
				t.Errorf("the project: %d %s", code, body)
			}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}

// freePort is a port that was free a moment ago; the one of the page may be taken.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// TestStudioFolder: what is not a folder, and a taken port, are mistakes of the command line.
func TestStudioFolder(t *testing.T) {
	for _, args := range []string{"studio nowhere", "studio studio_test.go", "studio a b", "studio --port 70000",
		"studio --server ftp://x", "studio --server http://user:word@127.0.0.1:9", "studio --server-token x", "studio --server http://example.com --server-token x",
		"studio --server http://127.0.0.1:9 --server-token nowhere"} {
		var out strings.Builder
		if code := run(strings.Fields(args), strings.NewReader(""), &out, &out); code != exitUsage {
			t.Errorf("%s: %d %s", args, code, out.String())
		}
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, taken, _ := net.SplitHostPort(l.Addr().String())
	t.Chdir(t.TempDir()) // studio goes to its folder
	var said strings.Builder
	if code := run([]string{"studio", "--port", taken}, strings.NewReader(""), &said, &said); code != exitUsage || !strings.Contains(said.String(), "cannot listen on port "+taken) || !strings.Contains(said.String(), "--port") {
		t.Errorf("a taken port: %d %s", code, said.String())
	}
}

func fetched(t *testing.T, address, token string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}
