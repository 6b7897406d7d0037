// Package lsp is the language server behind `flowgen lsp`.
//
// One goroutine does all the work: it takes messages in their order, and compiles only when none is waiting. So answers
// come from one state, and diagnostics of a text that was replaced are never published. Only Go packages are loaded in the
// background: see Workspace.
package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// Options are what the server is told by the command.
type Options struct {
	Version string
	Compile Compile
	Format  func(name, text string) (string, error) // in canonical layout, "" where that cannot be done
	Enter   func(dir string) error                  // makes the folder of the workspace the working directory
	Find    func() ([]string, error)                // the workflow files of the workspace
	Log     io.Writer

	Shown   map[string]func(name string, from Inputs) (string, error) // documents about a workflow, by the names of its commands
	LastRun func(name, workflow string) *Run                          // nil when there is none

	Convert     func(name string, from Inputs) ([]Rewrite, error)                    // a file of a dialect to flowgen's own language
	Materialize func(name, folder, run, call string, from Inputs) ([]Rewrite, error) // a recorded call to a node
}

// Serve speaks the protocol over stdio until the client says exit or goes away. It reports whether the client said goodbye.
func Serve(ctx context.Context, stdio io.ReadWriteCloser, opts Options) (clean bool) {
	s := &server{opts: opts, inbox: make(chan message, 1024), ws: newWorkspace(opts)}
	s.conn = jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(stdio, jsonrpc2.VSCodeObjectCodec{}), s, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	defer s.conn.Close()
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	s.loop()
	return s.down
}

// gcPercent trades processor time for memory: editors keep the server for days, and it works for milliseconds at a time.
const gcPercent = 40

// A message is one of the client, or a function that runs between two of them.
type message struct {
	req *jsonrpc2.Request
	run func()
}

type server struct {
	opts  Options
	conn  *jsonrpc2.Conn
	inbox chan message
	ws    *workspace

	cancelled sync.Map // of jsonrpc2.ID
	schemas   map[string]*shape
	offers    map[string]bool // commands that the client has
	hints     hints
	newer     bool  // the client knows documents of LSP 3.18
	resolves  bool  // the client asks for edits when they are wanted, and can create files
	fault     error // of the last request, a mistake of flowgen's own
	ready     bool  // initialized
	reported  bool  // a fault, to a file
	down      bool  // shut down
}

// Handle implements jsonrpc2.Handler: it only queues, but for cancellations, which are about what is queued.
func (s *server) Handle(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) {
	if req.Method == "$/cancelRequest" {
		if p, err := decode[struct {
			ID jsonrpc2.ID `json:"id"`
		}](req.Params); err == nil {
			s.cancelled.Store(p.ID, true)
		}
		return
	}
	s.inbox <- message{req: req}
}

// loop handles messages; while none waits it compiles what has changed, a workflow at a time, and publishes.
func (s *server) loop() {
	for {
		select {
		case m := <-s.inbox:
			if s.take(m) {
				return
			}
			continue
		case <-s.conn.DisconnectNotify():
			return
		default:
		}
		if s.ready && s.guard("compiling", s.idle) {
			continue
		}
		select {
		case m := <-s.inbox:
			if s.take(m) {
				return
			}
		case <-s.conn.DisconnectNotify():
			return
		}
	}
}

// guard runs f and logs a panic of it, which is a mistake of flowgen's own: the server goes on.
func (s *server) guard(what string, f func() bool) (ok bool) {
	defer func() {
		if p := recover(); p != nil {
			s.fault = s.report(what, p, debug.Stack())
			ok = true
		}
	}()
	return f()
}

// idle does one piece of the work that is left; it returns false when there is none.
func (s *server) idle() bool {
	w := s.ws
	switch {
	case w.compileNext():
	case w.orphaned() && w.scanNext():
	case len(w.unpublished) > 0:
		for _, p := range w.publishable() {
			_ = s.conn.Notify(context.Background(), "textDocument/publishDiagnostics", p)
		}
	case w.scanNext():
	default:
		w.loadPackages(func(done func()) { s.inbox <- message{run: done} })
		if w.loaded && !w.loading {
			w.loaded = false
			go debug.FreeOSMemory() // loading takes several times what stays
		}
		return false
	}
	return true
}

// take handles a message; it returns true when the server has to end.
func (s *server) take(m message) (exit bool) {
	if m.run != nil {
		s.guard("loading Go packages", func() bool { m.run(); return true })
		return false
	}
	req := m.req
	if req.Method == "exit" {
		return true
	}
	var result any
	var err error
	s.fault = nil
	s.guard(req.Method, func() bool {
		result, err = s.dispatch(req)
		return true
	})
	if s.fault != nil && result == nil {
		err = s.fault
	}
	if req.Notif {
		return false
	}
	if err == nil {
		if e := s.conn.Reply(context.Background(), req.ID, result); e == nil {
			return false
		}
		err = refusal{codeInternal, "the response cannot be sent"}
	}
	reply := &jsonrpc2.Error{Code: codeInternal, Message: err.Error()}
	var r refusal
	if errors.As(err, &r) {
		reply.Code = r.code
	}
	_ = s.conn.ReplyWithError(context.Background(), req.ID, reply)
	return false
}

func (s *server) dispatch(req *jsonrpc2.Request) (any, error) {
	if _, gone := s.cancelled.LoadAndDelete(req.ID); gone && !req.Notif {
		return nil, refusal{codeCancelled, "cancelled"}
	}
	switch {
	case req.Method == "initialize":
		return s.initialize(req.Params)
	case s.down:
		return nil, refusal{codeInvalidRequest, "the server is shut down"}
	case req.Method == "shutdown":
		s.down = true
		return nil, nil
	case !s.ready:
		return nil, refusal{codeNotInitialized, "the first request must be initialize"}
	}
	if handle := methods[req.Method]; handle != nil {
		return handle(s, req.Params)
	}
	return nil, refusal{codeNotFound, "unknown method " + req.Method}
}

// methods are all besides those of the life of the server.
var methods map[string]func(*server, *json.RawMessage) (any, error)

func init() {
	nothing := func(*server, *json.RawMessage) (any, error) { return nil, nil }
	methods = map[string]func(*server, *json.RawMessage) (any, error){
		"initialized":                       nothing,
		"$/setTrace":                        nothing,
		"workspace/didChangeConfiguration":  nothing,
		"textDocument/didOpen":              (*server).didOpen,
		"textDocument/didChange":            (*server).didChange,
		"textDocument/didSave":              (*server).didSave,
		"textDocument/didClose":             (*server).didClose,
		"textDocument/completion":           (*server).completion,
		"textDocument/inlayHint":            (*server).inlayHints,
		"textDocument/definition":           (*server).definition,
		"textDocument/typeDefinition":       (*server).typeDefinition,
		"textDocument/references":           (*server).references,
		"textDocument/documentHighlight":    (*server).highlights,
		"textDocument/hover":                (*server).hover,
		"textDocument/documentSymbol":       (*server).documentSymbols,
		"textDocument/foldingRange":         (*server).folding,
		"textDocument/documentLink":         (*server).links,
		"textDocument/formatting":           (*server).formatting,
		"textDocument/codeAction":           (*server).codeActions,
		"codeAction/resolve":                (*server).resolveAction,
		"textDocument/codeLens":             (*server).lenses,
		"textDocument/signatureHelp":        (*server).signatures,
		"textDocument/selectionRange":       (*server).selections,
		"textDocument/rangeFormatting":      (*server).rangeFormatting,
		"textDocument/rangesFormatting":     (*server).rangeFormatting,
		"textDocument/prepareCallHierarchy": (*server).prepareCalls,
		"callHierarchy/incomingCalls":       (*server).incomingCalls,
		"callHierarchy/outgoingCalls":       (*server).outgoingCalls,
		"workspace/textDocumentContent":     (*server).content,
		"textDocument/prepareRename":        (*server).prepareRename,
		"textDocument/rename":               (*server).rename,
		"textDocument/semanticTokens/full":  (*server).semanticTokens,
		"textDocument/semanticTokens/range": (*server).semanticTokens,
		"workspace/executeCommand":          (*server).execute,
		"workspace/symbol":                  (*server).workspaceSymbols,
		"workspace/didChangeWatchedFiles":   (*server).didChangeFiles,
	}
}

func (s *server) initialize(params *json.RawMessage) (any, error) {
	if s.ready {
		return nil, refusal{codeInvalidRequest, "initialize was already called"}
	}
	p, err := decode[initializeParams](params)
	if err != nil {
		return nil, err
	}
	root := ""
	switch {
	case len(p.WorkspaceFolders) > 0:
		root = pathOf(p.WorkspaceFolders[0].URI)
	case p.RootURI != nil:
		root = pathOf(*p.RootURI)
	case p.RootPath != nil:
		root = *p.RootPath
	}
	if root != "" {
		if err := s.opts.Enter(root); err != nil {
			fmt.Fprintf(s.opts.Log, "flowgen lsp: %v\n", err) // files are then named by their absolute names
		}
	}
	encoding := "utf-16"
	for _, e := range p.Capabilities.General.PositionEncodings {
		if e == "utf-8" {
			encoding, s.ws.utf8 = e, true
			break
		}
	}
	s.offers = map[string]bool{}
	for _, c := range p.Options.Commands {
		s.offers[c] = true
	}
	s.hints = p.Options.Hints
	s.newer = p.Capabilities.Workspace.TextDocumentContent != nil
	edits, actions := p.Capabilities.Workspace.WorkspaceEdit, p.Capabilities.TextDocument.CodeAction
	s.ws.versioned = edits.Versions
	s.resolves = slices.Contains(edits.Resources, "create") && actions.Data && slices.Contains(actions.Resolve.Properties, "edit")
	s.ws.begin(root != "")
	s.ready = true
	can := capabilities(encoding)
	if s.newer {
		can["workspace"] = map[string]any{"textDocumentContent": map[string]any{"schemes": schemes()}}
	}
	if p.Capabilities.TextDocument.RangeFormatting.Ranges {
		can["documentRangeFormattingProvider"] = map[string]any{"rangesSupport": true}
	}
	return map[string]any{
		"serverInfo":   map[string]string{"name": "flowgen", "version": s.opts.Version},
		"capabilities": can,
	}, nil
}

func capabilities(encoding string) map[string]any {
	return map[string]any{
		"positionEncoding":       encoding,
		"completionProvider":     map[string]any{"triggerCharacters": []string{"$", ".", "{", " ", "/", "|", "["}},
		"inlayHintProvider":      true,
		"signatureHelpProvider":  map[string]any{"triggerCharacters": []string{"(", ","}},
		"semanticTokensProvider": map[string]any{"legend": map[string]any{"tokenTypes": tokenTypes, "tokenModifiers": tokenModifiers}, "full": true, "range": true},
		"selectionRangeProvider": true, "callHierarchyProvider": true, "documentRangeFormattingProvider": true,
		"codeLensProvider":       map[string]any{},
		"executeCommandProvider": map[string]any{"commands": schemes()},
		"definitionProvider":     true, "typeDefinitionProvider": true, "referencesProvider": true, "documentHighlightProvider": true,
		"hoverProvider": true, "documentSymbolProvider": true, "workspaceSymbolProvider": true, "foldingRangeProvider": true,
		"documentFormattingProvider": true, "documentLinkProvider": map[string]any{},
		"codeActionProvider": map[string]any{"codeActionKinds": []string{kindFix, kindRewrite, kindExtract, "source.fixAll"}, "resolveProvider": true},
		"renameProvider":     map[string]any{"prepareProvider": true},
		"textDocumentSync":   map[string]any{"openClose": true, "change": 2, "save": true},
	}
}

func (s *server) didOpen(params *json.RawMessage) (any, error) {
	p, err := decode[openParams](params)
	if err == nil {
		s.ws.open(p.TextDocument.URI, p.TextDocument.Version, p.TextDocument.Text)
	}
	return nil, err
}

func (s *server) didChange(params *json.RawMessage) (any, error) {
	p, err := decode[changeParams](params)
	if err == nil {
		s.ws.change(p.TextDocument.URI, p.TextDocument.Version, p.ContentChanges)
	}
	return nil, err
}

func (s *server) didClose(params *json.RawMessage) (any, error) {
	p, err := decode[positionParams](params)
	if err == nil {
		s.ws.close(p.TextDocument.URI)
	}
	return nil, err
}

func (s *server) didSave(params *json.RawMessage) (any, error) {
	p, err := decode[positionParams](params)
	if err == nil {
		s.ws.onDisk(nameOf(p.TextDocument.URI))
		s.ws.retry(nameOf(p.TextDocument.URI))
	}
	return nil, err
}

func (s *server) didChangeFiles(params *json.RawMessage) (any, error) {
	p, err := decode[watchedParams](params)
	for _, c := range p.Changes {
		s.ws.onDisk(nameOf(c.URI))
	}
	return nil, err
}
