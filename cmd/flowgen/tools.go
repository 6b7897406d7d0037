package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/runtime/cli"
)

func (a *app) toolsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "List, search and show the tools that workflow files declare",
		Long: "Tools lists tools: those that the given files declare and include, or those of all workflows in the current folder.\n" +
			"Library files are accepted, too. Deprecated and blocked tools are omitted unless --all is given or the tool is\n" +
			"named.\n\n" + foldersHelp,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if files.Exists(args[0]) {
					return fmt.Errorf("unknown command %q for %q; to list the tools of a file: %s list %s", args[0], cmd.CommandPath(), cmd.CommandPath(), args[0])
				}
				return fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.toolsList(), a.toolsSearch(), a.toolsShow(), a.toolsImport())
	return cmd
}

func (a *app) toolsList() *cobra.Command {
	var all bool
	var format, category string
	cmd := &cobra.Command{
		Use:   "list [FILE|FOLDER...]",
		Short: "List tools by name, with effects and description",
		Args:  cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if category != "" && !slices.Contains(ir.Categories, category) {
				if near := diag.Nearest(category, ir.Categories); near != "" {
					return usage("unknown category %q; did you mean %s?", category, near)
				}
				return usage("unknown category %q; the categories are %s", category, strings.Join(ir.Categories, ", "))
			}
			return a.tools(args, format, func(t toolInfo) bool {
				return (all || !t.hidden()) && (category == "" || t.Category == category)
			}, toolsTable)
		},
	}
	cmd.Flags().StringVar(&category, "category", "", "only tools of this category")
	toolFlags(cmd, &all, &format)
	return cmd
}

func (a *app) toolsSearch() *cobra.Command {
	var all bool
	var format string
	cmd := &cobra.Command{
		Use:   "search TEXT [FILE|FOLDER...]",
		Short: "List the tools whose name, description, category or tags contain all words of a text",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			words := strings.Fields(strings.ToLower(args[0]))
			if len(words) == 0 {
				return usage("the search text is empty")
			}
			return a.tools(args[1:], format, func(t toolInfo) bool { return (all || !t.hidden()) && t.matches(words) }, toolsTable)
		},
	}
	toolFlags(cmd, &all, &format)
	return cmd
}

func (a *app) toolsShow() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "show NAME [FILE|FOLDER...]",
		Short: "Show a tool: its kind, its effects, and the JSON Schemas of its input and output",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			var names []string
			found := false
			err := a.tools(args[1:], format, func(t toolInfo) bool {
				names = append(names, t.short(), t.Name)
				fits := t.named(args[0])
				found = found || fits
				return fits
			}, toolsPage)
			if err != nil || found {
				return err
			}
			if near := diag.Nearest(args[0], names); near != "" {
				return fmt.Errorf("unknown tool %s; did you mean %s?", args[0], near)
			}
			return fmt.Errorf("unknown tool %s; flowgen tools list --all lists them", args[0])
		},
	}
	formatFlag(cmd, &format, "text", "json")
	return cmd
}

func toolFlags(cmd *cobra.Command, all *bool, format *string) {
	cmd.Flags().BoolVar(all, "all", false, "include deprecated and blocked tools")
	formatFlag(cmd, format, "text", "json")
}

// A toolInfo is a tool as it receives: the tool description of Agent Tools 3.3.
type toolInfo struct {
	Name        string          `json:"name"`
	Version     string          `json:"version"`
	Description string          `json:"description"`
	RunsAs      string          `json:"runs_as"` // go, command, shell, http, ...: what follows says which
	Target      string          `json:"target"`
	Needs       string          `json:"needs,omitempty"`   // interpreter that must be there when it runs: python3, node
	Sources     []string        `json:"sources,omitempty"` // files that are embedded in the program
	Effects     string          `json:"effects"`
	State       string          `json:"state"`
	Category    string          `json:"category"`
	Tags        []string        `json:"tags"`
	Permissions []string        `json:"permissions"`
	Replay      string          `json:"replay"` // as declared, or as follows from the effects
	Cache       string          `json:"cache"`  // none, forever, or for how long
	Rate        string          `json:"rate"`
	CostUSD     string          `json:"cost_usd"`
	Idempotency string          `json:"idempotency_key"`
	MaxOutput   int64           `json:"max_output_bytes"` // 0: the default
	Sandbox     string          `json:"sandbox"`
	Secrets     []string        `json:"secrets"`                // names
	SecretsFrom []string        `json:"secrets_from,omitempty"` // where each of Secrets is found: environment, .env, /run/secrets, or "not set"
	UsedBy      []string        `json:"used_by"`                // nodes of the workflows that were read, as in workflow/node
	Declared    string          `json:"declared"`               // file:line
	Input       json.RawMessage `json:"input_schema"`
	Output      json.RawMessage `json:"output_schema"`
	Examples    []toolExample   `json:"examples"`

	key string
}

type toolExample struct {
	Description string          `json:"description,omitempty"`
	In          json.RawMessage `json:"in,omitempty"`
	Out         json.RawMessage `json:"out,omitempty"`
}

func examplesOf(t *ir.Tool) []toolExample {
	out := []toolExample{}
	for _, x := range t.Examples {
		e := toolExample{Description: x.Description}
		if x.InJSON != nil {
			e.In = json.RawMessage(x.InJSON.JSON)
		}
		if x.OutJSON != nil {
			e.Out = json.RawMessage(x.OutJSON.JSON)
		}
		out = append(out, e)
	}
	return out
}

// declaredAs are the words of a declaration that have a default or take several forms.
func (out *toolInfo) declaredAs(t *ir.Tool) {
	out.Replay = check.Replay(t)
	out.Cache = cmp.Or(t.Cache, "none")
	if t.CacheTTL != nil {
		out.Cache = t.CacheTTL.Value.String()
	}
	switch {
	case t.IdempotencyKey != nil:
		out.Idempotency = t.IdempotencyKey.Text.Value
	case t.Idempotency:
		out.Idempotency = "call_id"
	}
	out.Secrets = []string{}
	if t.Auth != nil {
		out.Secrets = append(out.Secrets, t.Auth.Secret.Name)
	}
}

func infoOf(t *ir.Tool) toolInfo {
	out := toolInfo{
		Name: t.Name.Name, Version: t.Version, Description: t.Description, Effects: check.Effects(t).String(), State: cmp.Or(t.State, "active"),
		Category: t.Category, Tags: append([]string{}, t.Tags...), UsedBy: []string{}, Permissions: append([]string{}, t.Permissions...), key: t.Key.Name,
		Rate: t.Rate, CostUSD: t.CostUSD, MaxOutput: t.MaxOutput, Sandbox: t.Sandbox.Name, Examples: examplesOf(t),
	}
	out.declaredAs(t)
	if t.Key.Span.File != nil {
		out.Declared = fmt.Sprintf("%s:%d", t.Key.Span.File.Name, t.Key.Span.Start().Line)
	}
	in, result := t.In, t.Out
	if in == nil {
		in = schema.EmptyType
	}
	if result == nil {
		result = schema.EmptyType
	}
	out.Input, out.Output = json.RawMessage(schema.JSONSchema(in)), json.RawMessage(schema.JSONSchema(result))
	out.RunsAs, out.Target = runsAs(t.Binding)
	out.Needs = ir.Interpreter(t.Binding)
	if t.Def != nil {
		for _, f := range t.Def.Files {
			out.Sources = append(out.Sources, f.Name)
		}
	}
	return out
}

func runsAs(b ir.Binding) (kind, target string) {
	switch b := b.(type) {
	case *ir.GoTool:
		return "go", b.Func.Ref.Name
	case *ir.CommandTool:
		var words []string
		for _, arg := range b.Args {
			words = append(words, arg.Text.Value)
		}
		if b.Shell {
			return "shell", strings.Join(words, " ")
		}
		return "command", strings.Join(words, " ")
	case *ir.OpenAPITool:
		return "openapi", b.Ref()
	case *ir.HTTPTool:
		if b.Document != nil {
			return "openapi", b.Document.Ref()
		}
		if b.URL == nil {
			return "http", b.Method
		}
		if b.Base.Name != "" {
			return "http", b.Method + " $" + b.Base.Name + b.URL.Text.Value
		}
		return "http", b.Method + " " + b.URL.Text.Value
	case *ir.PythonTool:
		return "python", b.Ref.Name
	case *ir.JSTool:
		return "js", b.Path.Name
	case *ir.MCPTool:
		return "mcp", b.Ref.Name
	case *ir.SlotTool:
		return "slot", b.Name.Name
	case *ir.StarlarkTool:
		return "starlark", b.Path.Name
	case *ir.SQLTool:
		return "sql", strings.Join(strings.Fields(b.Query.Value), " ")
	case *ir.WasmTool:
		return "wasm", b.Ref()
	}
	return "", ""
}

func (t *toolInfo) full() string { return t.Name + "@" + t.Version }

func (t *toolInfo) hidden() bool { return t.State == "deprecated" || t.State == "blocked" }

// named reports whether the tool can be called so: with or without namespace and version.
func (t *toolInfo) named(name string) bool {
	return slices.Contains([]string{t.Name, t.full(), t.key, t.short(), t.short() + "@" + t.Version}, name)
}

// short is the name without namespace.
func (t *toolInfo) short() string { return t.Name[strings.LastIndexByte(t.Name, '.')+1:] }

func (t *toolInfo) matches(words []string) bool {
	text := strings.ToLower(strings.Join(append([]string{t.full(), t.Description, t.Category}, t.Tags...), "\n"))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// tools prints the tools that are asked for, by name. Mistakes in the files are reported and make the command fail, but
// hide no tool that could be read.
func (a *app) tools(args []string, format string, wanted func(toolInfo) bool, text func([]toolInfo) string) error {
	if format != "text" && format != "json" {
		return noFormat(format)
	}
	names, _, err := workflows(args)
	if err != nil {
		return err
	}
	all, diags := a.declared(names)
	list := slices.DeleteFunc(all, func(t toolInfo) bool { return !wanted(t) })
	if format == "json" {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(list); err != nil {
			return err
		}
		out, err := cli.Indented(strings.TrimSpace(b.String()))
		if err != nil {
			return err
		}
		if _, err := io.WriteString(a.stdout, out); err != nil {
			return err
		}
	} else if _, err := fmt.Fprint(a.stdout, text(list)); err != nil {
		return err
	}
	return a.report(diags, false)
}

// declared are the tools of files, each once, by name and version.
func (a *app) declared(names []string) ([]toolInfo, []diag.Diagnostic) {
	files := newDisk()
	list := []toolInfo{}
	var read []*compiled
	seen := map[string]int{} // place in list
	for _, name := range names {
		c := a.readTools(files, name)
		read = append(read, c)
		if c.workflow == nil {
			continue
		}
		for _, t := range c.workflow.Tools {
			info := infoOf(t)
			for _, name := range info.Secrets {
				info.SecretsFrom = append(info.SecretsFrom, secretFrom(c.workflow, name))
			}
			at := info.full() + " " + info.Declared
			i, ok := seen[at]
			if !ok {
				i, seen[at], list = len(list), len(list), append(list, info)
			}
			list[i].UsedBy = append(list[i].UsedBy, usersOf(c.workflow, &info)...)
		}
	}
	for i := range list {
		slices.Sort(list[i].UsedBy)
	}
	slices.SortStableFunc(list, func(x, y toolInfo) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Version, y.Version), cmp.Compare(x.Declared, y.Declared))
	})
	return list, merged(read)
}

// usersOf are the nodes of a workflow that call a tool, or can: it may be chosen by data or by a model.
func usersOf(wf *ir.Workflow, t *toolInfo) (nodes []string) {
	is := func(names ...ir.Ident) bool {
		return slices.ContainsFunc(names, func(id ir.Ident) bool { return t.named(id.Name) })
	}
	enabled := func(list []*ir.AgentTool) bool {
		return slices.ContainsFunc(list, func(x *ir.AgentTool) bool { return is(x.Tool) })
	}
	var walk func(body *ir.Body, above string)
	walk = func(body *ir.Body, above string) {
		for _, n := range body.Nodes {
			name := above
			if !n.Inline {
				name += "/" + n.ID.Name
			}
			used := false
			switch v := n.Verb.(type) {
			case *ir.ToolCall:
				used = is(v.Name)
			case *ir.ToolChoice:
				used = v.Open || is(v.Allow...)
			case *ir.Agent:
				used = enabled(v.Tools)
				if shared := declaredAgent(wf, v); shared != nil && len(v.Tools) == 0 {
					used = enabled(shared.Agent.Tools)
				}
			}
			if used {
				nodes = append(nodes, name)
			}
			if inner := inside(n); inner != nil {
				walk(inner, name)
			}
		}
	}
	walk(&wf.Body, wf.Name.Name)
	return nodes
}

// readTools reads a file for its tools alone: it may be one that has no nodes because others include it.
func (a *app) readTools(files *disk, name string) *compiled {
	a.file = name
	sink := &diag.Sink{}
	c := &compiled{name: name, workflow: parser.Parse(files.project(name), name, sink)}
	if c.workflow != nil {
		bind.Resolve(c.workflow, bind.Options{Dir: filepath.FromSlash(path.Dir(name)), Above: readable(name)}, sink)
	}
	c.list = slices.DeleteFunc(sink.List(), func(d diag.Diagnostic) bool {
		return d.Severity != diag.Error || c.workflow != nil && d.Code == diag.MissingKey && d.Span.File == c.workflow.File && d.Span.Lo == c.workflow.Body.Span.Lo
	})
	a.file = ""
	return c
}

// toolsTable is a line for each tool.
func toolsTable(list []toolInfo) string {
	if len(list) == 0 {
		return "no tools\n"
	}
	var b strings.Builder
	wide := 0
	for _, t := range list {
		wide = max(wide, len([]rune(t.full())))
	}
	for _, t := range list {
		about, _, _ := strings.Cut(t.Description, "\n")
		if t.hidden() {
			about = strings.TrimSpace("(" + t.State + ") " + about)
		}
		line := fmt.Sprintf("%-*s  %-8s  %s", wide, diag.Printable(t.full()), t.Effects, diag.Printable(about))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// toolsPage is a paragraph for each tool.
func toolsPage(list []toolInfo) string {
	var b strings.Builder
	for i, t := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(diag.Printable(t.full()) + "\n")
		for _, line := range strings.Split(strings.TrimSpace(t.Description), "\n") {
			if line != "" {
				b.WriteString("  " + diag.Printable(line) + "\n")
			}
		}
		b.WriteByte('\n')
		rows := [][2]string{
			{"runs as", strings.TrimSpace(t.RunsAs + " " + t.Target)}, {"needs", t.Needs}, {"sources", strings.Join(t.Sources, " ")},
			{"effects", t.Effects}, {"state", t.State}, {"category", t.Category},
			{"tags", strings.Join(t.Tags, ", ")}, {"permissions", strings.Join(t.Permissions, ", ")}, {"secrets", t.secrets()},
			{"replay", t.Replay}, {"cache", t.Cache}, {"rate", t.Rate}, {"cost", dollars(t.CostUSD)}, {"idempotency", t.Idempotency},
			{"max output", size(t.MaxOutput)}, {"sandbox", t.Sandbox}, {"used by", strings.Join(t.UsedBy, ", ")}, {"declared", t.Declared},
		}
		for _, r := range rows {
			if r[1] != "" {
				fmt.Fprintf(&b, "  %-11s  %s\n", r[0], diag.Printable(r[1]))
			}
		}
		for _, x := range t.Examples {
			b.WriteString(strings.TrimRight("\n  example  "+diag.Printable(x.Description), " ") + "\n\n  " + diag.Printable(string(x.In)) + "\n  -> " + diag.Printable(string(x.Out)) + "\n")
		}
		for _, s := range []struct {
			name string
			text json.RawMessage
		}{{"input", t.Input}, {"output", t.Output}} {
			text, err := json.MarshalIndent(s.text, "  ", "  ")
			if err != nil {
				text = s.text
			}
			b.WriteString("\n  " + s.name + "\n\n  ")
			for k, line := range strings.Split(string(text), "\n") {
				if k > 0 {
					b.WriteString("\n")
				}
				b.WriteString(diag.Printable(line))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// secrets are the names with the places where they are found.
func (t *toolInfo) secrets() string {
	var out []string
	for i, name := range t.Secrets {
		if i < len(t.SecretsFrom) {
			name += " (" + t.SecretsFrom[i] + ")"
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

func dollars(s string) string {
	if s == "" {
		return ""
	}
	return "$" + s + " a call"
}

func size(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d bytes", n)
}
