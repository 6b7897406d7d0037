package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/atomicfile"
	"github.com/flowgen-dev/flowgen/ir"
)

// What switchTool does.
const (
	toolOn      = "tool.on"
	toolOff     = "tool.off"
	toolVersion = "tool.version" // in the place of another version of the tool
)

// switchTool adds a tool to the `tools` of an agent, or takes it out: the smallest edit of the file, which is written only if the
// result passes `check`. dry writes nothing.
func (a *app) switchTool(name, node, tool, how string, dry bool) error {
	e, err := a.agentIn(name, node)
	if err != nil {
		return err
	}
	tools := toolsOfAgent(e.before.workflow, e.agent)
	if len(tools) == 0 {
		return fmt.Errorf("the agent of node %s has no `tools` in the file: write the first one there", node)
	}
	t := toolNamed(e.before.workflow, tool)
	if t == nil {
		return fmt.Errorf("the workflow has no tool %s", tool)
	}
	file := tools[0].Tool.Span.File
	if file == nil || file.Module != "" {
		return fmt.Errorf("the `tools` of node %s are not in a file of this folder", node)
	}
	text, err := switched(e.before.workflow, tools, t, how)
	if err != nil {
		return err
	}
	after, err := a.tried(e, map[string]string{file.Name: text}, dry)
	if err != nil {
		return err
	}
	_, n, err := agentNode(&after.workflow.Body, node)
	if err != nil || has(after.workflow, toolsOfAgent(after.workflow, n.Verb.(*ir.Agent)), t) != (how != toolOff) {
		return errors.New("the edited file does not say so")
	}
	if _, err := io.WriteString(a.stdout, unified(file.Name, file.Text, text)); err != nil || dry {
		return err
	}
	return atomicfile.Write(filepath.FromSlash(file.Name), []byte(text))
}

// toolsOfAgent are the tools of an agent as they are written: those of the node, else of its declaration.
func toolsOfAgent(wf *ir.Workflow, agent *ir.Agent) []*ir.AgentTool {
	if shared := declaredAgent(wf, agent); shared != nil && len(shared.Agent.Tools) > 0 && sameTools(shared.Agent.Tools, agent.Tools) {
		return shared.Agent.Tools
	}
	return agent.Tools
}

// sameTools reports whether a node has the tools of its declaration: it wrote none of its own.
func sameTools(a, b []*ir.AgentTool) bool { return len(b) == 0 || a[0].Tool.Span == b[0].Tool.Span }

func has(wf *ir.Workflow, tools []*ir.AgentTool, t *ir.Tool) bool {
	for _, one := range tools {
		if found := toolNamed(wf, one.Tool.Name); found != nil && found.FullName() == t.FullName() {
			return true
		}
	}
	return false
}

// switched is the text of the file in which tools are listed, with one more or less, or with another version of one.
func switched(wf *ir.Workflow, tools []*ir.AgentTool, t *ir.Tool, how string) (string, error) {
	text := tools[0].Tool.Span.File.Text
	if how != toolOff && has(wf, tools, t) {
		return "", fmt.Errorf("the agent has tool %s already", t.Key.Name)
	}
	if how == toolVersion {
		return versioned(wf, tools, t)
	}
	if how == toolOn {
		last := tools[len(tools)-1]
		if !simple(text, last) {
			return "", fmt.Errorf("the last tool of the agent is written with arguments: add %s to the file by hand", t.Key.Name)
		}
		at := last.Tool.Span
		if indent, block := item(text, at.Lo); block {
			return text[:at.Hi] + rest(text, at.Hi) + "\n" + indent + "- " + t.Key.Name + text[at.Hi+len(rest(text, at.Hi)):], nil
		}
		return text[:at.Hi] + ", " + t.Key.Name + text[at.Hi:], nil
	}
	for i, one := range tools {
		found := toolNamed(wf, one.Tool.Name)
		if found == nil || found.FullName() != t.FullName() {
			continue
		}
		at := one.Tool.Span
		switch {
		case !simple(text, one):
			return "", fmt.Errorf("tool %s is written with arguments: remove it from the file by hand", t.Key.Name)
		case len(tools) == 1:
			return "", fmt.Errorf("%s is the only tool of the agent: make it an `llm` node instead", t.Key.Name)
		}
		if _, block := item(text, at.Lo); block {
			begin := strings.LastIndexByte(text[:at.Lo], '\n') + 1
			return text[:begin] + strings.TrimPrefix(text[at.Hi+len(rest(text, at.Hi)):], "\n"), nil
		}
		if i == 0 {
			return text[:at.Lo] + text[tools[1].Tool.Span.Lo:], nil
		}
		return text[:tools[i-1].Tool.Span.Hi] + text[at.Hi:], nil
	}
	return "", fmt.Errorf("the agent has no tool %s", t.Key.Name)
}

// versioned is the text of the file with a tool in the place of another version of it. Its arguments stay.
func versioned(wf *ir.Workflow, tools []*ir.AgentTool, t *ir.Tool) (string, error) {
	for _, one := range tools {
		if found := toolNamed(wf, one.Tool.Name); found != nil && found.Name.Name == t.Name.Name {
			at := one.Tool.Span
			text := at.File.Text
			if text[at.Lo:at.Hi] != one.Tool.Name {
				return "", fmt.Errorf("tool %s is written in quotes: change its version in the file by hand", one.Tool.Name)
			}
			return text[:at.Lo] + t.Key.Name + text[at.Hi:], nil
		}
	}
	return "", fmt.Errorf("the agent has no other version of tool %s", t.Name.Name)
}

// simple reports whether a tool is written as its name alone.
func simple(text string, t *ir.AgentTool) bool {
	at := t.Tool.Span
	return !t.Named && t.With == nil && text[at.Lo:at.Hi] == t.Tool.Name
}

// item tells whether the name at an offset is an item of a list with dashes, and its indentation.
func item(text string, at int) (indent string, block bool) {
	line := text[strings.LastIndexByte(text[:at], '\n')+1 : at]
	indent = line[:len(line)-len(strings.TrimLeft(line, " "))]
	return indent, strings.TrimLeft(line, " ") == "- "
}

// rest is what follows on the line: a comment.
func rest(text string, at int) string {
	line, _, _ := strings.Cut(text[at:], "\n")
	return line
}
