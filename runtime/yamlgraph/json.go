package yamlgraph

import (
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// FindJSON finds JSON in the text of an answer, as the engine does: the entire text; what is in a fence with the word
// json, in any fence; the first braces, or else brackets, that hold no others; the first ones with what is nested in them.
// Without any it is the text without the space around it.
func FindJSON(text string) value.Value {
	whole := strings.TrimSpace(text)
	for _, find := range []func(string) (string, bool){
		func(s string) (string, bool) { return s, s != "" },
		func(s string) (string, bool) { return fence(s, "```json") },
		func(s string) (string, bool) { return fence(s, "```") },
		func(s string) (string, bool) { return flat(s, '{', '}') },
		func(s string) (string, bool) { return flat(s, '[', ']') },
		func(s string) (string, bool) { return balanced(s, '{', '}') },
		func(s string) (string, bool) { return balanced(s, '[', ']') },
	} {
		part, ok := find(whole)
		if !ok {
			continue
		}
		if v, err := value.Parse([]byte(part)); err == nil {
			return v
		}
	}
	return value.String(whole)
}

// fence is what is in the first fence that begins so.
func fence(s, begin string) (string, bool) {
	_, inner, ok := strings.Cut(s, begin)
	if !ok {
		return "", false
	}
	inner, _, ok = strings.Cut(inner, "```")
	return strings.TrimSpace(inner), ok
}

// flat is the first pair of brackets that hold no others.
func flat(s string, open, close byte) (string, bool) {
	end := strings.IndexByte(s, close)
	for end >= 0 {
		if begin := strings.LastIndexByte(s[:end], open); begin >= 0 {
			return s[begin : end+1], true
		}
		next := strings.IndexByte(s[end+1:], close)
		if next < 0 {
			break
		}
		end += 1 + next
	}
	return "", false
}

// balanced is what stands from the first bracket to the one that closes it; brackets in strings do not count.
func balanced(s string, open, close byte) (string, bool) {
	begin := strings.IndexByte(s, open)
	if begin < 0 {
		return "", false
	}
	depth, quoted := 0, false
	for i := begin; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == open:
			depth++
		case c == close:
			if depth--; depth == 0 {
				return s[begin : i+1], true
			}
		}
	}
	return "", false
}
