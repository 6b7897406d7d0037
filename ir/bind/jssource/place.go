package jssource

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"
)

// places gives modules that are bundled their own import.meta.url, dirname and filename, and those of CommonJS their
// __dirname, __filename and require.resolve, which a bundle has for all of them at once, if at all. A nil *places leaves
// them alone.
type places struct {
	home string // folder of the workflow

	mu   sync.Mutex
	used map[string]string // names of modules relative to home, by what the variables of each begin with

	resolves bool // some of them look for others
}

func newPlaces(home string) *places { return &places{home: home, used: map[string]string{}} }

// metas are the parts of import.meta that are places.
var metas = []string{"url", "dirname", "filename"}

// commons are what modules of CommonJS know of their place. None of them is the main module of a program.
var commons = map[string]string{"__dirname": "dirname", "__filename": "filename", "require.resolve": "resolve", "require.main": ""}

func asksPlace(text string) bool {
	for name := range commons {
		if strings.Contains(text, name) {
			return true
		}
	}
	return strings.Contains(text, "import.meta.")
}

// placed is a module with variables for its places. A module that has mistakes stays as it is.
func (p *places) placed(name, text string) (string, bool) {
	rel, err := filepath.Rel(p.home, name)
	if err != nil {
		rel = filepath.Base(name)
	}
	rel = filepath.ToSlash(rel)
	sum := sha256.Sum256([]byte(rel))
	prefix := "__flowgen_" + hex.EncodeToString(sum[:4]) + "_"
	opts := api.TransformOptions{Loader: api.LoaderJS, Define: map[string]string{}, LogLevel: api.LogLevelSilent, Charset: api.CharsetUTF8}
	if strings.Contains(text, "import.meta.") {
		opts.Format = api.FormatESModule
	}
	if end := filepath.Ext(name); strings.HasSuffix(end, "ts") {
		opts.Loader = api.LoaderTS
	}
	for _, m := range metas {
		opts.Define["import.meta."+m] = prefix + m
	}
	for name, place := range commons {
		if opts.Define[name] = prefix + place; place == "" {
			opts.Define[name] = "undefined"
		}
	}
	r := api.Transform(text, opts)
	if len(r.Errors) > 0 {
		return "", false
	}
	if !strings.Contains(string(r.Code), prefix) {
		return string(r.Code), strings.Contains(text, "require.main")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used[prefix] = rel
	p.resolves = p.resolves || strings.Contains(string(r.Code), prefix+"resolve")
	return string(r.Code), true
}

// banner declares the variables: places next to the workflow that flowgen runs, else in the working directory.
func (p *places) banner() string {
	if p == nil || len(p.used) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(`import { pathToFileURL as __flowgenToURL } from "node:url"; import { dirname as __flowgenDir, resolve as __flowgenResolve } from "node:path"; ` +
		`const __flowgenHome = process.env.FLOWGEN_FILE ? __flowgenDir(process.env.FLOWGEN_FILE) : ".";`)
	if p.resolves {
		b.WriteString(` import { createRequire as __flowgenRequire } from "node:module";`)
	}
	var prefixes []string
	for prefix := range p.used {
		prefixes = append(prefixes, prefix)
	}
	slices.Sort(prefixes)
	for _, prefix := range prefixes {
		name, err := json.Marshal(p.used[prefix])
		if err != nil {
			name = []byte(`""`)
		}
		b.WriteString(" const " + prefix + "filename = __flowgenResolve(__flowgenHome, " + string(name) + "), " +
			prefix + "dirname = __flowgenDir(" + prefix + "filename), " + prefix + "url = __flowgenToURL(" + prefix + "filename).href;")
		if p.resolves {
			b.WriteString(" const " + prefix + "resolve = __flowgenRequire(" + prefix + "url).resolve;")
		}
	}
	return b.String()
}
