package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/internal/files"
)

// removeStaleBundles removes the bundles that an earlier generate has written for the same workflow and that its Go no longer
// embeds: those that have the name of one and begin as one. Copies of sources look like anybody's and stay.
func (a *app) removeStaleBundles(o output) error {
	home, start := filepath.Dir(o.file), stem(o.file)+"."
	entries, err := files.List(home)
	if err != nil {
		return err
	}
	for _, e := range entries {
		key, isAsset := strings.CutPrefix(e.Name(), start)
		key, isBundle := strings.CutSuffix(key, ".mjs")
		file := filepath.Join(home, e.Name())
		if !isAsset || !isBundle || strings.Contains(key, ".") || !e.Type().IsRegular() ||
			slices.ContainsFunc(o.assets, func(a output) bool { return a.file == file }) {
			continue
		}
		text, err := readOwn(file)
		if err != nil || !strings.HasPrefix(string(text), codegen.BundleMark) {
			continue // not ours, or nobody's any more
		}
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		fmt.Fprintf(a.stderr, "flowgen: removed %s\n", oneLine(filepath.ToSlash(file)))
	}
	return nil
}
