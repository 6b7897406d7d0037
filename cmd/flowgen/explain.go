package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
)

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Explain a diagnostic code, with a wrong and a right example; without CODE, list all codes",
		Args:  cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var codes []string
			for _, e := range diag.Codes() {
				codes = append(codes, string(e.Code)+"\t"+e.Title)
			}
			return codes, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				for _, e := range diag.Codes() {
					fmt.Fprintf(a.stdout, "%s  %s\n", e.Code, e.Title)
				}
				return nil
			}
			code := strings.ToUpper(args[0])
			if !strings.HasPrefix(code, "FG") {
				code = "FG" + code
			}
			all := parser.Codes()
			i := slices.IndexFunc(all, func(e diag.Entry) bool { return string(e.Code) == code })
			if i < 0 {
				var codes []string
				for _, e := range all {
					codes = append(codes, string(e.Code))
				}
				if near := diag.Nearest(code, codes); near != "" {
					return unusablef("unknown diagnostic %s, did you mean %s?", args[0], near)
				}
				return unusablef("unknown diagnostic %s; flowgen explain lists them", args[0])
			}
			explain(a.stdout, all[i])
			return nil
		},
	}
}

func explain(w io.Writer, e diag.Entry) {
	fmt.Fprintf(w, "%s: %s\n\n%s\n", e.Code, e.Title, wrap(e.Cause, 88))
	for _, example := range []struct{ title, text string }{{"Wrong", e.Wrong}, {"Right", e.Right}} {
		if example.text == "" {
			continue
		}
		fmt.Fprintf(w, "\n%s:\n\n", example.title)
		for _, line := range strings.Split(strings.TrimRight(example.text, "\n"), "\n") {
			fmt.Fprintln(w, strings.TrimRight("    "+line, " "))
		}
	}
	for i, c := range e.Cases {
		if i == 0 {
			fmt.Fprint(w, "\nWhat it says:\n")
		}
		fmt.Fprintf(w, "\n%s\n", wrap(c.Message+". Help: "+c.Help, 88))
	}
}

// wrap breaks text at blanks so that lines have at most width characters where they can.
func wrap(text string, width int) string {
	var b strings.Builder
	col := 0
	for i, word := range strings.Fields(text) {
		n := len([]rune(word))
		switch {
		case i == 0:
		case col+1+n > width:
			b.WriteByte('\n')
			col = 0
		default:
			b.WriteByte(' ')
			col++
		}
		b.WriteString(word)
		col += n
	}
	return b.String()
}
