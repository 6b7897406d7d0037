package jssource

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/flowgen-dev/flowgen/internal/files"
)

// A bundle is a module with all that it imports, as one ES module.
type bundle struct {
	code     string
	exports  []string
	builtins []string // modules of Node that it imports
	errors   []api.Message
}

// requireBanner gives CommonJS modules inside of a bundle the require that they need for Node's own modules.
const requireBanner = `import { createRequire as flowgenRequire } from "node:module"; const require = flowgenRequire(process.cwd() + "/");`

// makeBundle bundles a file of a folder. Its text depends on nothing but the sources and their places below the folder.
//
// Modules may ask places where they stand (import.meta.url): that is below the folder of the workflow that flowgen runs, and
// else below the working directory.
func makeBundle(in *sources, rel string, embedded bool) bundle {
	b := build(in, rel, embedded, "")
	banner := ""
	if len(b.errors) == 0 && len(b.builtins) > 0 && strings.Contains(b.code, "__require(") {
		banner = requireBanner
	}
	banner += in.places.banner()
	if banner != "" {
		return build(in, rel, embedded, banner)
	}
	return b
}

func build(in *sources, rel string, embedded bool, banner string) bundle {
	in.config(filepath.Dir(filepath.Join(in.real, filepath.FromSlash(rel))))
	opts := api.BuildOptions{
		EntryPoints: []string{entry}, AbsWorkingDir: existing(in.real), Outfile: filepath.Join(in.real, "flowgen-bundle.mjs"),
		Outbase: filepath.Dir(filepath.Join(in.real, filepath.FromSlash(rel))), Bundle: true, Write: false, Metafile: true, Platform: api.PlatformNode, Format: api.FormatESModule,
		Engines: []api.Engine{{Name: api.EngineNode, Version: "18"}}, LogLevel: api.LogLevelSilent, LegalComments: api.LegalCommentsNone,
		Charset: api.CharsetUTF8, TsconfigRaw: in.tscfg.raw(), Plugins: []api.Plugin{in.plugin(rel)},
	}
	if banner != "" {
		opts.Banner = map[string]string{"js": banner}
	}
	if embedded {
		opts.Engines, opts.Target = nil, api.ES2020
	}
	r := api.Build(opts)
	b := bundle{errors: r.Errors}
	if len(r.Errors) > 0 || len(r.OutputFiles) != 1 {
		return b
	}
	b.code = withoutHashbang(strings.ReplaceAll(string(r.OutputFiles[0].Contents), space+":", ""))
	b.read(r.Metafile)
	return b
}

// withoutHashbang is a module without the first line by which a shell runs it: it would not be the first one any more.
func withoutHashbang(code string) string {
	if strings.HasPrefix(code, "#!") {
		_, code, _ = strings.Cut(code, "\n")
	}
	return code
}

// existing is a folder that is there: esbuild wants to work in one.
func existing(dir string) string {
	for {
		if files.Exists(dir) {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return dir
		}
		dir = up
	}
}

// metafile is what is read of esbuild's description of a bundle.
type metafile struct {
	Outputs map[string]struct {
		Imports []struct {
			Path     string `json:"path"`
			External bool   `json:"external"`
		} `json:"imports"`
		Exports []string `json:"exports"`
	} `json:"outputs"`
}

func (b *bundle) read(text string) {
	var meta metafile
	if json.Unmarshal([]byte(text), &meta) != nil {
		return
	}
	for _, out := range meta.Outputs {
		b.exports = out.Exports
		for _, i := range out.Imports {
			if i.External && !slices.Contains(b.builtins, i.Path) {
				b.builtins = append(b.builtins, i.Path)
			}
		}
	}
	slices.Sort(b.builtins)
}
