package diag

// Expressions.
const (
	ExprSyntax     Code = "FG0201"
	ExprSpelling   Code = "FG0202"
	ExprString     Code = "FG0203"
	ExprNumber     Code = "FG0204"
	ExprSize       Code = "FG0205"
	TemplateSyntax Code = "FG0206"
	UnknownFilter  Code = "FG0207"
	Operands       Code = "FG0208"
	NeverAbsent    Code = "FG0209"
	Arguments      Code = "FG0210"
	BadPattern     Code = "FG0211"
	EnumValue      Code = "FG0212"
	MacroName      Code = "FG0213"
	EmptyList      Code = "FG0214"
)

var exprCodes = []Entry{
	{
		Code:  ExprSyntax,
		Title: "a syntax error in an expression",
		Cause: "The text cannot be read as an expression: a bracket is not closed, a value or an operator is missing, or a character means nothing. The first such place is reported; the rest of the expression is checked once it is fixed.",
		Wrong: `flowgen: 1
name: sample
input: {n: int}
nodes:
  pick:
    let:
      x: $(input.n + 1
output: {x: $pick.x}
`,
		Right: `flowgen: 1
name: sample
input: {n: int}
nodes:
  pick:
    let:
      x: $(input.n + 1)
output: {x: $pick.x}
`,
	},
	{
		Code:  ExprSpelling,
		Title: "an expression in the syntax of another language",
		Cause: "Expressions are a small language with the syntax of CEL: `&&`, `||`, `!`, `==`, `null`, `c ? a : b`. For operators of other languages the message names the equivalent. Comments and map literals are not supported: compute such values in a go node.",
		Wrong: `flowgen: 1
name: sample
input: {ok: bool, n: int}
nodes:
  pick:
    let:
      x: $input.ok and input.n > 1
output: {x: $pick.x}
`,
		Right: `flowgen: 1
name: sample
input: {ok: bool, n: int}
nodes:
  pick:
    let:
      x: $input.ok && input.n > 1
output: {x: $pick.x}
`,
	},
	{
		Code:  ExprString,
		Title: "an invalid string literal",
		Cause: "A string is written between two equal straight quotes on one line. Inside it a backslash starts an escape: \\n \\r \\t \\b \\f \\\\ \\\" \\' \\xHH \\uHHHH \\UHHHHHHHH. A backslash itself, as in patterns, is written twice.",
		Wrong: `flowgen: 1
name: sample
input: {s: string}
nodes:
  pick:
    let:
      x: $input.s.matches("\d+")
output: {x: $pick.x}
`,
		Right: `flowgen: 1
name: sample
input: {s: string}
nodes:
  pick:
    let:
      x: $input.s.matches("\\d+")
output: {x: $pick.x}
`,
	},
	{
		Code:  ExprNumber,
		Title: "a number out of range",
		Cause: "Numbers are decimal: an int has 64 bits, a float has a point or an exponent. An int with a float becomes a float, which holds integers without loss only up to 2^53.",
		Wrong: `flowgen: 1
name: sample
input: {n: int}
nodes:
  pick:
    let:
      x: $input.n > 99999999999999999999
output: {x: $pick.x}
`,
		Right: `flowgen: 1
name: sample
input: {n: int}
nodes:
  pick:
    let:
      x: $input.n > 999999999999999999
output: {x: $pick.x}
`,
	},
	{
		Code:  ExprSize,
		Title: "an expression that is too large",
		Cause: "An expression may be 64 KiB long and nested 200 deep, so that every tool that reads it stays fast. Compute parts of it in let nodes. No short example can show it.",
	},
	{
		Code:  TemplateSyntax,
		Title: "braces without an expression",
		Cause: "In text, `{{` begins an expression and `}}` ends it. Braces that are not closed, or with nothing between them, are a mistake; two braces as text are written `{{ \"{{\" }}`.",
		Wrong: `flowgen: 1
name: sample
input: {s: string}
nodes:
  pick:
    let:
      x: "Hello {{ input.s"
output: {x: $pick.x}
`,
		Right: `flowgen: 1
name: sample
input: {s: string}
nodes:
  pick:
    let:
      x: "Hello {{ input.s }}"
output: {x: $pick.x}
`,
	},
	{
		Code:  UnknownFilter,
		Title: "an unknown filter",
		Cause: "In text, an expression may be followed by one filter: `json` writes any value as JSON, `lines` the items of a list one per line, `join(\", \")` the items with a separator between them.",
		Wrong: `flowgen: 1
name: sample
input: {names: list<string>}
nodes:
  pick:
    let:
      x: "{{ input.names | linse }}"
output: {x: $pick.x}
`,
		Right: `flowgen: 1
name: sample
input: {names: list<string>}
nodes:
  pick:
    let:
      x: "{{ input.names | lines }}"
output: {x: $pick.x}
`,
	},
	{
		Code:  Operands,
		Title: "an operator on values of the wrong type",
		Cause: "Each operator has fixed operand types: `&&`, `||`, `!` take bools, `+` `-` `*` numbers (`+` also strings), `<` and the other comparisons numbers, strings, times and durations, `==` everything but structs, lists, maps and any. Both sides have one type. Nothing is converted, except that an int combined with a float becomes a float.",
		Wrong: `flowgen: 1
name: sample
input: {s: string}
nodes:
  pick:
    let:
      x: $input.s > 3
output: {x: $pick.x}
`,
		Right: `flowgen: 1
name: sample
input: {s: string}
nodes:
  pick:
    let:
      x: $size(input.s) > 3
output: {x: $pick.x}
`,
	},
	{
		Code:  NeverAbsent,
		Title: "a needless test or default of a required value",
		Cause: "The value can never be absent at this point, so the test always has the same result and the default is never used. Remove it; if the value should be optional, declare it so.",
		Wrong: `flowgen: 1
name: sample
input: {n: int}
nodes:
  pick:
    let:
      x: $input.n != null && input.n > 1
output: {x: $pick.x}
`,
		Right: `flowgen: 1
name: sample
input: {n: int}
nodes:
  pick:
    let:
      x: $input.n > 1
output: {x: $pick.x}
`,
	},
	{
		Code:  Arguments,
		Title: "a function called with the wrong arguments",
		Cause: "A function takes a fixed number of arguments, each of a kind: size(x), x.contains(s), x.startsWith(s), x.endsWith(s), x.matches(pattern), xs.exists(x, ...), xs.all(x, ...), xs.map(x, ...), xs.filter(x, ...), default(x, value), first(a, b, ...).",
		Wrong: `flowgen: 1
name: sample
input: {n: int}
nodes:
  pick:
    let:
      x: $size(input.n)
output: {x: $pick.x}
`,
		Right: `flowgen: 1
name: sample
input: {s: string}
nodes:
  pick:
    let:
      x: $size(input.s)
output: {x: $pick.x}
`,
	},
	{
		Code:  BadPattern,
		Title: "an invalid regular expression",
		Cause: "The pattern of `matches` is a string literal in RE2 syntax, so that a mistake in it is found when the workflow is compiled.",
		Wrong: `flowgen: 1
name: sample
input: {s: string}
nodes:
  pick:
    let:
      x: $input.s.matches("(a")
output: {x: $pick.x}
`,
		Right: `flowgen: 1
name: sample
input: {s: string}
nodes:
  pick:
    let:
      x: $input.s.matches("(a)")
output: {x: $pick.x}
`,
	},
	{
		Code:  EnumValue,
		Title: "a string that is not a value of the enum",
		Cause: "The other side of the comparison is an enum, and it never has this value: the comparison would always have the same outcome.",
		Wrong: `flowgen: 1
name: sample
input: {level: enum<low|high>}
nodes:
  pick:
    let:
      x: $input.level == "hihg"
output: {x: $pick.x}
`,
		Right: `flowgen: 1
name: sample
input: {level: enum<low|high>}
nodes:
  pick:
    let:
      x: $input.level == "high"
output: {x: $pick.x}
`,
	},
	{
		Code:  MacroName,
		Title: "a variable that hides another name",
		Cause: "The variable of exists, all, map and filter cannot have the name of another value in scope: a name has one meaning in an expression.",
		Wrong: `flowgen: 1
name: sample
input: {names: list<string>}
nodes:
  pick:
    let:
      x: $input.names.exists(input, size(input) > 3)
output: {x: $pick.x}
`,
		Right: `flowgen: 1
name: sample
input: {names: list<string>}
nodes:
  pick:
    let:
      x: $input.names.exists(name, size(name) > 3)
output: {x: $pick.x}
`,
	},
	{
		Code:  EmptyList,
		Title: "a list or struct literal whose type cannot be inferred",
		Cause: "An empty list, a list of nulls and a literal such as `{\"role\": \"user\"}` have a type only where one is expected: next to another list, as a default, or as an argument of a tool.",
		Wrong: `flowgen: 1
name: sample
input: {n: int}
nodes:
  pick:
    let:
      x: $size([]) + input.n
output: {x: $pick.x}
`,
		Right: `flowgen: 1
name: sample
input: {n: int}
nodes:
  pick:
    let:
      x: $size([1]) + input.n
output: {x: $pick.x}
`,
	},
}
