package diag

import "strings"

// The YAML itself.
const (
	YAMLSyntax    Code = "FG0001"
	YAMLTab       Code = "FG0002"
	YAMLQuote     Code = "FG0003"
	YAMLDuplicate Code = "FG0004"
	YAMLKey       Code = "FG0005"
	YAMLMerge     Code = "FG0006"
	YAMLTag       Code = "FG0007"
	YAMLAnchor    Code = "FG0008"
	YAMLDocuments Code = "FG0009"
	YAMLLimit     Code = "FG0010"
	YAMLCharacter Code = "FG0011"
)

var yamlCodes = []Entry{
	{
		Code:  YAMLSyntax,
		Title: "text that is not YAML",
		Cause: "The file breaks a rule of YAML: a bracket or a quote is not closed, indentation is inconsistent, a colon is missing, or the file is empty.",
		Wrong: `flowgen: 1
name: greet
nodes:
  hello: {let: {text: Hello}
`,
		Right: `flowgen: 1
name: greet
nodes:
  hello: {let: {text: Hello}}
output: {text: $hello.text}
`,
	},
	{
		Code:  YAMLTab,
		Title: "a tab as indentation",
		Cause: "YAML is indented with spaces; a tab has no defined width and is refused.",
		Wrong: "flowgen: 1\nname: greet\nnodes:\n\thello: {let: {text: Hello}}\n",
		Right: "flowgen: 1\nname: greet\nnodes:\n  hello: {let: {text: Hello}}\noutput: {text: $hello.text}\n",
	},
	{
		Code:  YAMLQuote,
		Title: "unquoted text that YAML truncates",
		Cause: "Without quotes, YAML reads `{{` as the start of a mapping, ends text at ` #`, and splits it at `: `, in brackets at commas too. Put the entire text in quotes.",
		Wrong: `flowgen: 1
name: greet
input: {who: string}
nodes:
  hello: {let: {text: {{ input.who }}}}
`,
		Right: `flowgen: 1
name: greet
input: {who: string}
nodes:
  hello: {let: {text: "{{ input.who }}"}}
output: {text: $hello.text}
`,
	},
	{
		Code:  YAMLDuplicate,
		Title: "a duplicate key in a mapping",
		Cause: "Of two equal keys, one would be lost silently. Remove or rename one.",
		Wrong: `flowgen: 1
name: greet
nodes:
  hello: {let: {text: Hello}}
  hello: {let: {text: Bye}}
`,
		Right: `flowgen: 1
name: greet
nodes:
  hello: {let: {text: Hello}}
  bye: {let: {text: Bye}}
output: {hello: $hello.text, bye: $bye.text}
`,
	},
	{
		Code:  YAMLKey,
		Title: "a key that is not text",
		Cause: "The key of a mapping is a word. YAML also allows lists and mappings as keys, but no workflow needs them: usually braces or brackets are missing their quotes.",
		Wrong: `flowgen: 1
name: greet
nodes:
  hello: {let: {[a, b]: Hello}}
`,
		Right: `flowgen: 1
name: greet
nodes:
  hello: {let: {a: Hello, b: Hello}}
output: {a: $hello.a}
`,
	},
	{
		Code:  YAMLMerge,
		Title: "a merge key",
		Cause: "The key `<<` copies entries invisibly, and YAML parsers disagree about its meaning. Repeat the keys, or use `defaults:`.",
		Wrong: `flowgen: 1
name: greet
tools:
  today: {command: [date], out: string, effects: reads}
nodes:
  date: {<<: {timeout: 3s}, tool: today}
`,
		Right: `flowgen: 1
name: greet
tools:
  today: {command: [date], out: string, effects: reads}
nodes:
  date: {timeout: 3s, tool: today}
output: {date: $date}
`,
	},
	{
		Code:  YAMLTag,
		Title: "an unsupported tag",
		Cause: "Tags such as `!foo` change how YAML is parsed. Workflows only have the tags of YAML's core schema. Remove it, or quote text that starts with an exclamation mark.",
		Wrong: `flowgen: 1
name: greet
nodes:
  hello: {let: {text: !loud Hello}}
`,
		Right: `flowgen: 1
name: greet
nodes:
  hello: {let: {text: "!loud Hello"}}
output: {text: $hello.text}
`,
	},
	{
		Code:  YAMLAnchor,
		Title: "an undefined or recursive alias",
		Cause: "`*name` repeats the value marked `&name` earlier in the file. The anchor is missing, or it contains the alias. Quote text that starts with an asterisk.",
		Wrong: `flowgen: 1
name: greet
nodes:
  hello: {let: {text: *hello}}
`,
		Right: `flowgen: 1
name: greet
nodes:
  hello: {let: {text: "*hello"}}
output: {text: $hello.text}
`,
	},
	{
		Code:  YAMLDocuments,
		Title: "several documents in one file",
		Cause: "`---` starts a second document. A file contains one workflow; split it in two.",
		Wrong: `flowgen: 1
name: greet
nodes:
  hello: {let: {text: Hello}}
---
flowgen: 1
name: bye
nodes:
  bye: {let: {text: Bye}}
`,
		Right: `flowgen: 1
name: greet
nodes:
  hello: {let: {text: Hello}}
output: {text: $hello.text}
`,
	},
	{
		Code:  YAMLLimit,
		Title: "a file that is too large, too deep, or repeats too much",
		Cause: "Files are limited in size, depth and alias expansion, far above normal files, so a hostile file cannot exhaust the machine. Split it and use `include:`.",
		Wrong: "flowgen: 1\nname: greet\nnodes:\n  hello: {let: {text: " + deep + "}}\n",
		Right: "flowgen: 1\nname: greet\nnodes:\n  hello: {let: {text: [[1]]}}\noutput: {text: $hello.text}\n",
	},
	{
		Code:  YAMLCharacter,
		Title: "invalid UTF-8 or invisible characters",
		Cause: "Control characters, unusual line separators and marks that change the direction of text disguise the content of a file. Write them as escapes in double quotes: `\"\\u2028\"`.",
		Wrong: "flowgen: 1\nname: greet\nnodes:\n  hello: {let: {text: \"Hello\u2028\"}}\n",
		Right: "flowgen: 1\nname: greet\nnodes:\n  hello: {let: {text: \"Hello\\u2028\"}}\noutput: {text: $hello.text}\n",
	},
}

// deep is a list in a list in a list, deeper than anything needs to be.
var deep = strings.Repeat("[", 150) + strings.Repeat("]", 150)
