package browser

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// served starts `flowgen serve` with a file of the project, and returns its address.
func (s *story) served(file, token string) string {
	s.t.Helper()
	s.write("tokens", fmt.Sprintf("sha256=%x name=ci\n", sha256.Sum256([]byte(token))))
	s.write("token", token+"\n")
	cmd := exec.Command(s.exe, "serve", file, "--addr", "127.0.0.1:0", "--admin", "off", "--tokens", "tokens", "--expose", "calls", "--runs", filepath.Join(s.t.TempDir(), "runs"))
	cmd.Dir = s.dir
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		var record struct{ Msg, Addr string }
		if json.Unmarshal(lines.Bytes(), &record) == nil && record.Msg == "listening" && record.Addr != "" {
			go func() {
				for lines.Scan() {
				}
			}()
			return "http://" + record.Addr
		}
	}
	s.t.Fatal("serve does not listen")
	return ""
}

// start begins a run on a server.
func (s *story) start(address, token, input string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, address, strings.NewReader(input))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		s.t.Fatal(resp.Status)
	}
}

// talkedElsewhere: the conversation of an agent on a server is read turn by turn, and the results of its calls beside them.
func talkedElsewhere(t *testing.T, exe, browser string) {
	s := project(t, exe, map[string]string{"scout.flowgen.yaml": scout, "answers.yaml": scoutAnswers})
	const token = "token-of-a-server"
	address := s.served("scout.flowgen.yaml", token)
	s.start(address+"/v1/workflows/scout/runs", token, `{}`)
	s.serve("", "--server", address, "--server-token", filepath.Join(s.dir, "token"), s.dir)
	s.browse(browser)
	s.open("/r?in=server")
	s.wait(`document.querySelector(".run-row .done")`)
	s.press("j", "\r")
	s.wait(`document.querySelector(".rows .row")`)
	s.row("model")
	s.press("\r")
	s.wait(`document.querySelector(".call .head code")`)
	s.press("v")
	s.wait(`(() => { const t = document.querySelector("[aria-label=Conversation]")?.innerText ?? ""; const at = ["who wrote it?", "calls search", "turn 2", "result of search", "hit"].map((w) => t.indexOf(w)); return at.every((n, i) => n >= 0 && (i === 0 || n > at[i - 1])); })()`)
	s.wait(`document.querySelector(".called .brief")?.innerText.includes("hit")`)
	s.picture("server-talk")
}

// elsewhere: the runs of a server are listed and followed, a question of one is answered and another is cancelled; what the server does not
// say is said to be missing, and its token does not come to the page.
func elsewhere(t *testing.T, exe, browser string) {
	s := project(t, exe, map[string]string{"ship.flowgen.yaml": ship})
	const token = "token-that-stays-in-studio"
	address := s.served("ship.flowgen.yaml", token)
	begin := func(text string) { s.start(address+"/v1/workflows/ship/runs", token, `{"text": "`+text+`"}`) }
	s.serve("", "--server", address, "--server-token", filepath.Join(s.dir, "token"), s.dir)
	s.browse(browser)
	s.open("/r?in=server")
	s.sees("The server has no runs.")
	begin("first")
	s.wait(`document.querySelectorAll(".run-row .wait").length === 1`)
	s.picture("server-runs")
	s.press("j", "\r")
	s.sees("Ship FIRST?")
	s.sees("It does not say: the input of the run")
	s.wait(`document.querySelectorAll(".rows .row").length === 2`)
	s.press("k", "k", "\r")
	s.wait(`document.querySelector(".call .head code")?.innerText === "loud" && document.querySelector(".call").innerText.includes("FIRST")`)
	s.picture("server-run")
	s.press("g")
	s.wait(`document.querySelectorAll("g.node.s-done, g.node.s-wait").length === 2`)
	s.press("g")
	s.click("yes")
	s.wait(`document.querySelector(".lead .badge.done")?.innerText === "succeeded"`)
	begin("second")
	s.press("3")
	s.sees("Ship SECOND?")
	s.picture("server-inbox")
	s.click("ship")
	s.wait(`location.pathname.startsWith("/r/server")`)
	s.click("Cancel")
	s.click("Cancel it")
	s.wait(`document.querySelector(".lead .badge.stop")?.innerText === "cancelled"`)
	s.wait(fmt.Sprintf(`!document.documentElement.outerHTML.includes(%q) && !JSON.stringify({...sessionStorage, ...localStorage}).includes(%q)`, token, token))
	s.expect = []string{"403", "404"}
	if err := os.WriteFile(filepath.Join(s.dir, "token"), []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.open("/r?in=server")
	s.sees("it rejects the token")
	s.picture("server-refuses")
}
