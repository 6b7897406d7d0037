// Bundle makes the files of the page from ../web, in the folder of package studio: `go generate ./studio`. The same sources always give the
// same bytes, and nothing but Go is needed.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	files, err := build("web")
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join("dist", name), text, 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

// build returns the files of the page by their names.
func build(web string) (map[string][]byte, error) {
	web, err := filepath.Abs(web)
	if err != nil {
		return nil, err
	}
	vendor := func(name string) string { return filepath.Join(web, "vendor", name) }
	files := map[string][]byte{}
	r := api.Build(api.BuildOptions{
		AbsWorkingDir: web,
		EntryPoints:   []string{"studio.tsx", "studio.css"},
		Bundle:        true, Outdir: filepath.Join(web, "dist"),
		Format: api.FormatIIFE, Target: api.ES2022, JSX: api.JSXAutomatic, JSXImportSource: "preact",
		MinifyWhitespace: true, MinifySyntax: true, MinifyIdentifiers: true, Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsNone,
		Alias: map[string]string{"preact": vendor("preact.mjs"), "preact/hooks": vendor("hooks.mjs"), "preact/jsx-runtime": vendor("jsx-runtime.mjs"),
			"@preact/signals": vendor("signals.mjs"), "@preact/signals-core": vendor("signals-core.mjs")},
		TsconfigRaw: `{"compilerOptions":{"strict":true}}`,
	})
	if len(r.Errors) > 0 {
		m, at := r.Errors[0], ""
		if m.Location != nil {
			at = fmt.Sprintf("%s:%d:%d: ", m.Location.File, m.Location.Line, m.Location.Column)
		}
		return nil, fmt.Errorf("%s%s", at, m.Text)
	}
	for _, f := range r.OutputFiles {
		files[filepath.Base(f.Path)] = f.Contents
	}
	for _, name := range []string{"LICENSE.preact", "LICENSE.signals"} { // what is in the bundle
		text, err := os.ReadFile(vendor(name))
		if err != nil {
			return nil, err
		}
		files["THIRD_PARTY"] = append(append(files["THIRD_PARTY"], name[len("LICENSE."):]+"\n\n"...), append(text, '\n')...)
	}
	return files, nil
}
