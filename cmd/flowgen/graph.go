package main

import (
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/plan"
	"github.com/flowgen-dev/flowgen/runtime/cli"
	"github.com/flowgen-dev/flowgen/runtime/flow"
)

func (a *app) graphCommand() *cobra.Command {
	var format, run, dir string
	cmd := &cobra.Command{
		Use:   "graph FILE",
		Short: "Draw a workflow's graph, in Mermaid or Graphviz's DOT",
		Long: "Graph draws the nodes of a workflow with their actions and the edges between them; bodies of maps and loops are clusters.\n" +
			"With --run nodes are coloured by their state in a recorded run: done, failed, waiting, in doubt, open, cancelled, or not called.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if format != "mermaid" && format != "dot" {
				return usage("--format is mermaid or dot, not %q", format)
			}
			if dir != "" && run == "" {
				return usage("--runs names the folder of --run, which is not given")
			}
			c := a.compile(newDisk(), path.Clean(filepath.ToSlash(args[0])))
			if err := a.report(c.list, false); err != nil {
				return err
			}
			words := []string{"--format", format}
			if run != "" {
				words = append(words, "--run", run)
			}
			if dir != "" {
				words = append(words, "--runs", dir)
			}
			if code := cli.Graph(a.stdout, a.stderr, described(c.program), words); code != 0 {
				return exitCode(code)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "mermaid", "mermaid or dot")
	cmd.Flags().StringVar(&run, "run", "", "colour the nodes by this recorded run: its name, a prefix of it, or latest")
	cmd.Flags().StringVar(&dir, "runs", "", "folder of the recorded runs (default .flowgen/runs)")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"mermaid", "dot"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// described is what the compiled program would say of its own graph, so that both draw the same.
func described(p *check.Program) *flow.Info {
	info := &flow.Info{Name: p.WF.Name.Name, Facts: flow.NewFacts(`{"plan":` + plan.Of(p).JSON() + `}`)}
	for _, s := range p.Table {
		info.Nodes = append(info.Nodes, &flow.Node{ID: s.Node.ID.Name})
	}
	for _, e := range codegen.Edges(p.Body) {
		info.Edges = append(info.Edges, flow.Edge{From: e.From, To: e.To, Label: e.Label})
	}
	return info
}
