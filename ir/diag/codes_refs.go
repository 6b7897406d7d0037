package diag

// Names and what they refer to.
const (
	UnknownName     Code = "FG0301"
	UnknownField    Code = "FG0302"
	UnknownFunction Code = "FG0303"
	Unused          Code = "FG0304"
)

var refCodes = []Entry{
	{
		Code:  UnknownName,
		Title: "an undefined name",
		Cause: "An expression or a template names a node, root or variable that does not exist at this point. Correct the spelling, or declare it.",
		Wrong: `flowgen: 1
name: greet
input: {name: string}
nodes:
  hello: {let: {text: "Hello {{ inptu.name }}"}}
output: {text: $hello.text}
`,
		Right: `flowgen: 1
name: greet
input: {name: string}
nodes:
  hello: {let: {text: "Hello {{ input.name }}"}}
output: {text: $hello.text}
`,
	},
	{
		Code:  UnknownField,
		Title: "an unknown field",
		Cause: "The value before the dot is known, and it has no field of that name. Fields are those of the declared type, of the tool's result or of the let node; lists, strings and numbers have none.",
		Wrong: `flowgen: 1
name: sample
types: {Post: {url: string, likes: int}}
input: {post: Post}
nodes:
  pick:
    let:
      x: $input.post.lieks + 1
output: {x: $pick.x}
`,
		Right: `flowgen: 1
name: sample
types: {Post: {url: string, likes: int}}
input: {post: Post}
nodes:
  pick:
    let:
      x: $input.post.likes + 1
output: {x: $pick.x}
`,
	},
	{
		Code:  UnknownFunction,
		Title: "an unknown function",
		Cause: "The table of functions is in language.md, under Expressions: size, string, default, first, exists, all, map, filter, contains, sort, flatten, sum and others. Anything else is computed in a go node.",
		Wrong: `flowgen: 1
name: sample
input: {names: list<string>}
nodes:
  pick:
    let:
      x: $len(input.names)
output: {x: $pick.x}
`,
		Right: `flowgen: 1
name: sample
input: {names: list<string>}
nodes:
  pick:
    let:
      x: $size(input.names)
output: {x: $pick.x}
`,
	},
	{
		Code:  Unused,
		Title: "an unused declaration",
		Cause: "A tool is never called, an input or state field is never read, or the result of a node without effects is not read. It is left over, or its intended reader names something else. Remove it, or use it.",
		Wrong: `flowgen: 1
name: greet
input: {name: string, age: int}
nodes:
  hello: {let: {text: "Hello {{ input.name }}"}}
output: {text: $hello.text}
`,
		Right: `flowgen: 1
name: greet
input: {name: string, age: int}
nodes:
  hello: {let: {text: "Hello {{ input.name }}, {{ input.age }}"}}
output: {text: $hello.text}
`,
	},
}
