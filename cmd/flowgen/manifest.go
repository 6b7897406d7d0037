package main

import (
	"fmt"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/manifest"
	"github.com/flowgen-dev/flowgen/runtime/cli"
)

func (a *app) manifestCommand() *cobra.Command {
	var format, permitted string
	cmd := &cobra.Command{
		Use:   "manifest FILE",
		Short: "List what a workflow can touch; with --check, fail on anything new",
		Long: "Manifest lists the hosts a workflow sends requests to, the programs it starts, the variables and secrets it\n" +
			"uses, the Go packages it calls, its effects and the caps of its policy; its models and their hosts, its agents with\n" +
			"their tools and caps, and the maximum of model calls, calls and dollars of a run. Only tools that a step calls\n" +
			"count, including those of sub-workflows. A * is a value that is decided at run time; a server may redirect a\n" +
			"request to other public hosts, without its credentials. Compiled programs print the same text with `manifest`.\n\n" +
			"Check a manifest in to restrict the workflow:\n\n" +
			"    flowgen manifest triage" + suffix + " --format json > triage.manifest.json\n" +
			"    flowgen manifest triage" + suffix + " --check triage.manifest.json\n\n" +
			"The check fails when the workflow can touch anything that is not in the file, or has a weaker cap. Entries that the\n" +
			"workflow no longer needs are reported, and pass.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("check") {
				return a.describe(args[0], format, cli.ManifestText, func(p *check.Program) string { return manifest.Of(p).JSON() })
			}
			if cmd.Flags().Changed("format") {
				return usage("--check prints no manifest: leave --format out")
			}
			return a.checkManifest(args[0], permitted)
		},
	}
	formatFlag(cmd, &format, "text", "json")
	cmd.Flags().StringVar(&permitted, "check", "", "fail if the workflow can touch more than this manifest (JSON) allows")
	return cmd
}

func (a *app) checkManifest(file, permitted string) error {
	data, err := readOwn(permitted)
	if err != nil {
		return err
	}
	old, err := manifest.Parse(data)
	if err != nil {
		return fmt.Errorf("%s: %w", permitted, err)
	}
	c := a.compile(newDisk(), path.Clean(filepath.ToSlash(file)))
	if err := a.report(c.list, false); err != nil {
		return err
	}
	more, less := manifest.Compare(old, manifest.Of(c.program))
	for _, m := range more {
		fmt.Fprintf(a.stderr, "error: %s: %s\n", c.name, diag.Printable(m))
	}
	for _, l := range less {
		fmt.Fprintf(a.stderr, "note: %s: %s\n", c.name, diag.Printable(l))
	}
	if len(more) == 0 {
		return nil
	}
	fmt.Fprintf(a.stderr, "help: review what is new, then run `flowgen manifest %s --format json > %s`\n", c.name, filepath.ToSlash(permitted))
	return errReported
}
