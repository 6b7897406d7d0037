package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/atomicfile"
	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir"
	toolsource "github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/bind/mcplock"
	"github.com/flowgen-dev/flowgen/ir/bind/openapisource"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/mcptool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func (a *app) lockCommand() *cobra.Command {
	var check, strict bool
	cmd := &cobra.Command{
		Use:   "lock [FILE|FOLDER...]",
		Short: "Pin the MCP tools, OpenAPI operations and statements that workflows use in " + mcplock.Name,
		Long: "Lock starts, or connects to, the servers of the workflows and writes their tools to " + mcplock.Name + " in the folder\n" +
			"of each workflow: name, description, annotations, schemas, and a hash of them. Check the file in: the compiler\n" +
			"reads it without any server, and a program does not call a tool that differs from the lock. All workflows of a\n" +
			"folder share one file. The command of a local server is shown before it is started; secrets come from the same\n" +
			"sources as in programs. Of an OpenAPI document the operations in use are written: request, types, authentication.\n" +
			"A PostgreSQL database whose secret is set reports the types of the statements; none of them is executed.\n\n" +
			"Without a FILE argument, unused servers and tools are removed; with one they stay.\n\n" +
			"With --check nothing is written: changes are listed, as compatible or breaking. A breaking change can keep a\n" +
			"workflow from compiling or a call from succeeding: a tool, an argument or a result that was removed or has another\n" +
			"type, a new required argument, a hint that a tool does more than before. Exit code 1 for breaking changes, or\n" +
			"with --strict for any change.\n\n" + foldersHelp,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if strict && !check {
				return usage("--strict goes with --check")
			}
			names, found, err := workflows(args)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			defer mcptool.Close()
			return a.lock(ctx, names, found, check, strict)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "write nothing; list the changes and fail if one is breaking")
	cmd.Flags().BoolVar(&strict, "strict", false, "with --check, fail on any change")
	return cmd
}

// A lockFolder is a folder with workflows that use tools of servers.
type lockFolder struct {
	dir     string
	servers []*lockServer
}

// A lockServer is a server with the tools that workflows of one folder use.
type lockServer struct {
	decl  *ir.Server
	allow []string // addresses that the policy opens
	tools map[string]source.Span

	document   *openapisource.Document // nil: a server
	statements map[string]*ir.SQLTool  // those of a database; nil: it is none
}

// lock does the work for workflow files. found tells that no file was named: all workflows of the folders are there.
func (a *app) lock(ctx context.Context, names []string, found, check, strict bool) error {
	sink := &diag.Sink{}
	folders := a.lockFolders(names, sink)
	if err := a.report(sink.List(), false); err != nil {
		return err
	}
	if len(folders) == 0 {
		fmt.Fprintln(a.stderr, "no workflow uses a tool of a server, an OpenAPI document or a statement for PostgreSQL: there is nothing to lock")
	}
	bad := false
	for _, f := range folders {
		ok, err := a.lockFolder(ctx, f, found, check, strict)
		if err != nil {
			return err
		}
		bad = bad || !ok
	}
	if bad {
		return errReported
	}
	return nil
}

// lockFolders collects what is to be locked, sub-workflows included.
func (a *app) lockFolders(names []string, sink *diag.Sink) []*lockFolder {
	disk := newDisk()
	var folders []*lockFolder
	seen := map[string]bool{}
	var visit func(wf *ir.Workflow)
	visit = func(wf *ir.Workflow) {
		if wf == nil || seen[wf.File.Name] || wf.File.Module != "" { // a module has its own lock file
			return
		}
		seen[wf.File.Name] = true
		dir := path.Dir(wf.File.Name)
		i := slices.IndexFunc(folders, func(f *lockFolder) bool { return f.dir == dir })
		if i < 0 {
			i = len(folders)
			folders = append(folders, &lockFolder{dir: dir})
		}
		folders[i].add(wf, sink)
		for _, sub := range wf.Flows {
			visit(sub)
		}
	}
	for _, name := range names {
		a.file = name
		visit(parser.Parse(disk.project(name), name, sink))
		a.file = ""
	}
	return slices.DeleteFunc(folders, func(f *lockFolder) bool {
		return len(f.servers) == 0 && !files.Exists(filepath.Join(filepath.FromSlash(f.dir), mcplock.Name))
	})
}

// add takes the servers of a workflow whose tools are declared.
func (f *lockFolder) add(wf *ir.Workflow, sink *diag.Sink) {
	for _, t := range wf.Tools {
		if b, ok := t.Binding.(*ir.OpenAPITool); ok && b.Operation.Name != "" {
			f.addOperation(t, b, sink)
		}
		if b, ok := t.Binding.(*ir.SQLTool); ok && b.Engine == "postgres" && b.Query.Value != "" && b.DB.Name != "" {
			f.addStatement(b)
		}
		b, ok := t.Binding.(*ir.MCPTool)
		if !ok || b.Tool.Name == "" {
			continue
		}
		i := slices.IndexFunc(wf.Servers, func(s *ir.Server) bool { return s.Name.Name == b.Server.Name })
		if i < 0 {
			sink.Report(check.UnknownServer(wf, b.Server))
			continue
		}
		if s := f.server(wf.Servers[i], sink); s != nil {
			s.tools[b.Tool.Name] = b.Tool.Span
			if wf.Policy != nil {
				s.allow = append(s.allow, wf.Policy.NetAllow...)
			}
		}
	}
}

// addOperation takes an operation of an OpenAPI document.
func (f *lockFolder) addOperation(t *ir.Tool, b *ir.OpenAPITool, sink *diag.Sink) {
	i := slices.IndexFunc(f.servers, func(s *lockServer) bool { return s.document != nil && s.decl.Name.Name == b.Document() })
	if i < 0 {
		typed := path.Dir(t.File.Name)
		disk, err := filepath.Abs(filepath.FromSlash(typed))
		if err != nil {
			disk = typed
		}
		d, err := openapisource.Open(&toolsource.Files{}, toolsource.Folder{Disk: disk, Typed: typed}, b.Spec.Name)
		if err != nil {
			sink.Report(toolsource.Unreadable(b.Spec.Span, b.Spec.Name, err))
			return
		}
		i = len(f.servers)
		f.servers = append(f.servers, &lockServer{decl: &ir.Server{Name: ir.Ident{Name: b.Document(), Span: b.Spec.Span}}, tools: map[string]source.Span{}, document: d})
	}
	f.servers[i].tools[b.Operation.Name] = b.Operation.Span
}

// server is the entry of a server. Two workflows of a folder cannot mean different servers by one name.
func (f *lockFolder) server(d *ir.Server, sink *diag.Sink) *lockServer {
	for _, s := range f.servers {
		if s.decl.Name.Name != d.Name.Name || s.document != nil {
			continue
		}
		if s.decl.URL != d.URL || !slices.Equal(s.decl.Command, d.Command) {
			sink.Report(diag.Diagnostic{
				Code: diag.BadServer, Span: d.Name.Span, Message: fmt.Sprintf("another workflow of this folder declares server %q differently, and they share %s", d.Name.Name, mcplock.Name),
				Help: "rename one of the two, or declare the server in a file that both include", Related: []diag.Related{{Span: s.decl.Name.Span, Message: "the other one"}},
			})
			return nil
		}
		return s
	}
	s := &lockServer{decl: d, tools: map[string]source.Span{}}
	f.servers = append(f.servers, s)
	return s
}

// lockFolder makes the lock file of a folder, or compares it. ok is false when something was wrong and was said.
func (a *app) lockFolder(ctx context.Context, f *lockFolder, found, check, strict bool) (ok bool, err error) {
	file := filepath.Join(filepath.FromSlash(f.dir), mcplock.Name)
	old, text, err := a.oldLock(file, check)
	if err != nil {
		return false, err
	}
	for _, s := range old.Servers {
		if s.Document { // as it was written, in earlier locks
			s.Name = path.Clean(s.Name)
		}
	}
	now := &mcplock.Lock{}
	if !found {
		for _, s := range old.Servers {
			if !slices.ContainsFunc(f.servers, func(x *lockServer) bool { return x.decl.Name.Name == s.Name }) {
				now.Servers = append(now.Servers, s)
			}
		}
	}
	if given := os.Getenv("FLOWGEN_ROOT"); given == "" { // servers are started from the folder of their workflow
		if err := rootAt(file); err != nil {
			return false, err
		}
		defer os.Unsetenv("FLOWGEN_ROOT")
	}
	var changes []mcplock.Change
	ok = true
	for _, s := range f.servers {
		before := old.Server(s.decl.Name.Name)
		if before != nil && !found {
			for _, t := range before.Tools {
				if _, used := s.tools[t.Name]; !used {
					s.tools[t.Name] = source.Span{}
				}
			}
		}
		server, good := a.lockServer(ctx, s, before)
		ok = ok && good
		if server == nil {
			continue
		}
		now.Servers = append(now.Servers, server)
		if before != nil {
			changes = append(changes, mcplock.Compare(before, server)...)
		} else if check {
			changes = append(changes, mcplock.Change{Server: server.Name, What: "it is not locked; run `flowgen lock`", Breaking: true})
		}
	}
	for _, c := range changes {
		fmt.Fprintln(a.stdout, c)
	}
	if check {
		return ok && !mcplock.Breaking(changes) && !(strict && len(changes) > 0), nil
	}
	if !ok {
		fmt.Fprintf(a.stderr, "%s is left as it is\n", filepath.ToSlash(file))
		return false, nil
	}
	made := now.Format()
	if string(made) == text {
		fmt.Fprintf(a.stderr, "%s is up to date\n", filepath.ToSlash(file))
		return true, nil
	}
	if err := atomicfile.Write(file, made); err != nil {
		return false, err
	}
	fmt.Fprintf(a.stderr, "%s is written%s\n", filepath.ToSlash(file), summary(changes))
	return true, nil
}

func summary(changes []mcplock.Change) string {
	if s := mcplock.Summary(changes); s != "" {
		return ": " + s
	}
	return ""
}

// oldLock reads the lock file that is there. Before a new one is written a broken one does not matter.
func (a *app) oldLock(file string, check bool) (*mcplock.Lock, string, error) {
	data, err := readOwn(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return &mcplock.Lock{}, "", nil
	case err != nil:
		return nil, "", err
	}
	sink := &diag.Sink{}
	l := mcplock.Parse(source.NewFile(filepath.ToSlash(file), string(data)), sink)
	if l != nil {
		return l, string(data), nil
	}
	if check {
		return nil, "", a.report(sink.List(), false)
	}
	return &mcplock.Lock{}, "", nil
}

// lockServer asks one server. nil when it gave no list; ok is false when a tool that is used cannot be locked.
func (a *app) lockServer(ctx context.Context, s *lockServer, before *mcplock.Server) (_ *mcplock.Server, ok bool) {
	name := s.decl.Name.Name
	fail := func(format string, args ...any) {
		fmt.Fprintf(a.stderr, "error: server %s: %s\n", name, diag.Printable(fmt.Sprintf(format, args...)))
	}
	if s.document == nil {
		fmt.Fprintf(a.stderr, "%s\n", diag.Printable(s.announcement()))
	}
	sink := &diag.Sink{}
	listing, err := s.ask(ctx, sink)
	switch {
	case err == errNoDatabase && before == nil:
		fmt.Fprintf(a.stderr, "%s: %v: its statements keep their declared types\n", name, err)
		return nil, true
	case len(sink.List()) > 0:
		_ = a.report(sink.List(), false)
		return nil, false
	case err != nil:
		fail("%v", cause(err))
		return nil, false
	}
	out := &mcplock.Server{Name: name, Command: s.decl.Command, URL: s.decl.URL, Document: s.document != nil, SQL: s.engine(), Self: listing.Name, Version: listing.Version, Protocol: listing.Protocol}
	ok = true
	var all []string
	for _, t := range listing.Tools {
		all = append(all, t.Name)
		if _, used := s.tools[t.Name]; !used {
			out.Others = append(out.Others, t.Name)
			continue
		}
		tool, err := mcplock.NewTool(t.JSON)
		switch {
		case err != nil:
			fail("tool %s cannot be read: %v", t.Name, err)
			ok = false
			continue
		case t.Twice:
			fail("it has two tools %s", t.Name)
			ok = false
			continue
		}
		for _, h := range tool.Hidden() {
			fail("tool %s has hidden characters, which a model reads and a user does not see: %s", t.Name, h)
			ok = false
		}
		out.Tools = append(out.Tools, tool)
	}
	for _, want := range sortedNames(s.tools) {
		at := s.tools[want]
		if at.IsZero() && s.statements != nil && before != nil { // another workflow's, which was not asked about
			out.Tools = append(out.Tools, before.Tool(want))
		}
		if slices.Contains(all, want) || at.IsZero() { // one that another workflow used may be gone
			continue
		}
		where := fmt.Sprintf("%s:%d:%d", at.File.Name, at.Start().Line, at.Start().Col)
		if near := diag.Nearest(want, all); near != "" {
			fail("it has no tool %s; did you mean %s? (%s)", want, near, where)
		} else {
			fail("it has no tool %s (%s)", want, where)
		}
		ok = false
	}
	return out, ok
}

func sortedNames(m map[string]source.Span) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// announcement says what is about to be done, exactly.
func (s *lockServer) announcement() string {
	if s.statements != nil {
		return s.asking()
	}
	if s.decl.URL != "" {
		return "connecting to " + s.decl.Name.Name + ": " + s.decl.Runs()
	}
	text := "starting " + s.decl.Name.Name + ": " + s.decl.Runs()
	var env []string
	for _, v := range s.decl.Env {
		env = append(env, v.Name.Name+" = secret "+v.Secret.Name)
	}
	if env != nil {
		text += " (" + strings.Join(env, ", ") + ")"
	}
	return text
}

// cause is what went wrong, without the place in a workflow that there is not.
func cause(err error) error {
	var te *value.ToolError
	if errors.As(err, &te) {
		return te
	}
	return err
}

// ask lists the tools of the server, as a call of a workflow would.
func (s *lockServer) ask(ctx context.Context, sink *diag.Sink) (listing mcptool.Listing, err error) {
	if s.statements != nil {
		return s.describe(ctx, sink)
	}
	if s.document != nil {
		return s.read()
	}
	node := &flow.Node{ID: "lock", Pos: s.decl.Name.Name, Timeout: 3 * time.Minute}
	rt, err := flow.New(&flow.Info{Name: "lock", Nodes: []*flow.Node{node}})
	if err != nil {
		return listing, err
	}
	run := rt.Start(ctx)
	defer run.End(&err)
	return flow.Call(run, node, mcptool.List("lock@1", s.server()), struct{}{})
}

// read lists those operations of a document that are used.
func (s *lockServer) read() (listing mcptool.Listing, err error) {
	listing.Name, listing.Version = s.document.Title()
	for _, name := range sortedNames(s.tools) {
		text, found, err := s.document.Locked(name)
		if err != nil {
			return listing, fmt.Errorf("%s: %w", name, err)
		}
		if found {
			listing.Tools = append(listing.Tools, mcptool.Listed{Name: name, JSON: text})
		}
	}
	return listing, nil
}

func (s *lockServer) server() *mcptool.Server {
	d := s.decl
	if d.URL == "" {
		var env []string
		for _, v := range d.Env {
			env = append(env, v.Name.Name+"="+v.Secret.Name)
		}
		return mcptool.Local(d.Name.Name, d.Command, env...)
	}
	o := []httptool.Option{httptool.Allow(s.allow...)}
	if a := d.Auth; a != nil {
		switch a.Kind {
		case "bearer":
			o = append(o, httptool.Bearer(a.Secret.Name))
		case "basic":
			o = append(o, httptool.Basic(a.Secret.Name))
		case "header":
			o = append(o, httptool.HeaderAuth(a.Header, a.Secret.Name))
		}
	}
	return mcptool.Remote(d.Name.Name, d.URL, o...)
}
