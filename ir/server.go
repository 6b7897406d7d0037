package ir

import "strings"

// Runs is what the server is, on one line: its address, or its command as one would type it.
func (s *Server) Runs() string {
	if s.URL != "" {
		return s.URL
	}
	return CommandLine(s.Command)
}

// CommandLine is a command as one would type it: different commands give different lines.
func CommandLine(args []string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@%+,", r)
	}
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a
		if a == "" || strings.IndexFunc(a, func(r rune) bool { return !plain(r) }) >= 0 {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
