package cli

import "strings"

// planServer is a server of a plan.
type planServer struct {
	Name, URL           string
	Command, Env, Tools []string
}

// servers says what is started, or connected to, word for word.
func (w *planWriter) servers(list []planServer) {
	if len(list) == 0 {
		return
	}
	w.b.WriteString("\nservers, from the first call of one of their tools on\n\n")
	for _, s := range list {
		text := s.URL
		if text == "" {
			words := make([]string, len(s.Command))
			for i, word := range s.Command {
				words[i] = shellWord(word)
			}
			text = strings.Join(words, " ")
		}
		if len(s.Env) > 0 {
			text += " with " + strings.Join(s.Env, ", ")
		}
		w.line(1, safe(s.Name)+": "+safe(text)+"; tools "+safe(strings.Join(s.Tools, ", ")))
	}
}

// shellWord is an argument as one would type it.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@%+,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
