package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// completeVerb is what the scripts of completionScripts call with the words of a command line, the last of which is
// being typed.
const completeVerb = "__complete"

// maxCompletions bounds what is offered.
const maxCompletions = 1000

// completionScripts ask PROGRAM what can be used at the cursor; NAME makes a function's name of it. Nothing to offer means
// files.
var completionScripts = map[string]string{
	"bash": `_flowgen_NAME() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <("${COMP_WORDS[0]}" ` + completeVerb + ` "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _flowgen_NAME PROGRAM
`,
	"zsh": `_flowgen_NAME() {
  local -a found
  found=("${(@f)$("$words[1]" ` + completeVerb + ` "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found[1]" ]]; then
    compadd -V names -- "$found[@]"
  else
    _files
  fi
}
compdef _flowgen_NAME PROGRAM
`,
	"fish": `function _flowgen_NAME
  set -l words (commandline -opc)
  set -l found ($words[1] ` + completeVerb + ` $words[2..-1] (commandline -ct) 2>/dev/null)
  if count $found >/dev/null
    printf '%s\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c PROGRAM -f -k -a '(_flowgen_NAME)'
`,
}

// completionCommand prints the script of a shell for the program as it is called.
func completionCommand(s *system, info *flow.Info, args []string) int {
	if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
		return s.print(help(info))
	}
	if len(args) != 1 || completionScripts[args[0]] == "" {
		s.complain(mistake{"completion needs the name of a shell", "write completion bash, completion zsh or completion fish"})
		return ExitUsage
	}
	program := filepath.Base(os.Args[0])
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, program)
	return s.print(strings.NewReplacer("NAME", name, "PROGRAM", shellWord(program)).Replace(completionScripts[args[0]]))
}

// complete prints the names that can be used in place of the last word, one a line. It never fails.
func (s *system) complete(info *flow.Info, words []string) int {
	if len(words) == 0 {
		return ExitOK
	}
	c := &completer{s: s, info: info, verb: "run"}
	last := words[len(words)-1]
	prefix, names := c.names(words[:len(words)-1], last)
	var b strings.Builder
	for n, name := range names {
		if n == maxCompletions {
			break
		}
		b.WriteString(prefix + name + "\n")
	}
	return s.print(b.String())
}

// completer reads the words before the one being typed.
type completer struct {
	s    *system
	info *flow.Info

	verb, dir string
	rest      []string // arguments that are not flags
}

// names are those that the last word can become, and what of the word is before them.
func (c *completer) names(before []string, last string) (prefix string, names []string) {
	first := len(before) == 0
	if !first && slices.Contains(verbs, before[0]) {
		c.verb, before = before[0], before[1:]
	}
	flag := c.read(before)
	typed := last
	switch name, v, ok := strings.Cut(last, "="); {
	case flag != "":
		if last == "=" { // bash makes it a word of its own
			typed = ""
		}
		names = c.values(flag)
	case ok && strings.HasPrefix(name, "-"):
		prefix, typed = name+"=", v
		names = c.values(strings.TrimLeft(name, "-"))
	case strings.HasPrefix(last, "-"):
		for _, f := range verbFlags(c.verb) {
			names = append(names, "--"+f)
		}
		slices.Sort(names)
	case first:
		names = verbs
	default:
		names = c.arguments()
	}
	return prefix, slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !strings.HasPrefix(name, typed) || !shellSafe(name)
	})
}

// read goes through the words of a verb. It returns the flag whose value comes next, if one does.
func (c *completer) read(words []string) (flag string) {
	value := func(v string) {
		if flag == "runs" {
			c.dir = v
		}
		flag = ""
	}
	for i, w := range words {
		switch name, v, ok := strings.Cut(strings.TrimLeft(w, "-"), "="); {
		case flag != "" && w == "=" && i > 0 && strings.HasPrefix(words[i-1], "-"):
		case flag != "":
			value(w)
		case !strings.HasPrefix(w, "-") || w == "-":
			c.rest = append(c.rest, w)
		case ok:
			flag = name
			value(v)
		case !slices.Contains(switches, name):
			flag = name
		}
	}
	return flag
}

// switches are the flags without a value.
var switches = []string{"admin-on-main", "again", "all", "async", "cancel-with-request", "edited", "failed", "help", "json-events", "later", "logs", "missing", "model-may-answer", "no-journal", "no-overlap", "public",
	"quiet", "slow", "unattended", "version", "h", ""}

// verbFlags are the flags of a verb.
func verbFlags(verb string) []string {
	switch verb {
	case "run":
		return runFlagNames
	case "resume":
		return slices.Concat(goOnNames, sharedFlagNames)
	case "respond":
		return slices.Concat([]string{"later"}, goOnNames, sharedFlagNames)
	case "rerun":
		return slices.Concat(rerunFlagNames, sharedFlagNames)
	case "replay":
		return slices.Concat([]string{"missing"}, sharedFlagNames)
	case "serve":
		return serveFlagNames
	case "mcp":
		return mcpFlagNames
	case "prune":
		return slices.Concat([]string{"keep"}, sharedFlagNames)
	case "inspect":
		return inspectFlagNames
	case "graph":
		return graphFlagNames
	case "plan", "manifest":
		return []string{"format", "help"}
	}
	return []string{"help"}
}

// values are those that a flag of the verb can have.
func (c *completer) values(flag string) []string {
	switch flag {
	case "format":
		switch c.verb {
		case "graph":
			return []string{"mermaid", "dot"}
		case "inspect":
			return []string{"text", "json", "jsonl"}
		}
		return []string{"text", "json"}
	case "sync":
		return []string{"off", "buffered", "effect"}
	case "expose":
		return []string{"calls"}
	case "on-restart":
		return []string{"resume", "leave"}
	case "proxy":
		return []string{"environment"}
	case "run":
		return c.runs()
	case "redo", "in-doubt":
		return c.keys((*journal.Journal).Keys)
	case "from":
		names := make([]string, len(c.info.Nodes))
		for i, n := range c.info.Nodes {
			names[i] = n.ID
		}
		return names
	case "node":
		return c.nodes()
	}
	return nil
}

// arguments are those of the verb that are not flags.
func (c *completer) arguments() []string {
	switch {
	case c.verb == "completion" && len(c.rest) == 0:
		return []string{"bash", "zsh", "fish"}
	case !slices.Contains([]string{"resume", "respond", "rerun", "replay", "inspect"}, c.verb):
		return nil
	case len(c.rest) == 0:
		return c.runs()
	case c.verb == "respond" && len(c.rest) == 1:
		return c.keys(func(j *journal.Journal) (keys []string) {
			for _, r := range j.Questions() {
				keys = append(keys, r.Key)
			}
			return slices.Compact(keys)
		})
	case c.verb == "inspect" && len(c.rest) == 1:
		return c.nodes()
	}
	return nil
}

func (c *completer) folder() *runs.Folder {
	f, _, wrong := (&keepFlags{dir: c.dir}).folder(c.s, c.info)
	if wrong != nil {
		return nil
	}
	return f
}

// runs are the runs of the workflow, the latest first.
func (c *completer) runs() []string {
	f := c.folder()
	if f == nil {
		return nil
	}
	ids, err := f.Latest(c.info.Name)
	if err != nil || len(ids) == 0 {
		return nil
	}
	return append([]string{"latest"}, ids...)
}

// keys are those of some calls of the run that the first argument names.
func (c *completer) keys(of func(*journal.Journal) []string) []string {
	f := c.folder()
	if f == nil || len(c.rest) == 0 {
		return nil
	}
	_, j, err := f.NamedLazy(c.info.Name, c.rest[0])
	if err != nil {
		return nil
	}
	return of(j)
}

// nodes are those with calls in the run that the first argument names.
func (c *completer) nodes() (paths []string) {
	for _, key := range c.keys((*journal.Journal).Keys) {
		paths = append(paths, journal.NodePath(key))
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// shellSafe reports whether a shell takes a name as it is. Others are not offered: shells differ in how they quote.
func shellSafe(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./#[]@+,:~") == ""
}
