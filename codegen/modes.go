package codegen

import (
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
)

// A mode line is text that an editor obeys wherever in a line of any file it finds it: Vim near both ends of the file, Emacs in
// the first line and near the end, Kate at both ends. Options of editors have run programs before.
//
// modeColon are mode lines that are none without their last character, a colon; emacsMode is one that needs each of its three.
const emacsMode = "-*-"

var modeColon = lazyregexp.New(`((?:^|\s)(?:[vV]im[<=>]?[0-9]*|vi|ex)|(?:^|[^\pL\pN_])kate(?:-mimetype|-wildcard)?(?:\([^)]*\))?|Local Variables):`)

// hasMode reports whether an editor may take a line, or a part of it, for a mode line.
func hasMode(line string) bool {
	return strings.Contains(line, emacsMode) || strings.Contains(line, ":") && modeColon.MatchString(line)
}

// escapeModes is a string literal between double quotes that has the same value and no mode line.
func escapeModes(literal string) string { return withoutModes(literal, `\x2a`, `\x3a`) }

// unmoded is the text of a comment without a mode line: a blank takes it apart.
func unmoded(text string) string { return withoutModes(text, " *", " :") }

func withoutModes(text, star, colon string) string {
	if strings.Contains(text, ":") {
		text = modeColon.ReplaceAllString(text, "${1}"+colon)
	}
	for strings.Contains(text, emacsMode) { // they may overlap
		text = strings.ReplaceAll(text, emacsMode, "-"+star+"-")
	}
	return text
}
