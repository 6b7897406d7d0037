package main

import (
	"io"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/runtime/cli"
	"github.com/flowgen-dev/flowgen/runtime/flow"
)

func (a *app) graphCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "graph FILE",
		Short: "Draw a workflow's graph, in Mermaid or Graphviz's DOT",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			draw, ok := map[string]func(*flow.Info) string{"mermaid": cli.Mermaid, "dot": cli.DOT}[format]
			if !ok {
				return usage("--format is mermaid or dot, not %q", format)
			}
			c := a.compile(newDisk(), path.Clean(filepath.ToSlash(args[0])))
			if err := a.report(c.list, false); err != nil {
				return err
			}
			_, err := io.WriteString(a.stdout, draw(described(c.program)))
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "mermaid", "mermaid or dot")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"mermaid", "dot"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// described is what the compiled program would say of its own graph, so that both draw the same.
func described(p *check.Program) *flow.Info {
	info := &flow.Info{Name: p.WF.Name.Name}
	for _, s := range p.Table {
		info.Nodes = append(info.Nodes, &flow.Node{ID: s.Node.ID.Name})
	}
	for _, e := range codegen.Edges(p.Body) {
		info.Edges = append(info.Edges, flow.Edge{From: e.From, To: e.To, Label: e.Label})
	}
	return info
}
