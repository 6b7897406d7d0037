package jssource

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/files"
)

// The ends that an import may leave out, in esbuild's order; those of TypeScript come last in packages of others.
var (
	extensions = []string{".tsx", ".ts", ".jsx", ".js", ".css", ".json"}
	published  = []string{".jsx", ".js", ".tsx", ".ts", ".css", ".json"}
)

// written are the ends of TypeScript files for those that the compiled ones will have.
var written = map[string][]string{".js": {".ts", ".tsx"}, ".jsx": {".ts", ".tsx"}, ".mjs": {".mts"}, ".cjs": {".cts"}}

// builtins are Node's modules: they come before packages of their names.
var builtins = strings.Fields("_http_agent _http_client _http_common _http_incoming _http_outgoing _http_server _stream_duplex _stream_passthrough " +
	"_stream_readable _stream_transform _stream_wrap _stream_writable _tls_common _tls_wrap assert assert/strict async_hooks buffer child_process " +
	"cluster console constants crypto dgram diagnostics_channel dns dns/promises domain events fs fs/promises http http2 https inspector module net " +
	"os path path/posix path/win32 perf_hooks process punycode querystring readline repl stream stream/consumers stream/promises stream/web " +
	"string_decoder sys timers timers/promises tls trace_events tty url util util/types v8 vm wasi worker_threads zlib")

// ofOthers reports whether a file is of an installed package.
func ofOthers(name string) bool { return strings.Contains(filepath.ToSlash(name), "/node_modules/") }

// resolve finds the file that an import in another names, by the rules of Node and TypeScript. It is "" where there is none,
// and where the import is none of a file. An error is one of a file that lies outside.
func (s *sources) resolve(from, spec string, require bool) (string, error) {
	dir := filepath.Dir(from)
	name := ""
	switch {
	case spec == "" || strings.HasPrefix(spec, "node:") || strings.HasPrefix(spec, "data:") || strings.HasPrefix(spec, "//") || slices.Contains(builtins, spec) || strings.ContainsRune(spec, 0):
		return "", nil
	case strings.HasPrefix(spec, "http://") || strings.HasPrefix(spec, "https://"):
		return "", nil
	case isRelative(spec), filepath.IsAbs(filepath.FromSlash(spec)):
		at := filepath.FromSlash(spec)
		if !filepath.IsAbs(at) {
			at = filepath.Join(dir, at)
		}
		if name = s.fileOrFolder(at, strings.HasSuffix(spec, "/") || strings.HasSuffix(spec, ".")); name == "" && s.leadsOut(at) {
			return "", files.ErrOutside
		}
	case spec[0] == '#':
		if p := s.packageOf(dir); p != nil {
			name = s.target(p, p.imports, spec, require)
		}
	default:
		name = s.mapped(from, spec)
		if name == "" {
			name = s.installed(dir, spec, require)
		}
	}
	if name == "" {
		return "", nil
	}
	if _, ok := s.unsaved(name); ok {
		return name, nil
	}
	return s.roots.Real(name)
}

func isRelative(spec string) bool {
	return spec == "." || spec == ".." || strings.HasPrefix(spec, "./") || strings.HasPrefix(spec, "../")
}

// fileOrFolder is a file by its name, perhaps without its end, or the main file of a folder.
func (s *sources) fileOrFolder(at string, folder bool) string {
	if !folder {
		if name := s.file(at); name != "" {
			return name
		}
	}
	if !s.isDir(at) && len(s.files.Overlay) == 0 {
		return ""
	}
	if p := s.packageIn(at); p != nil {
		for _, main := range []string{p.main, p.moduleMain} {
			if main == "" {
				continue
			}
			if name := s.file(filepath.Join(at, filepath.FromSlash(main))); name != "" {
				return name
			}
			if name := s.index(filepath.Join(at, filepath.FromSlash(main))); name != "" {
				return name
			}
		}
	}
	return s.index(at)
}

func ends(at string) []string {
	if ofOthers(at) {
		return published
	}
	return extensions
}

func (s *sources) file(at string) string {
	if s.isFile(at) {
		return at
	}
	for _, end := range ends(at) {
		if s.isFile(at + end) {
			return at + end
		}
	}
	old := filepath.Ext(at)
	for _, end := range written[old] {
		if name := strings.TrimSuffix(at, old) + end; s.isFile(name) {
			return name
		}
	}
	return ""
}

func (s *sources) index(dir string) string {
	for _, end := range ends(dir) {
		if name := filepath.Join(dir, "index"+end); s.isFile(name) {
			return name
		}
	}
	return ""
}

// installed finds a package, or a file of one, in the node_modules of a folder and those above it.
func (s *sources) installed(dir, spec string, require bool) string {
	parts := strings.SplitN(spec, "/", 3)
	n := 1
	if strings.HasPrefix(spec, "@") {
		n = 2
	}
	if len(parts) < n || slices.ContainsFunc(parts[:n], func(p string) bool { return p == "" || p == "." || p == ".." || strings.Contains(p, `\`) }) {
		return ""
	}
	pkg := path.Join(parts[:n]...)
	sub := "." + strings.TrimPrefix(spec, pkg)
	if p := s.packageOf(dir); p != nil && p.name == pkg && p.exports != nil {
		return s.target(p, p.exports, sub, require)
	}
	for {
		if at := filepath.Join(dir, "node_modules", filepath.FromSlash(pkg)); filepath.Base(dir) != "node_modules" {
			if p := s.packageIn(at); p != nil && p.exports != nil {
				return s.target(p, p.exports, sub, require)
			}
			if name := s.fileOrFolder(filepath.Join(at, filepath.FromSlash(sub)), strings.HasSuffix(sub, "/")); name != "" {
				return name
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// target follows the exports, or the imports, of a package.
func (s *sources) target(p *packageJSON, table *ordered, key string, require bool) string {
	if table == nil {
		return ""
	}
	conditions := []string{"node", "module", "default", "import"}
	if require {
		conditions[3] = "require"
	}
	to, ok := table.find(key, conditions)
	switch {
	case !ok:
		return ""
	case !strings.HasPrefix(to, "./"): // an import that stands for a package
		if !strings.HasPrefix(key, "#") || isRelative(to) || strings.HasPrefix(to, "/") {
			return ""
		}
		return s.installed(p.dir, to, require)
	}
	at := filepath.Join(p.dir, filepath.FromSlash(to))
	if !files.Within(p.dir, at) {
		return ""
	}
	if s.isFile(at) {
		return at
	}
	if !ofOthers(at) {
		return s.file(at)
	}
	return ""
}
