package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/flowgen-dev/flowgen/bench/workload"
)

// A peer is another library for workflows and agents, in a process of its own that does operations when it is asked; the
// protocol is that of bench/peers/go/main.go.
type peer struct {
	name    string
	command []string // in the folder that `make peers` fills
	items   int      // of W2: LangGraph needs more time for each the more there are

	asks io.WriteCloser
	says *bufio.Scanner
	cmd  *exec.Cmd
}

func peers() []*peer {
	return []*peer{
		{name: "Eino", command: []string{"./peers", "eino"}, items: workload.Items},
		{name: "Genkit", command: []string{"./peers", "genkit"}, items: workload.Items},
		{name: "LangGraph.js", command: []string{"node", "js/peer.mjs"}, items: 1000},
		{name: "LangGraph for Python", command: []string{"python3", "py/peer.py"}, items: 1000},
	}
}

// join starts the peers of a folder and adds them to the workloads that they do. The function that it returns ends them.
func join(all []workload.Comparison, folder string) (end func(), err error) {
	if folder, err = filepath.Abs(folder); err != nil {
		return nil, err
	}
	var started []*peer
	end = func() {
		for _, p := range started {
			_ = p.asks.Close() // ends it
			_ = p.cmd.Wait()
		}
	}
	for _, p := range peers() {
		if err := p.start(folder); err != nil {
			end()
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		started = append(started, p)
	}
	for i := range all {
		c := &all[i]
		if c.Peers == "" {
			continue
		}
		c.Own = len(c.Cases)
		per := c.Cases[0].Per
		for _, p := range started {
			name := p.name
			if c.ID == "W2" {
				if per = p.items; per != c.Cases[0].Per {
					name += fmt.Sprintf(", %d items", per)
				}
			}
			run := func(n int) error { return p.do(c.ID, n, c.Peers) }
			if err := run(1); err != nil { // makes what is made once
				end()
				return nil, fmt.Errorf("%s, %s: %w", c.ID, p.name, err)
			}
			c.Cases = append(c.Cases, workload.Case{Name: name, Per: per, Run: run})
		}
	}
	return end, nil
}

// versions names what is measured, by the files that pin it.
func (r *report) versions() error {
	var all []string
	for _, of := range []struct{ name, file, before string }{
		{"Eino", "go/go.mod", "github.com/cloudwego/eino v"},
		{"Genkit", "go/go.mod", "github.com/firebase/genkit/go v"},
		{"LangGraph.js", "js/package.json", `"@langchain/langgraph": "`},
		{"LangGraph for Python", "py/requirements.txt", "langgraph=="},
	} {
		text, err := os.ReadFile(filepath.Join("bench/peers", of.file))
		if err != nil {
			return err
		}
		_, rest, _ := strings.Cut(string(text), of.before)
		version, _, _ := strings.Cut(rest, "\n")
		all = append(all, of.name+" "+strings.Trim(version, `",`))
	}
	r.printf("%s.\n", strings.Join(all, ", "))
	return nil
}

func (p *peer) start(folder string) error {
	p.cmd = exec.Command(p.command[0], p.command[1:]...)
	p.cmd.Dir, p.cmd.Stderr = folder, io.Discard
	p.cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(folder, "py"), "NODE_NO_WARNINGS=1")
	var err error
	if p.asks, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	p.says = bufio.NewScanner(out)
	return p.cmd.Start()
}

func (p *peer) do(id string, n int, server string) error {
	if _, err := fmt.Fprintln(p.asks, id, n, server); err != nil {
		return err
	}
	if !p.says.Scan() {
		return errors.Join(errors.New("it has ended"), p.says.Err())
	}
	if said := p.says.Text(); said != "ok" {
		return errors.New(strings.Trim(said, `"`))
	}
	return nil
}
