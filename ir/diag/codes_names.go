package diag

// Names in the generated Go.
const (
	GoNameClash Code = "FG0801"
)

var goCodes = []Entry{
	{
		Code:  GoNameClash,
		Title: "names that collide as Go identifiers",
		Cause: "Ids become Go identifiers without their underscores (fetch_diff is fetchDiff), and types, fields and constants of one package share their names with each other and with what every generated file has: Input, Output, Workflow, New, Info. Generated code never numbers names, so a collision is an error. Rename one of them.",
		Wrong: `flowgen: 1
name: clash
nodes:
  fetch_1: {let: {n: 1}}
  fetch1: {let: {n: 2}}
output: {n: $fetch_1.n, m: $fetch1.n}
`,
		Right: `flowgen: 1
name: clash
nodes:
  fetch_a: {let: {n: 1}}
  fetch_b: {let: {n: 2}}
output: {n: $fetch_a.n, m: $fetch_b.n}
`,
	},
}
