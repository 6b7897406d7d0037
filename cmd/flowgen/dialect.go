package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/program"
	"github.com/flowgen-dev/flowgen/parser"
)

// dialectFlags adds what a command that reads workflow files can be told about them.
func (a *app) dialectFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.reading.Dialect, "dialect", "", "read files as this: "+strings.Join(parser.Dialects(), ", ")+"; otherwise their keys tell")
	f.StringVar(&a.reading.Compat, "compat", parser.Documented, "where the page of a public dialect and its engine differ: documented or upstream")
	if f.Lookup("tool") == nil {
		f.StringToStringVar(&a.reading.Tools, "tool", nil, "the manifest of the tool in a slot of a workflow, as NAME=FILE; can be repeated")
	}
	_ = cmd.RegisterFlagCompletionFunc("dialect", cobra.FixedCompletions(parser.Dialects(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("compat", cobra.FixedCompletions([]string{parser.Documented, parser.Upstream}, cobra.ShellCompDirectiveNoFileComp))
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch r := a.reading; {
		case r.Dialect != "" && !slices.Contains(parser.Dialects(), r.Dialect):
			return noDialect(r.Dialect)
		case r.Compat != parser.Documented && r.Compat != parser.Upstream:
			return usage("--compat is documented or upstream, not %q", r.Compat)
		}
		return run(cmd, args)
	}
}

// cache is the user's cache, for files that are read as the flags say.
func (a *app) cache() (*program.Cache, error) {
	c, err := program.UserCache()
	if err != nil {
		return nil, err
	}
	settings := ""
	if r := a.reading; r.Dialect != "" || r.Compat == parser.Upstream {
		settings = r.Dialect + " " + r.Compat
	}
	for _, name := range slices.Sorted(maps.Keys(a.reading.Tools)) {
		settings += " " + name + "=" + a.reading.Tools[name]
	}
	for _, name := range slices.Sorted(maps.Keys(a.slots)) {
		settings += " slot " + name + "=" + a.slots[name]
	}
	if a.tested {
		settings += " tested"
	}
	return c.With(settings), nil
}
