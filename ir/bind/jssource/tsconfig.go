package jssource

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/files"
)

// A tsconfig is what is read of the nearest tsconfig.json above a module, with those that it extends.
type tsconfig struct {
	base    string // folder of names that are none of packages; "" for none
	pathsAt string // folder of what paths lead to
	paths   *ordered
	options map[string]json.RawMessage // what esbuild makes of TypeScript
}

// compilerOptions are those that change what esbuild makes of a module.
var compilerOptions = []string{
	"jsx", "jsxFactory", "jsxFragmentFactory", "jsxImportSource", "experimentalDecorators", "useDefineForClassFields", "target", "strict",
	"alwaysStrict", "verbatimModuleSyntax", "importsNotUsedAsValues", "preserveValueImports",
}

// maxExtends bounds how many files extend each other.
const maxExtends = 10

// config reads the nearest tsconfig.json at or above a folder. esbuild looks for none: it is given what it needs of it.
func (s *sources) config(dir string) {
	s.tscfg = tsconfig{options: map[string]json.RawMessage{}}
	for {
		if name := filepath.Join(dir, "tsconfig.json"); s.isFile(name) {
			s.extend(name, 0)
			return
		}
		up := filepath.Dir(dir)
		if up == dir || !s.roots.Hold(up) {
			return
		}
		dir = up
	}
}

func (s *sources) extend(name string, depth int) {
	real, err := s.roots.Real(name)
	if _, unsaved := s.unsaved(name); unsaved {
		real, err = name, nil
	}
	if err != nil || depth > maxExtends {
		return
	}
	text, err := s.read(real)
	if err != nil {
		return
	}
	root := parseOrdered(plainJSON(text))
	dir := filepath.Dir(name)
	if from := root.get("extends"); from != nil {
		list := from.items
		if from.str != nil {
			list = []*ordered{from}
		}
		for _, e := range list {
			if e.str == nil {
				continue
			}
			if at := s.extended(dir, *e.str); at != "" {
				s.extend(at, depth+1)
			}
		}
	}
	own := root.get("compilerOptions")
	if base := own.text("baseUrl"); base != "" {
		s.tscfg.base = filepath.Join(dir, filepath.FromSlash(base))
	}
	if p := own.get("paths"); p != nil {
		s.tscfg.paths, s.tscfg.pathsAt = p, dir
	}
	var raw struct {
		CompilerOptions map[string]json.RawMessage `json:"compilerOptions"`
	}
	if json.Unmarshal(plainJSON(text), &raw) == nil {
		for _, k := range compilerOptions {
			if v, ok := raw.CompilerOptions[k]; ok {
				s.tscfg.options[k] = v
			}
		}
	}
}

// extended is the file that a tsconfig.json extends.
func (s *sources) extended(dir, spec string) string {
	if isRelative(spec) {
		at := filepath.Join(dir, filepath.FromSlash(spec))
		if s.isFile(at) {
			return at
		}
		return at + ".json"
	}
	for {
		for _, end := range []string{"", ".json", "/tsconfig.json"} {
			if at := filepath.Join(dir, "node_modules", filepath.FromSlash(spec+end)); files.Within(filepath.Join(dir, "node_modules"), at) && s.isFile(at) {
				return at
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// mapped is the file that `paths` or `baseUrl` make of an import in a module of the user's own.
func (s *sources) mapped(from, spec string) string {
	if ofOthers(from) {
		return ""
	}
	c := s.tscfg
	if c.paths != nil {
		at := c.pathsAt
		if c.base != "" {
			at = c.base
		}
		var best *ordered
		length, star := -1, ""
		for i, k := range c.paths.keys {
			before, after, pattern := strings.Cut(k, "*")
			switch {
			case k == spec:
				best, length, star = c.paths.items[i], len(spec)+1, ""
			case pattern && len(before) > length && len(spec) >= len(before)+len(after) && strings.HasPrefix(spec, before) && strings.HasSuffix(spec, after):
				best, length, star = c.paths.items[i], len(before), spec[len(before):len(spec)-len(after)]
			}
		}
		if best != nil {
			for _, to := range best.items {
				if to.str == nil {
					continue
				}
				name := filepath.FromSlash(strings.Replace(*to.str, "*", star, 1))
				if !filepath.IsAbs(name) {
					name = filepath.Join(at, name)
				}
				if found := s.fileOrFolder(name, false); found != "" {
					return found
				}
			}
		}
	}
	if c.base != "" {
		return s.fileOrFolder(filepath.Join(c.base, filepath.FromSlash(spec)), false)
	}
	return ""
}

// raw is the configuration as esbuild is given it. It names no file.
func (c tsconfig) raw() string {
	text, err := json.Marshal(map[string]any{"compilerOptions": c.options})
	if err != nil {
		return "{}"
	}
	return string(text)
}

// plainJSON is JSON without the comments and the last commas that TypeScript allows.
func plainJSON(text []byte) []byte {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	var out []byte
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			start := i
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			out = append(out, text[start:min(i+1, len(text))]...)
		case bytes.HasPrefix(text[i:], []byte("//")):
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case bytes.HasPrefix(text[i:], []byte("/*")):
			end := bytes.Index(text[i+2:], []byte("*/"))
			if end < 0 {
				return out
			}
			i += 2 + end + 1
		case text[i] == ']' || text[i] == '}':
			if kept := bytes.TrimRight(out, " \t\r\n"); bytes.HasSuffix(kept, []byte(",")) {
				out = kept[:len(kept)-1]
			}
			out = append(out, text[i])
		default:
			out = append(out, text[i])
		}
	}
	return out
}
