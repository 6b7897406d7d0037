package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/atomicfile"
	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
)

func (a *app) fmtCommand() *cobra.Command {
	var check, migrate bool
	cmd := &cobra.Command{
		Use:   "fmt [FILE|FOLDER...|-]",
		Short: "Write workflow files in one canonical layout; without arguments, all of the current folder",
		Long: "Fmt writes workflow files in one layout: two columns of indentation, the keys of the file in the order of the\n" +
			"language, at most one empty line. [...] and {...} stay on one line of up to 120 columns. Longer ones become a\n" +
			"block, one entry a line, and so do those with a comment, or with a line break right after the opening bracket.\n\n" +
			"The meaning does not change: comments, anchors, quotes and all text are preserved. A file that is not valid YAML\n" +
			"is reported and left unchanged. With -, fmt reads standard input and writes to standard output.\n\n" +
			"With --migrate the syntax of earlier versions is rewritten first, in the prompts of the files too; the program\n" +
			"stays the same.\n\n" + foldersHelp,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if slices.Contains(args, "-") {
				if len(args) > 1 {
					return usage("- stands for standard input and cannot be mixed with files")
				}
				return a.fmtStdin(check, migrate)
			}
			names, _, err := workflows(args)
			if err != nil {
				return err
			}
			if migrate {
				return a.migrateFiles(names, check)
			}
			return a.fmtFiles(names, check)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "write nothing; fail if a file is not in the canonical layout")
	cmd.Flags().BoolVar(&migrate, "migrate", false, "rewrite the syntax of earlier versions")
	return cmd
}

// formatted is the text of a file in canonical layout; ok is false when that was reported to sink.
func (a *app) formatted(name string, text []byte, sink *diag.Sink) (out string, ok bool, err error) {
	a.file = name
	out, ok, err = parser.Format(source.NewFile(name, string(text)), sink)
	a.file = ""
	if err != nil {
		return "", false, fmt.Errorf("%s cannot be formatted and is left as it is: %w", name, err)
	}
	return out, ok, nil
}

func (a *app) fmtStdin(check, migrate bool) error {
	text, err := io.ReadAll(io.LimitReader(a.stdin, files.Max+1))
	if err != nil {
		return err
	}
	if len(text) > files.Max {
		return fmt.Errorf("standard input is larger than %d MiB", files.Max>>20)
	}
	sink := &diag.Sink{}
	form := a.formatted
	if migrate {
		form = (&migration{app: a}).workflow
	}
	out, ok, err := form("standard input", text, sink)
	switch {
	case err != nil:
		return err
	case !ok:
		return a.report(sink.List(), false)
	case check && out != string(text):
		a.unformatted("standard input", string(text), out, migrate)
		return errReported
	case check:
		return nil
	}
	_, err = io.WriteString(a.stdout, out)
	return err
}

// fmtFiles formats all files that can be; those that cannot are reported.
func (a *app) fmtFiles(names []string, check bool) error {
	return a.rewriteFiles(names, check, "formatted", a.formatted)
}

// rewriteFiles writes files as form makes them.
func (a *app) rewriteFiles(names []string, check bool, done string, form func(string, []byte, *diag.Sink) (string, bool, error)) error {
	sink := &diag.Sink{}
	bad := false
	for _, name := range names {
		text, err := readOwn(filepath.FromSlash(name))
		if err != nil {
			sink.Report(diag.Diagnostic{Code: diag.CannotRead, Span: source.Span{File: source.NewFile(name, "")}, Message: files.Message(err)})
			continue
		}
		out, ok, err := form(name, text, sink)
		switch {
		case err != nil:
			fmt.Fprintf(a.stderr, "flowgen: %v\n", err)
			bad = true
		case !ok || out == string(text):
		case check:
			a.unformatted(name, string(text), out, done == "migrated")
			bad = true
		default:
			if err := atomicfile.Write(filepath.FromSlash(name), []byte(out)); err != nil {
				return err
			}
			fmt.Fprintf(a.stderr, "flowgen: %s %s\n", done, oneLine(name))
		}
	}
	if err := a.report(sink.List(), false); err != nil || !bad {
		return err
	}
	return errReported
}

// unformatted says that a file is not as it would be written, and where that begins.
func (a *app) unformatted(name, text, want string, migrate bool) {
	is, would := strings.Split(text, "\n"), strings.Split(want, "\n")
	n := 0
	for n < len(is)-1 && n < len(would)-1 && is[n] == would[n] {
		n++
	}
	arg := name
	if name == "standard input" {
		arg = "-"
	}
	if migrate {
		fmt.Fprintf(a.stderr, "flowgen: %s:%d would be written otherwise; run `flowgen fmt --migrate`\n", name, n+1)
		return
	}
	fmt.Fprintf(a.stderr, "flowgen: %s:%d is not in the canonical layout; run `flowgen fmt %s`\n", name, n+1, arg)
}
