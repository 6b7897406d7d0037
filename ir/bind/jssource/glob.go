package jssource

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// errComputed is the error of a path that only running a module would tell.
var errComputed = errors.New("it requires a file whose name is computed: name the files that it can be")

// withoutGlobs is a module whose imports of computed paths are left to run time: esbuild would bundle all files that such a
// path can name, and look for them itself. It is esbuild that tells where these imports are, so that none is missed; its
// mistakes are those of a module that it cannot read. Packages of others have such imports for what they may find at run
// time; where the user's own modules require files that way they would be missing.
func withoutGlobs(text string, loader api.Loader, others bool) (string, []api.Message, error) {
	if !strings.Contains(text, "import") && !strings.Contains(text, "require") && !strings.Contains(text, `\u`) {
		return text, nil, nil
	}
	r := api.Transform(text, api.TransformOptions{
		Loader: loader, Format: api.FormatESModule, Platform: api.PlatformNode, LogLevel: api.LogLevelSilent, TsconfigRaw: "{}",
		LogOverride: map[string]api.LogLevel{computedRequire: api.LogLevelWarning, computedImport: api.LogLevelWarning},
	})
	if len(r.Errors) > 0 {
		return "", r.Errors, nil
	}
	lines := strings.SplitAfter(text, "\n")
	all := slices.DeleteFunc(r.Warnings, func(w api.Message) bool {
		return w.ID != computedRequire && w.ID != computedImport || w.Location == nil || strings.HasPrefix(w.Text, "Converting ")
	})
	slices.SortFunc(all, func(a, b api.Message) int { // from the end of each line
		return cmp.Or(cmp.Compare(a.Location.Line, b.Location.Line), cmp.Compare(b.Location.Column, a.Location.Column))
	})
	done := map[string]bool{}
	for i, w := range all {
		at := w.Location
		if i > 0 && *all[i-1].Location == *at { // both ways of a condition
			continue
		}
		if at.Line > len(lines) || at.Column+at.Length > len(lines[at.Line-1]) {
			return "", nil, errComputed
		}
		line := lines[at.Line-1]
		call := line[at.Column+at.Length:]
		if !others && relativeArgument(call) {
			return "", nil, errComputed
		}
		word := "require"
		if strings.HasPrefix(line[at.Column:], "import") {
			word = "import"
		}
		done[word] = true
		lines[at.Line-1] = line[:at.Column] + "__flowgen_" + word + call
	}
	text = strings.Join(lines, "")
	for _, word := range []string{"import", "require"} {
		if done[word] {
			text += "\nfunction __flowgen_" + word + "(path) { return " + word + "(path) }\n" // known from the first line on
		}
	}
	return text, nil, nil
}

// The messages of esbuild about imports of computed paths.
const (
	computedRequire = "unsupported-require-call"
	computedImport  = "unsupported-dynamic-import"
)

// relativeArgument reports whether an argument begins as the name of a file does.
func relativeArgument(call string) bool {
	arg := strings.TrimLeft(strings.TrimSpace(call), "( ")
	return len(arg) > 1 && strings.ContainsRune("'\"`", rune(arg[0])) && arg[1] == '.'
}
