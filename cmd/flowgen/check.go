package main

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/atomicfile"
	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/lsp"
	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/origin"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/runtime/sandbox"
	"github.com/flowgen-dev/flowgen/runtime/secret"
)

func (a *app) checkCommand() *cobra.Command {
	var fix, strict, secrets, tiers, watch bool
	var format, engine string
	cmd := &cobra.Command{
		Use:   "check [FILE|FOLDER...]",
		Short: "Report mistakes; without arguments, in all workflows of the current folder and below",
		Long: "Check reports mistakes in workflow files, in included files and in test cases, and mismatches with their tools.\n" +
			foldersHelp + "\n\n" +
			"Diagnostics go to stderr as text, or to stdout in a format for machines: json; github, workflow commands that\n" +
			"annotate files in GitHub Actions; sarif, SARIF 2.1.0 for code scanning. In the last two, file names are relative to\n" +
			"GITHUB_WORKSPACE, if that is set. docs/problem-matcher.json of flowgen's repository has regular expressions for\n" +
			"systems that parse the text.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			write, err := diagnosticsAs(format)
			if err != nil {
				return err
			}
			if _, err := engineMain(engine, false); err != nil {
				return err
			}
			if watch {
				if fix || strict || secrets || tiers {
					return usage("--watch only reports: remove --fix, --strict, --secrets and --sandbox")
				}
				return a.watch(cmd.Context(), args, write)
			}
			names, found, err := workflows(tested(newDisk(), args))
			if len(args) == 0 {
				if names, err = below("."); err == nil && len(names) == 0 {
					err = unusablef("there is no *%s file in this folder or below; name a file or a folder", suffix)
				}
			}
			if err != nil {
				return err
			}
			programs := a.compileAll(newDisk(), names, found)
			list := merged(programs)
			if fix {
				if list, err = a.fix(names, found, list); err != nil {
					return err
				}
			}
			list = append(list, checkPrograms(programs)...)
			if secrets {
				list = append(list, checkSecrets(programs, secret.Default().Lookup)...)
			}
			if tiers {
				list = append(list, checkTiers(programs, sandbox.Available)...)
			}
			if engine != "" {
				list = append(list, checkEngine(programs)...)
			}
			if write != nil {
				if err := write(a.stdout, list); err != nil {
					return err
				}
				return failed(list, strict)
			}
			return a.report(list, strict)
		},
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "apply the fixes that diagnostics offer, then check again")
	cmd.Flags().BoolVar(&secrets, "secrets", false, "also warn about declared secrets that are not set on this machine, or only for the entire organisation")
	cmd.Flags().BoolVar(&tiers, "sandbox", false, "also report sandbox tiers that tools need and this machine lacks; tries each once")
	cmd.Flags().StringVar(&engine, "engine", "", "also warn about what the engine does not support: temporal")
	cmd.Flags().BoolVar(&strict, "strict", false, "also fail on warnings")
	cmd.Flags().BoolVar(&watch, "watch", false, "keep running, and report again when a file changes")
	formatFlag(cmd, &format, "text", "json", "github", "sarif")
	return cmd
}

// formatFlag adds --format, whose default is the first of the words.
func formatFlag(cmd *cobra.Command, format *string, words ...string) {
	n := len(words) - 1
	cmd.Flags().StringVar(format, "format", words[0], strings.Join(words[:n], ", ")+" or "+words[n])
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// diagnosticsAs is what writes diagnostics for machines; nil for text.
func diagnosticsAs(format string) (func(io.Writer, []diag.Diagnostic) error, error) {
	write := diagnosticFormats[format]
	if write == nil && format != "text" {
		return nil, usage("--format is text, json, github or sarif, not %q", format)
	}
	return write, nil
}

// diagnosticFormats are those for machines.
var diagnosticFormats = map[string]func(io.Writer, []diag.Diagnostic) error{
	"json":   diag.JSON,
	"github": func(w io.Writer, list []diag.Diagnostic) error { return diag.GitHub(w, list, workspaceFolder()) },
	"sarif": func(w io.Writer, list []diag.Diagnostic) error {
		return diag.SARIF(w, list, diag.SARIFOptions{Version: origin.Version(), Base: workspaceFolder(), Codes: parser.Codes()})
	},
}

// workspaceFolder is the current folder as seen from the repository that a CI job has checked out; "" when that is not
// known, or is the current folder itself.
func workspaceFolder() string {
	root := os.Getenv("GITHUB_WORKSPACE")
	here, err := os.Getwd()
	if root == "" || err != nil {
		return ""
	}
	rel, err := filepath.Rel(root, here)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// check compiles all and returns their diagnostics. Where files were found rather than named, those that others
// include or call are seen through them.
func (a *app) check(names []string, found bool) []diag.Diagnostic {
	return merged(a.compileAll(newDisk(), names, found))
}

func (a *app) compileAll(files *disk, names []string, found bool) []*compiled {
	var list []*compiled
	for _, name := range names {
		c := a.compileAny(files, name)
		a.cases(files, c)
		list = append(list, c)
	}
	if !found {
		return list
	}
	served := lsp.Served(serving(list))
	return slices.DeleteFunc(list, func(c *compiled) bool { return served[path.Clean(c.name)] })
}

// fixRounds bounds how often fixes are applied: one may bring up another mistake that has a fix.
const fixRounds = 10

// fix applies fixes until there are none left and returns what remains to be said.
func (a *app) fix(names []string, found bool, list []diag.Diagnostic) ([]diag.Diagnostic, error) {
	for range fixRounds {
		files, applied := parser.ApplyFixes(list)
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
