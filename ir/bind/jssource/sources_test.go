package jssource

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
)

// tree puts files on disk, those whose text begins with "-> " as links, and returns the folder without links.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if to, link := strings.CutPrefix(text, "-> "); link {
			err = os.Symlink(to, name)
		} else {
			err = os.WriteFile(name, []byte(text), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// native is the bundle that esbuild makes when it looks for files itself.
func native(home, rel string) bundle {
	r := api.Build(api.BuildOptions{
		EntryPoints: []string{filepath.Join(home, filepath.FromSlash(rel))}, AbsWorkingDir: home, Outfile: filepath.Join(home, "flowgen-bundle.mjs"),
		Bundle: true, Write: false, Metafile: true, Platform: api.PlatformNode, Format: api.FormatESModule,
		Engines: []api.Engine{{Name: api.EngineNode, Version: "18"}}, LogLevel: api.LogLevelSilent, LegalComments: api.LegalCommentsNone, Charset: api.CharsetUTF8,
	})
	b := bundle{errors: r.Errors}
	if len(r.OutputFiles) == 1 {
		b.code = string(r.OutputFiles[0].Contents)
		b.read(r.Metafile)
	}
	return b
}

func confined(home, rel string) bundle {
	return build(newSources(&foreign.Files{}, foreign.Folder{Disk: home, Typed: "."}, nil, nil), rel, false, "")
}

// given is what names of ES modules have at their end besides, and what esbuild makes of them in names of variables.
var given = regexp.MustCompile(`(\.[jt]sx?)\.m[jt]s\b`)

// TestResolves: what esbuild finds itself is found here: the bundles are the same.
func TestResolves(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"relative": {
			"tool.ts": `import a from './a'; import b from './b.js'; import c from './c'; import d from './d.mjs'; import e from '.'; import f from './lib/'; import g from './lib/../a.js'; import j from './j.json'; export default [a,b,c,d,e,f,g,j]`,
			"a.js":    "export default 1", "b.ts": "export default 2 as number", "c/index.tsx": "export default 3", "d.mts": "export default 4", "index.js": "export default 5",
			"lib/package.json": `{"main": "./x"}`, "lib/x.js": "module.exports = 6", "j.json": `{"a": [1]}`,
		},
		"packages": {
			"src/tool.js":                    `import m from 'main'; import f from 'main/file'; import s from '@s/p/sub/x.js'; import n from 'none'; import fs from 'fs'; import p from 'node:path'; import u from 'punycode/'; export default [m,f,s,n,fs,p,u]`,
			"node_modules/main/package.json": `{"name": "main", "main": "lib", "module": "es.js"}`,
			"node_modules/main/lib/index.js": "exports.a = require('./deep').x", "node_modules/main/lib/deep.ts": "export const x = 1", "node_modules/main/lib/deep.js": "exports.x = require('inner')",
			"node_modules/main/file.json":                   `[1]`,
			"node_modules/main/node_modules/inner/index.js": "module.exports = 'inner'",
			"node_modules/@s/p/sub/x.js":                    "export default 'scoped'", "node_modules/none/index.js": "module.exports = require('../main')", "node_modules/punycode/index.js": "module.exports = 'package'",
			"node_modules/fs/index.js": "module.exports = 'never'",
		},
		"exports": {
			"tool.js":                     `import a from 'e'; import b from 'e/sub'; import c from 'e/dir/x'; import d from 'e/dir/special/y'; const r = require('e'); import s from 'str'; import l from 'list'; import n from 'nested'; export default [a,b,c,d,r,s,l,n]`,
			"node_modules/e/package.json": `{"exports": {".": {"types": "./t.d.ts", "require": "./r.cjs", "import": "./i.mjs"}, "./sub": {"browser": "./no.js", "default": "./sub.js"}, "./dir/*": "./d/*.js", "./dir/special/*": {"node": "./s/*.js"}, "./gone": null}}`,
			"node_modules/e/r.cjs":        "module.exports = 'r'", "node_modules/e/i.mjs": "export default 'i'", "node_modules/e/sub.js": "module.exports = 's'",
			"node_modules/e/d/x.js": "module.exports = 'x'", "node_modules/e/s/y.js": "module.exports = 'y'",
			"node_modules/str/package.json": `{"exports": "./m.js"}`, "node_modules/str/m.js": "export default 1",
			"node_modules/list/package.json": `{"exports": [{"deno": "./no.js"}, "./m.js"]}`, "node_modules/list/m.js": "export default 1",
			"node_modules/nested/package.json": `{"exports": {"node": {"import": "./m.js", "require": "./no.js"}, "default": "./no.js"}}`, "node_modules/nested/m.js": "export default 1",
		},
		"imports": {
			"package.json": `{"name": "self", "exports": {"./x": "./lib/x.ts"}, "imports": {"#a": "./lib/a.js", "#lib/*": "./lib/*.js", "#dep": {"node": "dep", "default": "./no.js"}}}`,
			"tool.js":      `import a from '#a'; import b from '#lib/b'; import d from '#dep'; import x from 'self/x'; export default [a,b,d,x]`,
			"lib/a.js":     "export default 'a'", "lib/b.js": "export default 'b'", "lib/x.ts": "export default 'x'", "node_modules/dep/index.js": "module.exports = 'dep'",
		},
		"tsconfig": {
			"tsconfig.json":                "{ // with comments\n \"extends\": [\"./config/base\", \"cfg/strict.json\"], \"compilerOptions\": {\"baseUrl\": \"./src\", /* and */ \"paths\": {\"@/*\": [\"gone/*\", \"app/*\"], \"exact\": [\"./e.ts\"],}, }, }",
			"config/base.json":             `{"compilerOptions": {"experimentalDecorators": true, "jsx": "react", "jsxFactory": "h"}}`,
			"node_modules/cfg/strict.json": `{"compilerOptions": {"useDefineForClassFields": false}}`,
			"tools/tool.tsx":               `import x from '@/x'; import e from 'exact'; import b from 'below/b'; import p from 'pkg'; declare const h: any; function dec(a: any, b: any) {} class C { y = 1; @dec m() {} } export default [x, e, b, p, <div/>, C]`,
			"src/app/x.ts":                 "export default 1", "src/e.ts": "export default 2", "src/below/b.ts": "export default 3", "node_modules/pkg/index.js": "module.exports = 4",
		},
		"kinds of modules": {
			"package.json": `{"type": "module"}`,
			"tool.js":      `import c from 'cjs'; import { default as d } from './old.cjs'; import ts from './t.ts'; export default [c, d, ts]`, "old.cjs": "exports.__esModule = true; exports.default = 1", "t.ts": "import c from 'cjs'; export default c",
			"node_modules/cjs/package.json": `{}`, "node_modules/cjs/index.js": "exports.__esModule = true; exports.default = 1; exports.a = __filename",
		},
		"links": { // as pnpm lays packages out
			"tool.js":        `import a from 'a'; export default a`,
			"node_modules/a": "-> .pnpm/a@1/node_modules/a",
			"node_modules/.pnpm/a@1/node_modules/a/index.js": "module.exports = require('b')",
			"node_modules/.pnpm/a@1/node_modules/b":          "-> ../../b@1/node_modules/b",
			"node_modules/.pnpm/b@1/node_modules/b/index.js": "module.exports = 'b'",
		},
		"perhaps": {
			"tool.js": `let a; try { a = require('not-there') } catch {} const b = import('nor-that').catch(() => 1); const u = 'fs'; const c = require(u); export default [a, b, c, import.meta.url, require.resolve('x')]`,
		},
		"effects": {
			"tool.js":                        `import 'effects'; import {a} from 'pure'; import {b} from 'pure/b.js'; export default b`,
			"node_modules/pure/package.json": `{"sideEffects": false}`, "node_modules/pure/index.js": "console.log(1); export const a = 1", "node_modules/pure/b.js": "console.log(2); export const b = 1; export const c = 2",
			"node_modules/effects/index.js": "console.log(3)",
		},
		"attributes": {
			"tool.js": `import t from './t.txt' with {type: 'text'}; import j from './j.json' with {type: 'json'}; import b from './t.txt' with {type: 'bytes'}; import d from 'data:text/javascript,export default 5'; import k from './k.txt'; export default [t, j, b, d, k]`,
			"t.txt":   "text", "j.json": `{"default": 1, "b": 2}`, "k.txt": "plain",
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := tree(t, files)
			rel := "tool.js"
			for f := range files {
				if strings.Contains(f, "tool.") {
					rel = f
				}
			}
			want, got := native(home, rel), confined(home, rel)
			if len(want.errors) > 0 || len(got.errors) > 0 {
				t.Fatalf("esbuild: %v\nconfined: %v", want.errors, got.errors)
			}
			code := strings.ReplaceAll(given.ReplaceAllString(got.code, "$1"), "__flowgen_require(", "__require(")
			code = strings.ReplaceAll(code, "function __require(path) {\n  return __require(path);\n}\n", "")
			code = strings.NewReplacer("_js_default", "_default", "_ts_default", "_default").Replace(code)
			if diff := cmp.Diff(want.code, code); diff != "" {
				t.Errorf("(-esbuild +confined):\n%s", diff)
			}
			if diff := cmp.Diff(want.builtins, got.builtins); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// ways are modules that would put a file of the machine into a bundle, or keep it from ending. OUT is a folder outside of the
// project whose files begin with a canary.
var ways = map[string]map[string]string{
	"environment":                {"tool.js": `import s from "/proc/self/environ" with {type: "text"}; export default s`},
	"environment, bytes":         {"tool.js": `import s from "/proc/self/environ" with {type: "bytes"}; export default s`},
	"descriptor":                 {"tool.js": `import s from "/proc/self/fd/0" with {type: "text"}; export default s`},
	"working directory":          {"tool.js": `import s from "/proc/self/cwd/../../../../../../../../..OUT/x.txt"; export default s`},
	"absolute":                   {"tool.js": `import s from "OUT/x.txt"; export default s`},
	"absolute, json":             {"tool.js": `import s from "OUT/x.json"; export default s`},
	"absolute, require":          {"tool.js": `export default require("OUT/x.json")`},
	"absolute, import()":         {"tool.js": `export default await import("OUT/x.js")`},
	"absolute, no end":           {"tool.js": `export default require("OUT/x")`},
	"relative":                   {"tool.js": `import s from "../outside/x.json"; export default s`},
	"relative, deeper":           {"a/tool.js": `import s from "./../../outside/x.json"; export default s`},
	"a folder":                   {"tool.js": `export default require("../outside")`},
	"file URL":                   {"tool.js": `import s from "file://OUT/x.txt"; export default s`},
	"doubled slash":              {"tool.js": `export default require("/" + "/OUT/x.json")`},
	"in data":                    {"tool.js": `import s from "data:text/javascript,import x from 'OUT/x.json'; export default x"; export default s`},
	"a link":                     {"tool.js": `import s from "./l.json"; export default s`, "l.json": "-> OUT/x.json"},
	"a relative link":            {"tool.js": `import s from "./l.json"; export default s`, "l.json": "-> ../outside/x.json"},
	"a link to a link":           {"tool.js": `import s from "./l.json"; export default s`, "l.json": "-> m.json", "m.json": "-> OUT/x.json"},
	"a linked folder":            {"tool.js": `import s from "./d/x.json"; export default s`, "d": "-> OUT"},
	"a linked package":           {"tool.js": `import s from "pkg/x.json"; export default s`, "node_modules/pkg": "-> OUT"},
	"linked packages":            {"tool.js": `import s from "deep/x.json"; export default s`, "node_modules": "-> OUT"},
	"linked package.json":        {"tool.js": `import s from "pkg"; export default s`, "node_modules/pkg/package.json": "-> OUT/x.json", "node_modules/pkg/other.js": ""},
	"linked tsconfig.json":       {"tool.ts": `import s from "@/x.json"; export default s`, "tsconfig.json": "-> OUT/tsconfig.json"},
	"glob, require":              {"tool.js": `export default (n) => require("../outside/" + n + ".json")`},
	"glob, template":             {"tool.js": "export default (n) => require(`../outside/${n}.json`)"},
	"glob, import":               {"tool.js": "export default (n) => import(`../outside/${n}.json`)"},
	"glob, escaped":              {"tool.js": `export default (n) => require("\x2e./outside/" + n)`},
	"glob, in parts":             {"tool.js": `export default (n) => require("." + "./outside/" + n)`},
	"glob, condition":            {"tool.js": `export default (n) => require(n ? "../outside/" + n : "./" + n)`},
	"glob, spelt":                {"tool.js": `export default (n) => r\u0065quire(("../outside/" + n))`},
	"glob, apart":                {"tool.js": "export default (n) => require /* a\n */ \n (\"../outside/\" + n)"},
	"glob, in a package":         {"tool.js": `export default require("p")`, "node_modules/p/index.js": `module.exports = (n) => [require("../../../outside/" + n), import("../../../outside/" + n)]`},
	"tsconfig paths":             {"tool.ts": `import s from "@x"; export default s`, "tsconfig.json": `{"compilerOptions": {"paths": {"@x": ["OUT/x.json", "../outside/x.json"]}}}`},
	"tsconfig pattern":           {"tool.ts": `import s from "@/x.json"; export default s`, "tsconfig.json": `{"compilerOptions": {"paths": {"@/*": ["../outside/*"]}}}`},
	"tsconfig base":              {"tool.ts": `import s from "x.json"; export default s`, "tsconfig.json": `{"compilerOptions": {"baseUrl": "../outside"}}`},
	"tsconfig extends":           {"tool.ts": `import s from "@/x.json"; export default s`, "tsconfig.json": `{"extends": "../outside/tsconfig.json"}`},
	"tsconfig extends, absolute": {"tool.ts": `import s from "@/x.json"; export default s`, "tsconfig.json": `{"extends": "OUT/tsconfig.json"}`},
	"main":                       {"tool.js": `import s from "p"; export default s`, "node_modules/p/package.json": `{"main": "../../../outside/x.json"}`},
	"main, absolute":             {"tool.js": `import s from "p"; export default s`, "node_modules/p/package.json": `{"main": "OUT/x.json"}`},
	"module":                     {"tool.js": `import s from "p"; export default s`, "node_modules/p/package.json": `{"module": "../../../outside/x.json"}`},
	"browser":                    {"tool.js": `import s from "p"; export default s`, "node_modules/p/package.json": `{"browser": "../../../outside/x.json"}`},
	"exports":                    {"tool.js": `import s from "p"; export default s`, "node_modules/p/package.json": `{"exports": "./../../../outside/x.json"}`},
	"exports, pattern":           {"tool.js": `import s from "p/../../../../outside/x.json"; export default s`, "node_modules/p/package.json": `{"exports": {"./*": "./*"}}`},
	"imports":                    {"tool.js": `import s from "#x"; export default s`, "package.json": `{"imports": {"#x": "../outside/x.json"}}`},
	"imports, absolute":          {"tool.js": `import s from "#x"; export default s`, "package.json": `{"imports": {"#x": "OUT/x.json"}}`},
	"a package's name":           {"tool.js": `import s from "../../outside/x.json"; export default s`, "node_modules/a": "-> .."},
	"zeros":                      {"tool.js": `import s from "/dev/zero" with {type: "text"}; export default s`},
	"linked zeros":               {"tool.js": `import s from "./z.txt"; export default s`, "z.txt": "-> /dev/zero"},
	"terminal":                   {"tool.js": `import s from "/dev/tty" with {type: "text"}; export default s`},
	"pipe":                       {"tool.js": `import s from "./fifo" with {type: "text"}; export default s`},
	"pipe, package.json":         {"tool.js": `import s from "piped"; export default s`},
	"large":                      {"tool.js": `import s from "./large.txt"; export default s`},
	"archive":                    {"tool.js": `import s from "../outside/a.zip/x.json"; export default s`},
}

// TestNothingOutside: no import reads what lies outside of the project, or something that is not a file.
func TestNothingOutside(t *testing.T) {
	bundled := 0
	for name, files := range ways {
		home, rel := wayOut(t, name, files)
		b := confined(home, rel)
		if strings.Contains(b.code, "7f3ad1c9") || strings.Contains(b.code, "N2YzYWQxYzk") || strings.Contains(b.code, "PATH=") {
			t.Errorf("%s: the bundle has the file:\n%s", name, b.code)
		}
		for _, e := range b.errors {
			if strings.Contains(e.Text, "7f3ad1c9") {
				t.Errorf("%s: the message has the file: %s", name, e.Text)
			}
		}
		switch {
		case len(b.errors) == 0 && len(b.code) > 4<<20:
			t.Errorf("%s: the bundle has %d bytes", name, len(b.code))
		case len(b.errors) == 0:
			bundled++
			if !strings.Contains(name, "glob") && name != "doubled slash" && name != "in data" && name != "file URL" {
				t.Errorf("%s: bundled:\n%s", name, b.code)
			}
		}
	}
	t.Logf("%d ways, %d of which are left to run time", len(ways), bundled)
}

// wayOut makes the project of one of the ways, beside the folder outside.
func wayOut(t *testing.T, name string, files map[string]string) (home, rel string) {
	t.Helper()
	const canary = "canary 7f3ad1c9"
	top := tree(t, map[string]string{
		"outside/x.txt": canary, "outside/x.json": `{"a": "` + canary + `"}`, "outside/x.js": "export default '" + canary + "'", "outside/index.js": "module.exports = '" + canary + "'",
		"outside/deep/x.json": `"` + canary + `"`, "outside/tsconfig.json": `{"compilerOptions": {"paths": {"@/*": ["./*"]}, "jsxFactory": "` + canary + `"}}`, "project/keep": "",
	})
	home, rel = filepath.Join(top, "project"), "tool.js"
	for f, text := range files {
		if strings.Contains(f, "tool.") {
			rel = f
		}
		at := filepath.Join(home, filepath.FromSlash(f))
		text = strings.ReplaceAll(text, "OUT", filepath.ToSlash(filepath.Join(top, "outside")))
		err := os.MkdirAll(filepath.Dir(at), 0o777)
		if to, link := strings.CutPrefix(text, "-> "); err == nil && link {
			err = os.Symlink(to, at)
		} else if err == nil {
			err = os.WriteFile(at, []byte(text), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	awkward(t, home, name)
	return home, rel
}

// awkward makes what is not text.
func awkward(t *testing.T, home, name string) {
	t.Helper()
	fifo := map[string]string{"pipe": "fifo", "pipe, package.json": "node_modules/piped/package.json"}[name]
	if fifo != "" {
		fifo = filepath.Join(home, fifo)
		if err := os.MkdirAll(filepath.Dir(fifo), 0o777); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("mkfifo", fifo).CombinedOutput(); err != nil {
			t.Skipf("%v %s", err, out)
		}
	}
	if name == "large" {
		if err := os.WriteFile(filepath.Join(home, "large.txt"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(home, "large.txt"), 1<<40); err != nil {
			t.Skip(err)
		}
	}
}
