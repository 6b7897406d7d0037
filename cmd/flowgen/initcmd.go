package main

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/starter"
	"github.com/flowgen-dev/flowgen/parser"
)

func (a *app) initCommand() *cobra.Command {
	var name, module, editor string
	var library bool
	cmd := &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Start a workflow project in a new or empty folder, or in a folder of an existing Go module",
		Long: "Init writes a small working project: a workflow, a Go tool, a main, a test. In a folder outside any Go module\n" +
			"it creates one; in a module it adds a package, and its requirements to go.mod. It never replaces a file.\n\n" +
			"With --library it adds a package without a main to an existing module: a workflow, an example call, a test with\n" +
			"fakes. go.mod requires only flowgen's runtime; go generate builds flowgen with a separate file, flowgen.mod.\n\n" +
			"With --editor vscode it also writes .vscode/extensions.json, which recommends the extension, and the JSON Schema of\n" +
			"workflows, which the first line of the workflow names, for editors without flowgen's language server.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := &starter.Project{Dir: ".", Name: name, Module: module, Library: library}
			switch editor {
			case "":
			case "vscode":
				p.Schema = parser.JSONSchemaOf("native")
			default:
				return usage("--editor is vscode, not %q; other editors need no files: docs/editor.md has their settings", editor)
			}
			if len(args) == 1 {
				p.Dir = filepath.Clean(args[0])
			}
			if p.Name == "" {
				abs, err := filepath.Abs(p.Dir)
				if err != nil {
					return err
				}
				p.Name = workflowName(filepath.Base(abs))
			} else if !validName.MatchString(p.Name) || reserved[p.Name] {
				return usage("--name %q cannot be a workflow's name: lower-case letters, digits and underscores, a letter first", p.Name)
			}
			return a.init(cmd, p)
		},
	}
	cmd.Flags().BoolVar(&library, "library", false, "add a package to an existing module, for programs that call the workflow")
	cmd.Flags().StringVar(&editor, "editor", "", "also write the settings of an editor: vscode")
	_ = cmd.RegisterFlagCompletionFunc("editor", cobra.FixedCompletions([]string{"vscode"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().StringVar(&name, "name", "", "name of the workflow (default: name of the folder)")
	cmd.Flags().StringVar(&module, "module", "", "module path, if there is no module yet (default: example.com/<name>)")
	return cmd
}

var validName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// reserved names cannot be ids.
var reserved = map[string]bool{"input": true, "state": true, "in": true, "start": true, "end": true, "error": true, "run": true, "now": true, "else": true, "index": true}

// workflowName makes a name out of a folder's.
func workflowName(folder string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '_'
	}, folder)
	name = strings.Trim(strings.TrimLeft(name, "0123456789_"), "_")
	if name == "" || reserved[name] {
		return "demo"
	}
	return name
}

func (a *app) init(cmd *cobra.Command, p *starter.Project) error {
	written, err := p.Write(cmd.Context())
	for _, name := range written {
		fmt.Fprintf(a.stderr, "flowgen: wrote %s\n", oneLine(display(name)))
	}
	var refusal *starter.Refusal
	if errors.As(err, &refusal) {
		return unusablef("%v", err)
	}
	if err != nil {
		return err
	}
	if p.Raised != "" {
		fmt.Fprintf(a.stderr, "flowgen: %s\n", p.Raised)
	}
	if err := a.generate([]string{path.Clean(filepath.ToSlash(p.Workflow()))}, false, generation{fakes: p.Library}); err != nil {
		return err
	}
	if p.Library { // the generated files import more
		if err := starter.Complete(cmd.Context(), p.Dir); err != nil {
			return err
		}
	}
	if p.NewModule() {
		if err := starter.Tidy(cmd.Context(), p.Dir); err != nil {
			fmt.Fprintf(a.stderr, "flowgen: %v\n", err) // go.mod is complete all the same
		}
	}
	fmt.Fprint(a.stderr, "\nNext:\n")
	if p.Dir != "." {
		fmt.Fprintf(a.stderr, "    cd %s\n", filepath.ToSlash(p.Dir))
	}
	if p.Library {
		fmt.Fprint(a.stderr, "    go test .\n    go generate .      # after a change of the workflow\n")
		return nil
	}
	fmt.Fprint(a.stderr, "    go run .\n    go test ./...\n")
	return nil
}

// display is a file's name for people: relative to the current folder where it is below it.
func display(name string) string {
	if abs, err := filepath.Abs("."); err == nil && filepath.IsAbs(name) {
		if rel, err := filepath.Rel(abs, name); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
	}
	return filepath.ToSlash(name)
}
