package diag

// HTTP tools, from FG0650.
const (
	BadURL     Code = "FG0650"
	BadRequest Code = "FG0651"
)

// httpTool is a workflow that sends one request.
func httpTool(tool string) string {
	return `flowgen: 1
name: items
input: {id: int}
tools:
  item: ` + tool + `
nodes:
  found: {tool: item, with: {id: $input.id}}
output: {item: $found}
`
}

var httpCodes = []Entry{
	{
		Code:  BadURL,
		Title: "an invalid URL",
		Cause: "A URL starts with https:// or http:// and names its host in the file: a value can be a part of the path or of the query, `{id}` for one segment and `{+path}` for several, or the port, but never the host, so that nothing a workflow reads can send a request elsewhere. Names in braces are fields of the tool's `in`. There are no users, passwords, fragments, spaces or `..` segments. `policy.net.allow` holds `loopback`, `private`, addresses, ranges and names of hosts.",
		Wrong: httpTool(`{http: "GET https://{id}.example.com/item", in: {id: int}, out: string}`),
		Right: httpTool(`{http: "GET https://example.com/items/{id}", in: {id: int}, out: string}`),
	},
	{
		Code:  BadRequest,
		Title: "a request that says something it must not",
		Cause: "Headers of the connection (Host, Content-Length and the like) are set by the connection, and a header is one line. GET and HEAD requests have no body. Text that is declared as JSON, XML or a form holds no values in double braces, because a value could change the document: written as a mapping, the body is encoded.",
		Wrong: httpTool(`{http: {method: POST, url: "https://example.com/items", headers: {Content-Type: application/json}, body: '{"id": "{{ id }}"}'}, in: {id: int}, out: string, effects: reads}`),
		Right: httpTool(`{http: {method: POST, url: "https://example.com/items", body: {id: $id}}, in: {id: int}, out: string, effects: reads}`),
	},
}
