package flowtest

import "strings"

// matchesKey reports whether a key is what a pattern stands for: `*` is any number of an item, iteration, turn or visit.
// The first visit has no number in a key, but `#*` means it, too.
func matchesKey(pattern, key string) bool {
	if !strings.Contains(pattern, "*") {
		return pattern == key
	}
	ps, ks := strings.Split(pattern, "/"), strings.Split(key, "/")
	if len(ps) != len(ks) {
		return false
	}
	for i, p := range ps {
		pid, pvisit, pitem := splitPart(p)
		kid, kvisit, kitem := splitPart(ks[i])
		if pid != kid || pvisit != kvisit && pvisit != "*" || pitem != kitem && (pitem != "*" || kitem == "") {
			return false
		}
	}
	return true
}

// splitPart takes a part of a key apart: the id, the visit ("" for the first), and the number of the item.
func splitPart(part string) (id, visit, item string) {
	id = part
	if i := strings.IndexByte(id, '['); i >= 0 {
		rest := id[i+1:]
		id = id[:i]
		end := strings.IndexByte(rest, ']')
		if end < 0 {
			return part, "", ""
		}
		item, visit = rest[:end], strings.TrimPrefix(rest[end+1:], "#")
	}
	if i := strings.IndexByte(id, '#'); i >= 0 {
		id, visit = id[:i], id[i+1:]
	}
	return id, visit, item
}
