package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// The playground leaves out what its page cannot use, which halves what it loads: the compiler the public dialects, the simulator
// HTTP and the clients of models, since it answers all calls itself. Overlays of the go command do it, so the packages need no
// build tags.

// overlay is a file for -overlay: the content of files by their name below the root, nil for files that are left out.
func overlay(root, name string, files map[string][]byte) (string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, ".flowgen", "playground", name)
	replace := map[string]string{}
	for file, text := range files {
		to := ""
		if text != nil {
			to = filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
			err = errors.Join(err, save(dir, filepath.Base(to), text))
		}
		replace[filepath.Join(root, filepath.FromSlash(file))] = to
	}
	data, failed := json.Marshal(map[string]any{"Replace": replace})
	return filepath.Join(dir, "overlay.json"), errors.Join(err, failed, save(dir, "overlay.json", data))
}

var dialectEntry = regexp.MustCompile(`(?m)^\t\{(\w+)\.Language, .*\n`)

// compilerOverlay takes the public dialects out of the parser's list.
func compilerOverlay(root string) (string, error) {
	const file = "parser/dialects.go"
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		return "", err
	}
	found := dialectEntry.FindAllSubmatch(text, -1)
	if len(found) == 0 {
		return "", fmt.Errorf("%s lists no dialect", file)
	}
	text = dialectEntry.ReplaceAll(text, nil)
	for _, m := range found {
		text = regexp.MustCompile(`(?m)^\t.*"github\.com/flowgen-dev/flowgen/(parser|convert)/`+string(m[1])+`"\n`).ReplaceAll(text, nil)
	}
	return overlay(root, "native", map[string][]byte{file: text})
}

var providerImport = regexp.MustCompile(`"github\.com/flowgen-dev/flowgen/(runtime/llm/(\w+))"`)

// simulatorOverlay replaces HTTP tools, and the providers that the generated files import, by declarations.
func simulatorOverlay(root string, generated []string) (string, error) {
	stub, err := assets.ReadFile("assets/playground/httptool.go.txt")
	if err != nil {
		return "", err
	}
	instead := map[string][]byte{"runtime/httptool": stub}
	for _, name := range generated {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		for _, m := range providerImport.FindAllSubmatch(text, -1) {
			instead[string(m[1])] = fmt.Appendf(nil, "package %s\n\nimport \"github.com/flowgen-dev/flowgen/runtime/llm\"\n\nvar Provider = llm.Provided(%[1]q)\n", m[2])
		}
	}
	files := map[string][]byte{}
	for dir, text := range instead {
		list, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.go"))
		if err != nil || len(list) == 0 {
			return "", errors.Join(err, fmt.Errorf("%s has no Go files", dir))
		}
		for _, name := range list {
			files[dir+"/"+filepath.Base(name)] = nil
		}
		files[dir+"/declared.go"] = text
	}
	return overlay(root, "declared", files)
}
