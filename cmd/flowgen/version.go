package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/origin"
	"github.com/flowgen-dev/flowgen/parser"
)

func (a *app) versionCommand() *cobra.Command {
	var dialects, asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print flowgen's version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			switch {
			case dialects && asJSON:
				return usage("--dialects and --json cannot be combined")
			case dialects:
				return a.followed()
			case asJSON:
				return json.NewEncoder(a.stdout).Encode(origin.About())
			}
			_, err := fmt.Fprint(a.stdout, versionLine())
			return err
		},
	}
	cmd.Flags().BoolVar(&dialects, "dialects", false, "print the documentation and engine that each public dialect follows")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an object with version, commit, modified, go, os and arch")
	return cmd
}

// followed prints which page and engine each dialect follows: the first line of a dialect is the default.
func (a *app) followed() error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "dialect\tfollows\t--compat")
	for _, l := range parser.Languages() {
		page := "its page"
		var engines []string
		for _, e := range l.Eras {
			if !e.Upstream {
				page += "; where it is silent " + e.Engine
				engines = append(engines, e.Name)
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", l.Name, page, strings.Join(append([]string{parser.Documented + " (default)"}, engines...), ", "))
		engine := ""
		engines = nil
		for _, e := range l.Eras {
			if e.Upstream {
				engine = e.Engine
				engines = append(engines, e.Name)
			}
		}
		fmt.Fprintf(w, "\t%s where the page differs\t%s\n", engine, strings.Join(append([]string{parser.Upstream}, engines...), ", "))
	}
	return w.Flush()
}

func versionLine() string {
	return fmt.Sprintf("%s %s %s/%s\n", origin.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
