package ir

import (
	"regexp"
	"strings"
)

var capabilityForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9:._/@-]{0,199}$`)

// IsCapability reports whether text can be the name of a capability, which a tool's `permissions` claim; a grant may end
// in a star. Only ASCII is allowed: two names that look alike are never two capabilities.
func IsCapability(text string, grant bool) bool {
	if grant {
		if text == "*" {
			return true
		}
		text = strings.TrimSuffix(text, "*")
	}
	return capabilityForm.MatchString(text)
}

// Granted reports whether one of the grants covers a capability: it is that capability, byte by byte, or ends in a star
// and the capability begins with the rest. The runtime decides the same way.
func Granted(grants []string, capability string) bool {
	for _, g := range grants {
		if g == capability {
			return true
		}
		if begin, star := strings.CutSuffix(g, "*"); star && strings.HasPrefix(capability, begin) {
			return true
		}
	}
	return false
}
