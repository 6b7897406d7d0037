package main

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	tourSection = regexp.MustCompile(`(?ms)^## A 60-second tour\n(.*?)^## `)
	tourConsole = regexp.MustCompile("(?ms)^```console\n(.*?)^```\n")
)

// tour draws the commands of the README's tour as a terminal in which they appear one after the other. What they print is what the
// page shows, which a test compares with what they do print.
func tour(root string) ([]byte, error) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		return nil, err
	}
	section := tourSection.FindSubmatch(readme)
	if section == nil {
		return nil, errors.New("README.md has no tour")
	}
	var lines []string
	for _, block := range tourConsole.FindAllSubmatch(section[1], -1) {
		for line := range strings.Lines(string(block[1])) {
			if line = strings.TrimRight(line, "\n"); line != "..." {
				lines = append(lines, line)
			}
		}
	}
	const step, left, top = 18, 16, 44
	width, height := 860, top+len(lines)*step+16
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" xml:space="preserve" role="img" aria-label="A terminal with the commands of the tour" font-family="ui-monospace, monospace" font-size="13">`+"\n", width, height)
	b.WriteString("<style>text{fill:#e6edf3;white-space:pre}.c{fill:#7ee787}.e{fill:#ff7b72}.h{fill:#79c0ff}@media(prefers-reduced-motion:no-preference){text{opacity:0;animation:a .2s forwards}}@keyframes a{to{opacity:1}}</style>\n")
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="#0d1117"/><circle cx="20" cy="18" r="5" fill="#ff5f56"/><circle cx="38" cy="18" r="5" fill="#ffbd2e"/><circle cx="56" cy="18" r="5" fill="#27c93f"/>`+"\n", width, height)
	at := 0.3
	for i, line := range lines {
		class := ""
		switch {
		case strings.HasPrefix(line, "$ "):
			class = ` class="c"`
			at += 1.1
		case strings.HasPrefix(line, "error"):
			class = ` class="e"`
		case strings.Contains(line, "= help"):
			class = ` class="h"`
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d"%s style="animation-delay:%.1fs">%s</text>`+"\n", left, top+i*step, class, at, html.EscapeString(line))
	}
	b.WriteString("</svg>\n")
	return b.Bytes(), nil
}
