package jssource

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
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
func makeBundle(files *foreign.Files, home foreign.Folder, rel string, embedded bool, places *places) bundle {
	b := build(files, home, rel, embedded, places, "")
	banner := ""
	if len(b.errors) == 0 && len(b.builtins) > 0 && strings.Contains(b.code, "__require(") {
		banner = requireBanner
	}
	banner += places.banner()
	if banner != "" {
		return build(files, home, rel, embedded, places, banner)
	}
	return b
}

func build(files *foreign.Files, home foreign.Folder, rel string, embedded bool, places *places, banner string) bundle {
	opts := api.BuildOptions{
		EntryPoints: []string{filepath.Join(home.Disk, filepath.FromSlash(rel))}, AbsWorkingDir: existing(home.Disk), Outfile: filepath.Join(home.Disk, "flowgen-bundle.mjs"),
		Bundle: true, Write: false, Metafile: true, Platform: api.PlatformNode, Format: api.FormatESModule,
		Engines: []api.Engine{{Name: api.EngineNode, Version: "18"}}, LogLevel: api.LogLevelSilent, LegalComments: api.LegalCommentsNone,
		Charset: api.CharsetUTF8, Plugins: []api.Plugin{overlay(files)},
	}
	if places != nil {
		opts.Plugins = append([]api.Plugin{places.plugin(files)}, opts.Plugins...)
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
	b.code = withoutHashbang(string(r.OutputFiles[0].Contents))
	b.read(r.Metafile, files, home)
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
		if st, err := filepath.EvalSymlinks(dir); err == nil && st != "" {
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
	Inputs  map[string]struct{} `json:"inputs"`
	Outputs map[string]struct {
		Imports []struct {
			Path     string `json:"path"`
			External bool   `json:"external"`
		} `json:"imports"`
		Exports []string `json:"exports"`
	} `json:"outputs"`
}

func (b *bundle) read(text string, files *foreign.Files, home foreign.Folder) {
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
	for name := range meta.Inputs {
		if _, virtual, ok := strings.Cut(name, ":"); ok {
			name = virtual
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(existing(home.Disk), filepath.FromSlash(name))
		}
		if files.Seen != nil {
			files.Seen(name)
		}
	}
}

// overlay has esbuild read files that are not on disk. Paths of them are resolved here; all others are left to esbuild.
func overlay(files *foreign.Files) api.Plugin {
	return api.Plugin{Name: "overlay", Setup: func(b api.PluginBuild) {
		if len(files.Overlay) == 0 {
			return
		}
		b.OnResolve(api.OnResolveOptions{Filter: `.*`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			name := a.Path
			if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
				name = filepath.Join(a.ResolveDir, filepath.FromSlash(name))
			}
			for _, try := range variants(name) {
				if _, ok := files.Overlay[filepath.FromSlash(try)]; ok {
					return api.OnResolveResult{Path: filepath.FromSlash(try)}, nil
				}
			}
			return api.OnResolveResult{}, nil
		})
		b.OnLoad(api.OnLoadOptions{Filter: `.*`}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			data, ok := files.Overlay[a.Path]
			if !ok {
				return api.OnLoadResult{}, nil
			}
			text := string(data)
			loader := api.LoaderJS
			switch filepath.Ext(a.Path) {
			case ".ts", ".mts":
				loader = api.LoaderTS
			case ".json":
				loader = api.LoaderJSON
			}
			return api.OnLoadResult{Contents: &text, Loader: loader, ResolveDir: filepath.Dir(a.Path)}, nil
		})
	}}
}
