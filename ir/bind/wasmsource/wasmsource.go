// Package wasmsource checks the WebAssembly modules of tools, and reads the types of their functions from the description next to them.
//
// A description of tool.wasm is tool.wasm.json: the result of `tools/list` of MCP, with a tool for each export that is called; a
// module that is a command has one called _start. A declaration with `in` and `out` needs none.
package wasmsource

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/bind/mcplock"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Options say where the modules of the tools are.
type Options struct {
	Files  *foreign.Files
	Folder func(*source.File) foreign.Folder // of a workflow file
}

// Resolve fills the WebAssembly tools among tools. Nothing of the modules is run.
func Resolve(tools []*ir.Tool, opts Options, sink *diag.Sink) {
	r := &resolver{opts: opts, sink: sink, modules: map[string]*module{}}
	for _, t := range tools {
		if b, ok := t.Binding.(*ir.WasmTool); ok {
			if b.Path.Name != "" { // else the parser has reported it
				r.tool(t, b)
			}
			foreign.Poison(t)
		}
	}
}

type resolver struct {
	opts    Options
	sink    *diag.Sink
	modules map[string]*module // by the file's absolute name
}

// A module is a file that was read, or why it cannot be.
type module struct {
	*content
	file ir.SourceFile
	code diag.Code
	why  string
}

func (r *resolver) tool(t *ir.Tool, b *ir.WasmTool) {
	home := r.opts.Folder(t.File)
	rel := path.Clean(filepath.ToSlash(b.Path.Name))
	m := r.module(home, rel)
	if m.why != "" {
		d := foreign.CannotRead(m.code, b.Path.Span, b.Path.Name, m.why)
		d.Help = helpFor(m)
		r.sink.Report(d)
		return
	}
	if !r.function(b, m) {
		return
	}
	sig := foreign.Signature{}
	if !r.described(home, rel, t, b, &sig) {
		return
	}
	sig.Name, sig.Files = b.Ref(), []ir.SourceFile{m.file}
	foreign.Fill(t, sig, r.sink)
}

func (r *resolver) module(home foreign.Folder, rel string) *module {
	key := filepath.Join(home.Disk, filepath.FromSlash(rel))
	if m := r.modules[key]; m != nil {
		return m
	}
	m := &module{}
	r.modules[key] = m
	var err error
	if m.file, err = r.opts.Files.ReadBinary(home, rel, maxModule); err != nil {
		m.code, m.why = diag.SourceMissing, foreign.Reason(err)
		return m
	}
	m.code = diag.SourceSyntax
	switch text := m.file.Text; {
	case !strings.HasPrefix(text, "\x00asm"):
		m.why = "it is not a WebAssembly module"
	case !strings.HasPrefix(text[4:], "\x01\x00\x00\x00"):
		m.why = "it is not a WebAssembly module of version 1"
		if strings.HasPrefix(text[4:], "\x0d\x00\x01\x00") {
			m.why = "it is a WebAssembly component, and a module is needed"
		}
	default:
		m.read()
	}
	return m
}

// read reads what the module needs and offers.
func (m *module) read() {
	var err error
	if m.content, err = parseModule(m.file.Text); err != nil {
		m.why = err.Error()
		return
	}
	for _, c := range m.imports {
		if c.module != wasi || !slices.Contains(calls, c.name) {
			m.code, m.why = diag.EngineUnfit, "it imports `"+shorten(c.module+"."+c.name)+"`, which is not a WASI preview 1 function"
			return
		}
	}
	if m.importsMemory {
		m.code, m.why = diag.EngineUnfit, "it imports its memory, which the runtime does not provide"
	}
	if slices.ContainsFunc(m.memories, func(pages uint64) bool { return pages > maxPages }) {
		m.code, m.why = diag.EngineUnfit, "it needs more than 256 MiB of memory"
	}
}

// shorten makes a name from a module fit for a message.
func shorten(name string) string {
	const most = 60
	if r := []rune(name); len(r) > most {
		name = string(r[:most]) + "…"
	}
	return diag.Printable(name)
}

// maxPages is 256 MiB, the memory of package wasmtool: a module that needs more at once cannot run.
const maxPages = 4096

func helpFor(m *module) string {
	switch {
	case m.code == diag.EngineUnfit:
		return "compile it for WASI preview 1: `GOOS=wasip1 GOARCH=wasm`, `--target wasm32-wasip1`, or `--target=wasm32-wasi`"
	case strings.Contains(m.why, "component"):
		return "compile it for WASI preview 1, or take its core module out with `wasm-tools component unbundle`"
	}
	return ""
}

// function reports an export that is not there, or cannot be called.
func (r *resolver) function(b *ir.WasmTool, m *module) bool {
	name := b.Function()
	f, has := m.exports[name]
	command := b.Export.Name == ""
	if !has || command && f != (signature{}) {
		r.missing(b, callable(m))
		return false
	}
	if command {
		return true
	}
	why, help := "", "export `func(pointer, length i32) i64`, whose result is the pointer and the length of the JSON it returns: pointer<<32 | length"
	switch alloc, has := m.exports[allocator]; {
	case name == ir.WasmCommand || name == "_initialize" || name == allocator:
		why, help = "it belongs to the module's own start", "write `"+b.Path.Name+"` for a module that is a command, or name another export"
	case f != function:
		why = "it takes (" + types(f.params) + ") and returns (" + types(f.results) + ")"
	case !has || alloc != signature{i32, i32}:
		why, help = "the module has no `"+allocator+"`", "export `func "+allocator+"(size i32) i32`, which returns a pointer to memory for the input"
	case m.memory != "memory":
		why, help = "the module does not export its memory", "export the memory as `memory`"
	default:
		return true
	}
	r.sink.Report(diag.Diagnostic{Code: diag.SourceShape, Span: b.Export.Span, Message: "`" + diag.Printable(name) + "` of " + b.Path.Name + " cannot be a tool: " + why, Help: help})
	return false
}

func (r *resolver) missing(b *ir.WasmTool, has []string) {
	if b.Export.Name == "" {
		d := diag.Diagnostic{Code: diag.SourceName, Span: b.Path.Span, Message: b.Path.Name + " is not a command: it has no `_start`", Help: "compile it as a command of WASI"}
		if len(has) > 0 {
			d.Help = "name the function that is the tool, as in `" + b.Path.Name + "#" + shorten(has[0]) + "`"
		}
		r.sink.Report(d)
		return
	}
	d := diag.Diagnostic{Code: diag.SourceName, Span: b.Export.Span, Message: b.Path.Name + " exports no function `" + diag.Printable(b.Export.Name) + "`", Help: "it exports none that can be a tool"}
	if len(has) > 0 {
		d.Help = "it exports " + shorten(strings.Join(has[:min(len(has), 5)], ", "))
	}
	if near := diag.Nearest(b.Export.Name, has); near != "" {
		d.Help = "replace with `" + diag.Printable(near) + "`"
		if d.Span.Text() == b.Export.Name {
			d.Fixes = []diag.Fix{diag.Replace(d.Span, near)}
		}
	}
	r.sink.Report(d)
}

// callable are the exports that can be tools, by name.
func callable(m *module) []string {
	var out []string
	for name, f := range m.exports {
		if f == function {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// function is the type of an exported function that can be a tool.
var function = signature{i32 + i32, i64}

func types(list string) string {
	var out []string
	for _, t := range []byte(list[:min(len(list), 8)]) {
		out = append(out, cmp.Or(valueTypes[t], "?"))
	}
	return strings.Join(out, ", ")
}

// described reads the types from the description next to the module, where there is one.
func (r *resolver) described(home foreign.Folder, rel string, t *ir.Tool, b *ir.WasmTool, sig *foreign.Signature) bool {
	file := b.Path.Name + ".json"
	f, err := r.opts.Files.Read(home, rel+".json")
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		r.sink.Report(foreign.Unreadable(b.Path.Span, file, err))
		return false
	}
	got, names, at, err := mcplock.Describe(f.Source, b.Function())
	if err != nil {
		r.sink.Report(diag.Diagnostic{Code: diag.SourceSyntax, Span: b.Path.Span, Message: file + " cannot be used: " + err.Error(),
			Help: "write the result of MCP's `tools/list`: `{\"tools\": [{name, description, inputSchema, outputSchema}]}`", Related: []diag.Related{{Span: at, Message: "here"}}})
		return false
	}
	if got == nil {
		if t.In != nil && t.Out != nil {
			return true
		}
		d := diag.Diagnostic{Code: diag.SourceName, Span: b.Path.Span, Message: file + " does not describe `" + diag.Printable(b.Function()) + "`",
			Help: "add a tool of that name to it, or declare `in` and `out` here"}
		if near := diag.Nearest(b.Function(), names); near != "" {
			d.Help = "rename `" + diag.Printable(near) + "` there"
		}
		r.sink.Report(d)
		return false
	}
	*sig = *got
	return true
}

const (
	wasi      = "wasi_snapshot_preview1"
	allocator = "alloc"
)

// calls are those of WASI preview 1.
var calls = strings.Fields(`args_get args_sizes_get clock_res_get clock_time_get environ_get environ_sizes_get fd_advise fd_allocate
	fd_close fd_datasync fd_fdstat_get fd_fdstat_set_flags fd_fdstat_set_rights fd_filestat_get fd_filestat_set_size
	fd_filestat_set_times fd_pread fd_prestat_dir_name fd_prestat_get fd_pwrite fd_read fd_readdir fd_renumber fd_seek fd_sync
	fd_tell fd_write path_create_directory path_filestat_get path_filestat_set_times path_link path_open path_readlink
	path_remove_directory path_rename path_symlink path_unlink_file poll_oneoff proc_exit proc_raise random_get sched_yield
	sock_accept sock_recv sock_send sock_shutdown`)
