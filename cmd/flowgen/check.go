package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/atomicfile"
	"github.com/flowgen-dev/flowgen/ir/diag"
)

func (a *app) checkCommand() *cobra.Command {
	var fix, strict bool
	var format string
	cmd := &cobra.Command{
		Use:   "check [FILE|FOLDER...]",
		Short: "Report mistakes; without arguments, in all workflows of the current folder",
		Long: "Check reports the mistakes of workflow files, those of the files they include, and where their tools do not fit.\n" +
			"A folder stands for the *" + suffix + " files in it. Diagnostics go to stderr as text, or to stdout as JSON.",
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if format != "text" && format != "json" {
				return usage("--format is text or json, not %q", format)
			}
			names, found, err := workflows(args)
			if err != nil {
				return err
			}
			list := a.check(names, found)
			if fix {
				if list, err = a.fix(names, found, list); err != nil {
					return err
				}
			}
			if format == "json" {
				if err := diag.JSON(a.stdout, list); err != nil {
					return err
				}
				return failed(list, strict)
			}
			return a.report(list, strict)
		},
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "apply the fixes that diagnostics offer, then check again")
	cmd.Flags().BoolVar(&strict, "strict", false, "fail on warnings, too")
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// check compiles all and returns their diagnostics. Where files were found rather than named, those that others
// include or call are seen through them.
func (a *app) check(names []string, found bool) []diag.Diagnostic {
	return merged(a.compileAll(names, found))
}

func (a *app) compileAll(names []string, found bool) []*compiled {
	files := newDisk()
	var list []*compiled
	for _, name := range names {
		list = append(list, a.compile(files, name))
	}
	if !found {
		return list
	}
	serves := serving(list)
	var roots []*compiled
	for _, c := range list {
		if !serves[c.name] {
			roots = append(roots, c)
		}
	}
	if len(roots) == 0 { // they all call each other, which is a mistake that any of them shows
		return list
	}
	return roots
}

// fixRounds bounds how often fixes are applied: one may bring up another mistake that has a fix.
const fixRounds = 10

// fix applies fixes until there are none left and returns what remains to be said.
func (a *app) fix(names []string, found bool, list []diag.Diagnostic) ([]diag.Diagnostic, error) {
	for range fixRounds {
		files, applied := diag.ApplyFixes(list)
		if applied == 0 {
			break
		}
		for _, f := range files {
			if err := atomicfile.Write(filepath.FromSlash(f.File.Name), []byte(f.Text)); err != nil {
				return nil, err
			}
		}
		var changed []string
		for _, f := range files {
			changed = append(changed, f.File.Name)
		}
		fmt.Fprintf(a.stderr, "flowgen: applied %d %s in %s\n", applied, plural(applied, "fix", "fixes"), strings.Join(changed, ", "))
		list = a.check(names, found)
	}
	return list, nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
