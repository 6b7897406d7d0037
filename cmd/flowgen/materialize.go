package main

import (
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/atomicfile"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/diff"
)

// materializeFlags are the flags of `materialize`.
type materializeFlags struct {
	from          runSource
	file, pin, id string
	dry           bool
	after         func(wf *compiled, node string) // receives the edited workflow and the path of the new node; nil: nobody
}

func (a *app) materializeCommand() *cobra.Command {
	var f materializeFlags
	cmd := &cobra.Command{
		Use:   "materialize RUN CALL",
		Short: "Turn a recorded call into a node",
		Long: "Materialize writes a recorded tool call into the workflow as a node of its own: the same tool in the same version,\n" +
			"with its exact input; its authentication is that of the tool; `retry` and `timeout` are those of the calling node.\n" +
			"So a step of an agent can get conditions, retries and readers. The node is inserted after the calling one, with an\n" +
			"edge from it if the workflow declares edges. The rest of the file does not change, and nothing is written unless\n" +
			"the result passes `flowgen check`.\n\n" +
			"CALL is the key of the call or a prefix of its call_id, as `flowgen inspect RUN` shows them, of a run on\n" +
			"Temporal `PROGRAM inspect --temporal ID`; --pin NODE.PIN selects the call of an agent's pin. The workflow is the file of\n" +
			"--file, or the one in the current folder that has the name of the run's workflow.\n\n" + runsHelp,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			if (len(args) == 2) == (f.pin != "") {
				return usage("name a call, as `materialize RUN CALL`, or a pin, as `materialize RUN --pin NODE.PIN`")
			}
			return a.materialize(&f, args)
		},
	}
	f.from.flags(cmd)
	cmd.Flags().StringVar(&f.file, "file", "", "the workflow's file")
	cmd.Flags().StringVar(&f.pin, "pin", "", "use the call that this pin has selected: NODE.PIN")
	cmd.Flags().StringVar(&f.id, "id", "", "id of the new node (default: after the tool)")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "show what would be written, and write nothing")
	return cmd
}

func (a *app) materialize(f *materializeFlags, args []string) error {
	named, err := f.from.open(a.stderr)
	if err != nil {
		return err
	}
	id, j, err := named(args[0])
	if err != nil {
		return err
	}
	name, err := workflowFile(f.file, j.Header().Workflow)
	if err != nil {
		return err
	}
	files := newDisk()
	before := a.compile(files, name)
	if before.program == nil {
		return a.report(before.list, false)
	}
	if before.workflow.Public {
		return fmt.Errorf("%s is not in flowgen's own language, which materialize writes nodes of: `flowgen convert %s` makes such a file", name, name)
	}
	var rec journal.Record
	if f.pin != "" {
		rec, err = pinned(before.workflow, j, f.pin)
	} else {
		rec, err = recorded(j, id, args[1], f.from.lister(id))
	}
	if err != nil {
		return err
	}
	m, err := newMaterial(before.workflow, rec)
	if err != nil {
		return err
	}
	if f.id != "" {
		if !idForm.MatchString(f.id) {
			return usage("--id %q: a node id is made of lower-case letters, digits and _, starting with a letter", f.id)
		}
		m.id = f.id
	}
	if m.file.Module != "" {
		return fmt.Errorf("call %s was made by a node of %s, a file of a Go module, which is never written: copy the file into the project and call it with `flow:`", rec.Key, m.file.Name)
	}
	text, err := m.write()
	if err != nil {
		return fmt.Errorf("call %s cannot be written into %s: %w", rec.Key, m.file.Name, err)
	}
	after, err := a.stillRight(files, before, m, text)
	if err != nil {
		return err
	}
	if f.after != nil {
		f.after(after, strings.Join(append(slices.Clone(m.containers), m.id), "/"))
	}
	if _, err := io.WriteString(a.stdout, unified(m.file.Name, m.file.Text, text)); err != nil || f.dry {
		return err
	}
	if err := atomicfile.Write(filepath.FromSlash(m.file.Name), []byte(text)); err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "flowgen: node %s is new in %s\n", m.id, m.file.Name)
	return nil
}

// idForm is what a node's id looks like.
var idForm = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// workflowFile finds the file of a workflow.
func workflowFile(file, workflow string) (string, error) {
	if file != "" {
		return path.Clean(filepath.ToSlash(file)), nil
	}
	names, err := inFolder(".")
	if err != nil {
		return "", err
	}
	var found []string
	unread := false
	for _, name := range names {
		wf := parser.Parse(newDisk().project(name), name, &diag.Sink{})
		switch {
		case wf == nil:
			unread = true
		case wf.Name.Name == workflow:
			found = append(found, name)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		if len(names) == 1 && unread {
			return names[0], nil // it will say why
		}
		return "", fmt.Errorf("no *%s file in this folder is the workflow %s; name it with --file", suffix, workflow)
	}
	return "", fmt.Errorf("%s are all called %s; name one with --file", strings.Join(found, ", "), workflow)
}

// stillRight checks the workflow with the new text of one of its files.
func (a *app) stillRight(files *disk, before *compiled, m *material, text string) (*compiled, error) {
	name := before.name
	edited := newDisk()
	for n, t := range files.texts {
		edited.texts[n] = t
	}
	edited.names = append(edited.names, files.names...)
	edited.texts[m.file.Name] = []byte(text)
	after := a.compile(edited, name)
	if err := a.report(newOnly(before.list, after.list), false); err != nil {
		fmt.Fprintf(a.stderr, "flowgen: with node %s the workflow would have mistakes; nothing was written\n", m.id)
		return nil, err
	}
	wf := after.workflow
	if m.file.Name != name {
		for _, flow := range wf.Flows {
			if flow.File.Name == m.file.Name {
				wf = flow
			}
		}
	}
	body := &wf.Body
	for _, id := range m.containers {
		if body = inside(find(body, id)); body == nil {
			return nil, errors.New("the edited file does not have the node")
		}
	}
	n := find(body, m.id)
	if n == nil {
		return nil, errors.New("the edited file does not have the node")
	}
	if call, ok := n.Verb.(*ir.ToolCall); !ok || call.Tool == nil || call.Tool.FullName() != m.tool.FullName() {
		return nil, errors.New("the edited file calls another tool")
	}
	return after, nil
}

// newOnly leaves out the warnings that there were before.
func newOnly(before, after []diag.Diagnostic) []diag.Diagnostic {
	type warning struct {
		code    diag.Code
		message string
	}
	known := map[warning]int{}
	for _, d := range before {
		known[warning{d.Code, d.Message}]++
	}
	return slices.DeleteFunc(slices.Clone(after), func(d diag.Diagnostic) bool {
		w := warning{d.Code, d.Message}
		if d.Severity == diag.Error || known[w] == 0 {
			return false
		}
		known[w]--
		return true
	})
}

// unified shows an edit as `diff -u` does.
func unified(name, old, now string) string {
	lines := diff.Lines(old, now)
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", name, name)
	const around = 3
	oldAt, newAt := 1, 1
	for i := 0; i < len(lines); {
		next := i
		for next < len(lines) && lines[next].Mark == ' ' {
			next++
		}
		if next == len(lines) {
			break
		}
		from := max(i, next-around)
		oldAt, newAt = oldAt+from-i, newAt+from-i
		to, same := next, 0
		for end := next; end < len(lines) && same <= 2*around; end++ {
			if same++; lines[end].Mark != ' ' {
				same, to = 0, end+1
			}
		}
		to = min(to+around, len(lines))
		var hunk strings.Builder
		oldN, newN := 0, 0
		for _, l := range lines[from:to] {
			hunk.WriteString(string(l.Mark) + strings.TrimSuffix(l.Text, "\r") + "\n")
			if l.Mark != '+' {
				oldN++
			}
			if l.Mark != '-' {
				newN++
			}
		}
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n%s", oldAt, oldN, newAt, newN, hunk.String())
		oldAt, newAt, i = oldAt+oldN, newAt+newN, to
	}
	return b.String()
}
