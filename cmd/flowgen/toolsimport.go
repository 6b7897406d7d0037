package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	toolsource "github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/bind/openapisource"
	"github.com/flowgen-dev/flowgen/ir/diag"
)

func (a *app) toolsImport() *cobra.Command {
	var only []string
	cmd := &cobra.Command{
		Use:   "import SPEC",
		Short: "Write tool declarations for the operations of an OpenAPI document",
		Long: "Import writes a library file to stdout that declares the operations of an OpenAPI 3 document as tools, and names\n" +
			"the secrets they need. Redirect it into a file and `include` that. Operations that no tool can call are listed on stderr\n" +
			"with the reason and the place in the document; optional parameters that no tool can send are comments.\n\n" +
			"SPEC is a file in or below the current folder, relative to it as the written file will be.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.importTools(args[0], only) },
	}
	cmd.Flags().StringSliceVar(&only, "only", nil, "only these operations: names, or `tag:NAME`")
	return cmd
}

func (a *app) importTools(spec string, only []string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	d, err := openapisource.Open(&toolsource.Files{}, toolsource.Folder{Disk: dir}, filepath.ToSlash(spec))
	if err != nil {
		return fmt.Errorf("%s cannot be read: %s", spec, toolsource.Reason(err))
	}
	found, names := map[string]bool{}, []string{}
	keep := func(o *openapisource.Operation) bool {
		wanted := len(only) == 0
		for _, name := range only {
			tag, tagged := strings.CutPrefix(name, "tag:")
			if tagged && slices.Contains(o.Tags, tag) || o.ID == name || o.Method+" "+o.Path == name {
				found[name], wanted = true, true
			}
		}
		names = append(names, o.ID)
		return wanted
	}
	made := openapisource.Declare(d, keep)
	for _, name := range only {
		if found[name] {
			continue
		}
		if near := diag.Nearest(name, names); near != "" {
			return usage("%s has no operation %s; did you mean %s?", spec, name, near)
		}
		return usage("%s has no operation or tag %s", spec, name)
	}
	fmt.Fprint(a.stdout, made.Text)
	for _, r := range made.Refused {
		fmt.Fprintf(a.stderr, "not imported: %s\n", r)
	}
	fmt.Fprintf(a.stderr, "imported %d of %d operations\n", made.Tools, made.Tools+len(made.Refused))
	return nil
}
