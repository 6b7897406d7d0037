package diag

import (
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/source"
)

// GitHub writes the diagnostics as workflow commands of GitHub Actions, one line each, so that they show as annotations
// of the changed files:
//
//	::error file=triage.flowgen.yaml,line=13,col=14,endLine=13,endColumn=23,title=FG0301::node "first_drat" is not ...
//
// Lines and columns count from 1, columns in characters; the end is exclusive. base is put before relative names of
// files: the folder the command runs in, slash-separated and relative to the root of the repository, or "". Help and
// related places follow the message on lines of their own. Nothing from a file can end a command or begin another.
func GitHub(w io.Writer, list []Diagnostic, base string) error {
	var b strings.Builder
	for i := range list {
		d := &list[i]
		b.WriteString("::" + [...]string{"error", "warning", "notice"}[d.Severity] + " ")
		var props []string
		add := func(name, value string) { props = append(props, name+"="+githubProperty(value)) }
		if d.Span.File != nil {
			add("file", based(base, d.Span.File))
			if hasSnippet(d.Span) {
				lo, hi := d.Span.Start(), d.Span.End()
				add("line", fmt.Sprint(lo.Line))
				add("col", fmt.Sprint(lo.Col))
				add("endLine", fmt.Sprint(hi.Line))
				if lo.Line == hi.Line && hi.Col > lo.Col { // the end of a span of several lines has no column there
					add("endColumn", fmt.Sprint(hi.Col))
				}
			}
		}
		if d.Code != "" {
			add("title", string(d.Code))
		}
		b.WriteString(strings.Join(props, ",") + "::" + githubData(strings.Join(plainLines(d, base), "\n")) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// plainLines are what a diagnostic says, without pictures: the message, related places, help.
func plainLines(d *Diagnostic, base string) []string {
	out := []string{printable(d.Message)}
	for _, r := range d.Related {
		text := printable(r.Message)
		if !r.Span.IsZero() {
			text += ": " + placeIn(r.Span, base)
		}
		out = append(out, text)
	}
	for i, h := range helpLines(d) {
		if i == 0 {
			h = "help: " + h
		}
		out = append(out, printable(h))
	}
	return out
}

// helpLines are the lines of the help, or the title of the first fix.
func helpLines(d *Diagnostic) []string {
	help := d.Help
	if help == "" && len(d.Fixes) > 0 {
		help = d.Fixes[0].Title
	}
	if help = strings.TrimRight(help, "\n"); help == "" {
		return nil
	}
	return strings.Split(help, "\n")
}

// based is the name of a file as seen from the root of a repository.
func based(base string, f *source.File) string {
	name := f.Name
	if base == "" || f.Module != "" || path.IsAbs(name) || len(name) > 1 && name[1] == ':' {
		return name
	}
	return path.Join(base, name)
}

// The escapes that the runner of GitHub Actions undoes. In properties, commas and colons have a meaning, too.
var (
	githubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace
	githubProperty = func(s string) string {
		return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(printable(s))
	}
)

func placeIn(s source.Span, base string) string {
	f := *s.File
	f.Name = based(base, s.File)
	return place(source.Span{File: &f, Lo: s.Lo, Hi: s.Hi})
}
