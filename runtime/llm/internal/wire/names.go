package wire

import (
	"strconv"
	"strings"
)

// Names translates the names of tools to what a provider takes, and back. The zero value is ready.
type Names struct {
	safe, real map[string]string
}

// longestName is what the strictest provider takes.
const longestName = 64

// Safe returns a name of at most 64 letters, digits, "_" and "-", of which the first is a letter or "_". Different names
// stay different.
func (n *Names) Safe(name string) string {
	if s, ok := n.safe[name]; ok {
		return s
	}
	if n.safe == nil {
		n.safe, n.real = map[string]string{}, map[string]string{}
	}
	s := n.free(name)
	n.safe[name], n.real[s] = s, name
	return s
}

// Own returns a safe name for a tool of the provider's own, next to all that have been asked for so far.
func (n *Names) Own(name string) string {
	if n.safe == nil {
		n.safe, n.real = map[string]string{}, map[string]string{}
	}
	s := n.free(name)
	n.real[s] = s
	return s
}

func (n *Names) free(name string) string {
	base := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if base == "" || base[0] == '-' || base[0] >= '0' && base[0] <= '9' {
		base = "_" + base
	}
	s := base[:min(len(base), longestName)]
	for i := 2; ; i++ {
		if _, taken := n.real[s]; !taken {
			return s
		}
		suffix := "_" + strconv.Itoa(i)
		s = base[:min(len(base), longestName-len(suffix))] + suffix
	}
}

// Real returns the tool's own name. What is not a translated name stays as it is: the model has made it up.
func (n *Names) Real(safe string) string {
	if s, ok := n.real[safe]; ok {
		return s
	}
	return safe
}
