package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/program"
	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/parser"
)

// dialectFlags adds what a command that reads workflow files can be told about them.
func (a *app) dialectFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.reading.Dialect, "dialect", "", "read files as this: "+strings.Join(parser.Dialects(), ", ")+"; detected from the keys by default")
	f.StringVar(&a.reading.Compat, "compat", parser.Documented, "imported files: follow the dialect's documentation (documented), its engine (upstream), or an engine generation of flowgen version --dialects")
	if f.Lookup("tool") == nil {
		f.StringToStringVar(&a.reading.Tools, "tool", nil, "the manifest of the tool in a slot of a workflow, as NAME=FILE; can be repeated")
	}
	a.pricesFlag(cmd)
	_ = cmd.RegisterFlagCompletionFunc("dialect", cobra.FixedCompletions(parser.Dialects(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("compat", cobra.FixedCompletions(parser.Compats(), cobra.ShellCompDirectiveNoFileComp))
	dialectHelp(cmd)
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch r := a.reading; {
		case r.Dialect != "" && !slices.Contains(parser.Dialects(), r.Dialect):
			return noDialect(r.Dialect)
		case !slices.Contains(parser.Compats(), r.Compat):
			return usage("--compat is documented, upstream or an era of an engine, not %q: `flowgen version --dialects` lists them", r.Compat)
		}
		return run(cmd, args)
	}
}

// dialectHelp hides the flags about dialects in help, unless it is asked for with a file that is not native, and in a folder
// without native files.
func dialectHelp(cmd *cobra.Command) {
	names := []string{"dialect", "compat", "tool"}
	for _, name := range names {
		if f := cmd.Flags().Lookup(name); f != nil {
			f.Hidden = true
		}
	}
	help := cmd.HelpFunc()
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if foreignFile(args) {
			for _, name := range names {
				if f := cmd.Flags().Lookup(name); f != nil {
					f.Hidden = false
				}
			}
		}
		help(cmd, args)
	})
}

// foreignFile reports whether one of the arguments is a file of a public dialect, or where they name none, one of the current
// folder.
func foreignFile(args []string) bool {
	yaml := func(name string) bool { return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") }
	var candidates []string
	for _, arg := range args {
		if yaml(arg) {
			candidates = append(candidates, arg)
		}
	}
	if candidates == nil {
		entries, err := files.List(".")
		if err != nil {
			return false
		}
		for _, e := range entries {
			if !e.IsDir() && yaml(e.Name()) && !strings.HasSuffix(e.Name(), casesSuffix) {
				candidates = append(candidates, e.Name())
			}
		}
	}
	return slices.ContainsFunc(candidates, func(name string) bool { return !strings.HasSuffix(name, suffix) })
}

// cache is the user's cache, for files that are read as the flags say.
func (a *app) cache() (*program.Cache, error) {
	c, err := program.UserCache()
	if err != nil {
		return nil, err
	}
	settings := ""
	if r := a.reading; r.Dialect != "" || r.Compat != parser.Documented {
		settings = r.Dialect + " " + r.Compat
	}
	for _, name := range slices.Sorted(maps.Keys(a.reading.Tools)) {
		settings += " " + name + "=" + a.reading.Tools[name]
	}
	for _, name := range slices.Sorted(maps.Keys(a.slots)) {
		settings += " slot " + name + "=" + a.slots[name]
	}
	settings += a.overlaid()
	if a.standIns {
		settings += " tested"
	}
	if a.ownMain {
		settings += " main"
	}
	return c.With(settings), nil
}
