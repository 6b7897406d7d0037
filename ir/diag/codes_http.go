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
		Cause: "A URL starts with https:// or http:// and names its host in the file: a value can be a part of the path or of the query, `{id}` for one segment and `{+path}` for several, or the port, but never the host, so data cannot redirect a request to another host. Names in braces are fields of the tool's `in`. Users, passwords, fragments, spaces and `..` segments are not allowed. `policy.net.allow` lists `loopback`, `private`, addresses, ranges and host names.",
		Wrong: httpTool(`{http: "GET https://{id}.example.com/item", in: {id: int}, out: string}`),
		Right: httpTool(`{http: "GET https://example.com/items/{id}", in: {id: int}, out: string}`),
	},
	{
		Code:  BadRequest,
		Title: "a request with a forbidden part",
		Cause: "The client sets connection headers (Host, Content-Length and others) itself, and a header is one line. GET and HEAD requests have no body. Text that is declared as JSON, XML or a form cannot contain values in double braces, because a value could change the document. Write the body as a mapping, which is encoded.",
		Wrong: httpTool(`{http: {method: POST, url: "https://example.com/items", headers: {Content-Type: application/json}, body: '{"id": "{{ id }}"}'}, in: {id: int}, out: string, effects: reads}`),
		Right: httpTool(`{http: {method: POST, url: "https://example.com/items", body: {id: $id}}, in: {id: int}, out: string, effects: reads}`),
	},
}
