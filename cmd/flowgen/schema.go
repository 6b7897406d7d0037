package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/parser"
)

func (a *app) schemaCommand() *cobra.Command {
	dialect := "native"
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print a JSON Schema of workflow files, for editors",
		Long: "Schema prints the shape of *" + suffix + " files as a JSON Schema (draft 7), written from the table that the\n" +
			"parser itself uses: editors then complete keys and words and mark unknown ones. It does not check names, types\n" +
			"and expressions; flowgen check does.\n\n" +
			"    flowgen schema > .flowgen/schema.json\n\n" +
			"In Visual Studio Code, with the YAML extension:\n\n" +
			"    \"yaml.schemas\": {\".flowgen/schema.json\": \"*" + suffix + "\"}\n\n" +
			"or in any editor that runs yaml-language-server, as the first line of a file:\n\n" +
			"    # yaml-language-server: $schema=.flowgen/schema.json",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			text := parser.JSONSchemaOf(dialect)
			if text == nil {
				return noDialect(dialect)
			}
			_, err := a.stdout.Write(text)
			return err
		},
	}
	cmd.Flags().StringVar(&dialect, "dialect", dialect, "one of "+strings.Join(parser.Dialects(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("dialect", cobra.FixedCompletions(parser.Dialects(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
