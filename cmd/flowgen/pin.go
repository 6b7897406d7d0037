package main

import (
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/atomicfile"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/insert"
)

// pinFlags are the flags of `pin`.
type pinFlags struct {
	file, name, strategy, missing string
	dry                           bool
}

// What a pin can say; the defaults come first.
var (
	pinStrategies = []string{"latest", "first_success"}
	pinMissing    = []string{"skip", "fail", "keep"}
)

func (a *app) pinCommand() *cobra.Command {
	var f pinFlags
	cmd := &cobra.Command{
		Use:   "pin NODE TOOL",
		Short: "Pin the results of a tool of an agent, so that other nodes can read them",
		Long: "Pin writes a pin into the node of an agent: NODE is the id of the node, with those of the enclosing maps and loops as\n" +
			"in each/ask, and TOOL is a tool of the agent. Read the pin as $NODE.NAME. The rest of the file does not change, and\n" +
			"nothing is written unless the result passes `flowgen check`. Write a pin by call_id manually: it needs a call.",
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, w := range []struct {
				flag, value string
				words       []string
			}{{"strategy", f.strategy, pinStrategies}, {"on-missing", f.missing, pinMissing}} {
				if !slices.Contains(w.words, w.value) {
					return usage("--%s cannot be %q; write %s", w.flag, w.value, nearOr(w.value, w.words))
				}
			}
			return a.pin(&f, args[0], args[1])
		},
	}
	cmd.Flags().StringVar(&f.file, "file", "", "the workflow's file (default: the one in the current folder)")
	cmd.Flags().StringVar(&f.name, "name", "", "name of the pin (default: after the tool)")
	cmd.Flags().StringVar(&f.strategy, "strategy", "latest", "which call is read: latest or first_success")
	cmd.Flags().StringVar(&f.missing, "on-missing", "skip", "behaviour without such a call: skip, fail or keep (the last result)")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "show what would be written, and write nothing")
	return cmd
}

// nearOr is the word that is meant, or all of them.
func nearOr(word string, words []string) string {
	if near := diag.Nearest(word, words); near != "" {
		return near
	}
	return strings.Join(words, ", ")
}

func (a *app) pin(f *pinFlags, node, tool string) error {
	name, err := onlyWorkflow(f.file)
	if err != nil {
		return err
	}
	e, err := a.agentIn(name, node)
	if err != nil {
		return err
	}
	tool, err = toolOf(e.before.workflow, e.agent, node, tool)
	if err != nil {
		return err
	}
	id := f.name
	if id == "" {
		id = strings.Trim(notID.ReplaceAllString(strings.ToLower(tool[strings.LastIndexByte(tool, '.')+1:]), "_"), "_")
	}
	if !idForm.MatchString(id) {
		return usage("--name %q: the name of a pin is made of lower-case letters, digits and _, starting with a letter", id)
	}
	if slices.ContainsFunc(e.agent.Pins, func(p *ir.Pin) bool { return p.Name.Name == id }) {
		return usage("node %s has a pin %s already; --name gives another one", node, id)
	}
	fields := []insert.Field{{Name: "tool", Value: tool}}
	if f.strategy != pinStrategies[0] {
		fields = append(fields, insert.Field{Name: "strategy", Value: f.strategy})
	}
	if f.missing != pinMissing[0] {
		fields = append(fields, insert.Field{Name: "on_missing", Value: f.missing})
	}
	text, err := insert.Entry(e.text, e.at("pins"), "pins", id, fields) // pins of the node would replace those of its agent
	if err != nil {
		return fmt.Errorf("node %s cannot be written: %w", node, err)
	}
	after, err := a.tried(e, map[string]string{name: text}, f.dry)
	if err != nil {
		return err
	}
	_, n, err := agentNode(&after.workflow.Body, node)
	if err != nil || !slices.ContainsFunc(n.Verb.(*ir.Agent).Pins, func(p *ir.Pin) bool { return p.Name.Name == id }) {
		return errors.New("the edited file does not have the pin")
	}
	if _, err := io.WriteString(a.stdout, unified(name, e.text, text)); err != nil || f.dry {
		return err
	}
	if err := atomicfile.Write(filepath.FromSlash(name), []byte(text)); err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "flowgen: pin %s of node %s is new in %s\n", id, node, name)
	return nil
}

// onlyWorkflow is the file that is named, or the only one of the current folder.
func onlyWorkflow(file string) (string, error) {
	if file != "" {
		return path.Clean(filepath.ToSlash(file)), nil
	}
	names, err := inFolder(".")
	switch {
	case err != nil:
		return "", err
	case len(names) == 0:
		return "", fmt.Errorf("there is no *%s file in this folder; name one with --file", suffix)
	case len(names) > 1:
		return "", fmt.Errorf("%s are all in this folder; name one with --file", strings.Join(names, ", "))
	}
	return names[0], nil
}

// agentNode finds the node of an agent by its path.
func agentNode(body *ir.Body, name string) (containers []string, n *ir.Node, err error) {
	for _, id := range strings.Split(name, "/") {
		if n != nil {
			containers = append(containers, n.ID.Name)
			if body = inside(n); body == nil {
				return nil, nil, fmt.Errorf("node %s has no nodes in it", strings.Join(containers, "/"))
			}
		}
		if n = find(body, id); n == nil {
			var ids []string
			for _, x := range body.Nodes {
				ids = append(ids, x.ID.Name)
			}
			full := strings.Join(append(slices.Clone(containers), id), "/")
			if near := diag.Nearest(id, ids); near != "" {
				return nil, nil, fmt.Errorf("unknown node %s; did you mean %s?", full, strings.Join(append(containers, near), "/"))
			}
			return nil, nil, fmt.Errorf("unknown node %s; the nodes are %s", full, strings.Join(ids, ", "))
		}
	}
	if _, ok := n.Verb.(*ir.Agent); !ok {
		return nil, nil, fmt.Errorf("node %s asks no agent: only agents have pins", name)
	}
	return containers, n, nil
}

// declaredAgent is the declaration that a node asks; nil when it asks a model.
func declaredAgent(wf *ir.Workflow, agent *ir.Agent) *ir.AgentDecl {
	for _, shared := range wf.Agents {
		if shared.Name.Name == agent.Agent.Name {
			return shared
		}
	}
	return nil
}

// toolOf is the name of a tool of an agent, as its workflow writes it.
func toolOf(wf *ir.Workflow, agent *ir.Agent, node, tool string) (string, error) {
	tools := agent.Tools
	if shared := declaredAgent(wf, agent); shared != nil && len(tools) == 0 {
		tools = shared.Agent.Tools
	}
	var names []string
	for _, t := range tools {
		if t.As.Name == tool || t.Tool.Name == tool {
			return t.Tool.Name, nil
		}
		names = append(names, t.As.Name)
	}
	if near := diag.Nearest(tool, names); near != "" {
		return "", fmt.Errorf("the agent of node %s has no tool %s; did you mean %s?", node, tool, near)
	}
	return "", fmt.Errorf("the agent of node %s has no tool %s; it has %s", node, tool, strings.Join(names, ", "))
}
