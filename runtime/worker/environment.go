package worker

import "os"

// inherited are the variables of this process that tools see. The list is part of the language: everything else,
// secrets above all, must be named.
var inherited = [...]string{"PATH", "HOME", "LANG", "TZ", "TMPDIR"}

// Environment returns PATH, HOME, LANG, TZ and TMPDIR of this process, as far as they are set, and extra. Of two entries
// with one key the later counts. It is never nil, which would stand for everything.
func Environment(extra ...string) []string {
	env := make([]string, 0, len(inherited)+len(extra))
	for _, key := range inherited {
		if v, ok := os.LookupEnv(key); ok {
			env = append(env, key+"="+v)
		}
	}
	return append(env, extra...)
}
