//go:build unix

package mcptool

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/internal/vacant"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// everything is a server that somebody else has written, with another SDK, in another language.
const everything = "@modelcontextprotocol/server-everything@2026.8.31"

// everythingProgram installs the server once into the user's cache and returns its program. Where that cannot be done
// the test is skipped, in CI it fails.
func everythingProgram(t *testing.T) string {
	t.Helper()
	skip := func(why string, args ...any) {
		t.Helper()
		if os.Getenv("CI") != "" {
			t.Fatalf(why, args...)
		}
		t.Skipf(why, args...)
	}
	switch program := os.Getenv("MCP_EVERYTHING"); program {
	case "":
	case "none": // CI could not install it, and may go on
		t.Skip("the registry of npm cannot be reached")
	default:
		return program
	}
	if testing.Short() {
		skip("-short")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		skip("no npm")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		skip("no cache: %v", err)
	}
	dir := filepath.Join(cache, "flowgen-tests", "server-everything-2026.8.31")
	bin := filepath.Join(dir, "node_modules", ".bin", "mcp-server-everything")
	if _, err := os.Stat(bin); err == nil {
		return bin
	}
	if os.Getenv("CI") == "" && os.Getenv("LONG") == "" {
		skip("the ordinary run installs nothing: LONG=1 does, and MCP_EVERYTHING names the program")
	}
	temp := dir + fmt.Sprintf(".%d", os.Getpid())
	defer os.RemoveAll(temp)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", temp, everything).CombinedOutput(); err != nil {
		skip("npm install: %v\n%s", err, out)
	}
	if err := os.Rename(temp, dir); err != nil {
		if _, err := os.Stat(bin); err != nil { // another test was faster
			t.Fatal(err)
		}
	}
	return bin
}

func TestEverything(t *testing.T) {
	program := everythingProgram(t)
	t.Run("local", func(t *testing.T) {
		s := Local("every", []string{program})
		t.Cleanup(s.Close)
		useEverything(t, s)
	})
	t.Run("remote", func(t *testing.T) {
		port := vacant.Port(t)
		cmd := exec.Command(program, "streamableHttp")
		cmd.Env = append(os.Environ(), "PORT="+port)
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		s := Remote("every", "http://127.0.0.1:"+port+"/mcp", httptool.Allow("loopback"))
		t.Cleanup(func() {
			s.Close()
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			httptool.CloseIdleConnections()
		})
		for in := bufio.NewScanner(stderr); in.Scan(); {
			if strings.Contains(in.Text(), "listening") {
				break
			}
		}
		useEverything(t, s)
	})
}

func useEverything(t *testing.T, s *Server) {
	listing, err := invoke(t, List("lock@1", s), empty{})
	if err != nil || listing.Name != "mcp-servers/everything" || len(listing.Tools) < 10 {
		t.Fatal(listing, err)
	}
	type message struct {
		Message string `json:"message"`
	}
	echo := textTool[message](t, s, "echo")
	if got, err := invoke(t, echo, message{"größe \u2028 \U0001f600"}); err != nil || got != "Echo: größe \u2028 \U0001f600" {
		t.Error(got, err)
	}
	type sum struct {
		A float64 `json:"a"`
		B float64 `json:"b"`
	}
	if got, err := invoke(t, textTool[sum](t, s, "get-sum"), sum{2.5, 3}); err != nil || got != "The sum of 2.5 and 3 is 5.5." {
		t.Error(got, err)
	}
	type place struct {
		Location string `json:"location"`
	}
	type weather struct {
		Temperature float64 `json:"temperature"`
		Conditions  string  `json:"conditions"`
		Humidity    float64 `json:"humidity"`
	}
	w, err := invoke(t, JSON[place, weather]("w.weather@1", flow.Reads, s, pin(t, s, "get-structured-content")), place{"Chicago"})
	if err != nil || w.Conditions == "" || w.Humidity == 0 {
		t.Error(w, err)
	}
	_, err = invoke(t, JSON[place, weather]("w.weather@1", flow.Reads, s, pin(t, s, "get-structured-content")), place{"Atlantis"})
	if c := code(err); c != value.ValidationError && c != value.ProviderError {
		t.Errorf("an argument that the server refuses: %v", err)
	}
	image, err := invoke(t, Any[empty]("w.image@1", flow.Reads, s, pin(t, s, "get-tiny-image")), empty{})
	if err != nil || image.Len() < 2 {
		t.Error(image, err)
	}
	type long struct {
		Duration float64 `json:"duration"`
		Steps    float64 `json:"steps"`
	}
	slow := textTool[long](t, s, "trigger-long-running-operation")
	_, err = invoke(t, slow, long{60, 3}, within(300*time.Millisecond))
	wantError(t, err, value.Timeout, "")
	if got, err := invoke(t, slow, long{0.1, 2}); err != nil || !strings.Contains(got, "completed") {
		t.Error(got, err)
	}
	links(t, s)
}

// links: what a result points at stands beside it in the record.
func links(t *testing.T, s *Server) {
	type count struct {
		Count int `json:"count"`
	}
	rec := journal.NewRecorder()
	rt, err := flow.New(&flow.Info{Name: "w", Nodes: []*flow.Node{node}}, runtime.WithEngine(rec))
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Start(t.Context())
	_, err = flow.Call(r, node, textTool[count](t, s, "get-resource-links"), count{3})
	r.End(&err)
	if err != nil {
		t.Fatal(err)
	}
	text, err := rec.Journal().MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), `"url":"demo://resource/`); n != 3 {
		t.Errorf("%d links: %s", n, text)
	}
}
