package stargraph

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

const stdPackage = runtimePackage + "/std"

// A builtin is a tool that comes with the engine and with the runtime.
type builtin struct {
	path, function, doc string
	effects             ir.Effects
	permissions         []string
	params              []*ir.GoParam
	defaults            map[string]string // JSON by parameter
}

// builtins are those tools of the engine that need nothing but this machine and the network, by their keys. Those that need
// a search engine, a database or a service of somebody are bound in flowgen.bindings.yaml.
var builtins = map[string]builtin{
	broker: {nautilusPackage, "BrokerRequest", "Asks the broker of the program.", ir.EffectsReads, []string{"tools:broker_request"},
		[]*ir.GoParam{param("agent_id", schema.StringType), param("intent", schema.StringType)}, nil},
	"std.calculator@1": {stdPackage, "Calculator", "Computes an arithmetic expression.", ir.EffectsNone, nil, []*ir.GoParam{param("expression", schema.StringType)}, nil},
	"std.file_read@1": {stdPackage, "FileRead", "Reads a text file.", ir.EffectsReads, nil,
		[]*ir.GoParam{param("path", schema.StringType), param("max_bytes", schema.IntType)}, map[string]string{"max_bytes": "1000000"}},
	"std.file_write@1": {stdPackage, "FileWrite", "Writes a text file.", ir.EffectsWrites, nil,
		[]*ir.GoParam{param("path", schema.StringType), param("content", schema.StringType), param("append", schema.BoolType)}, map[string]string{"append": "false"}},
	"std.file_list@1": {stdPackage, "FileList", "Lists a folder.", ir.EffectsReads, nil,
		[]*ir.GoParam{param("path", schema.StringType), param("pattern", schema.StringType)}, map[string]string{"path": `"."`, "pattern": `"*"`}},
	"std.http_request@1": {stdPackage, "HTTPRequest", "Sends an HTTP request.", ir.EffectsExternal, nil,
		[]*ir.GoParam{param("url", schema.StringType), param("method", schema.StringType), param("headers", schema.MapOf(schema.StringType)), param("params", schema.MapOf(schema.StringType)),
			param("body", schema.AnyType), param("json_body", schema.AnyType), param("timeout_s", schema.FloatType)},
		map[string]string{"method": `"GET"`, "headers": "{}", "params": "{}", "body": "null", "json_body": "null", "timeout_s": "30"}},
	"std.fetch_page@1": {stdPackage, "FetchPage", "Gets a page of the web.", ir.EffectsReads, nil,
		[]*ir.GoParam{param("url", schema.StringType), param("max_chars", schema.IntType), param("timeout_s", schema.FloatType)}, map[string]string{"max_chars": "20000", "timeout_s": "30"}},
	"std.web_search@1": {stdPackage, "WebSearch", "Searches the web.", ir.EffectsReads, nil,
		[]*ir.GoParam{param("query", schema.StringType), param("max_results", schema.IntType)}, map[string]string{"max_results": "5"}},
	"std.wikipedia@1": {stdPackage, "Wikipedia", "Searches articles of Wikipedia.", ir.EffectsReads, nil,
		[]*ir.GoParam{param("query", schema.StringType), param("lang", schema.StringType), param("limit", schema.IntType), param("timeout_s", schema.FloatType)}, map[string]string{"lang": `"en"`, "limit": "3", "timeout_s": "30"}},
	"std.arxiv@1": {stdPackage, "ArxivSearch", "Searches papers of arXiv.", ir.EffectsReads, nil,
		[]*ir.GoParam{param("query", schema.StringType), param("max_results", schema.IntType), param("timeout_s", schema.FloatType)}, map[string]string{"max_results": "5", "timeout_s": "30"}},
	"std.sql_query@1": {storePackage, "Query", "Asks a database file that is only read.", ir.EffectsReads, nil,
		[]*ir.GoParam{param("database", schema.StringType), param("query", schema.StringType), param("params", schema.ListOf(schema.AnyType)), param("engine", schema.StringType), param("max_rows", schema.IntType)},
		map[string]string{"params": "[]", "engine": `"sqlite"`, "max_rows": "1000"}},
}

// builtin is a tool that comes with the runtime. Stargraph page, "Nautilus broker tool".
func (p *parser) builtin(key ir.Ident) *ir.Tool {
	if key.Name == pythonExec {
		return runTool(key)
	}
	b, ok := builtins[key.Name]
	if !ok {
		return nil
	}
	t := runtimeTool(key, b.path, b.function, b.doc, b.effects, schema.AnyType, b.params...)
	t.Permissions = b.permissions
	if b.effects <= ir.EffectsReads {
		t.Replay = "recorded-result"
	}
	for _, f := range t.In.Fields {
		if d, ok := b.defaults[f.Name]; ok {
			f.Default = &schema.Default{JSON: d, Span: key.Span}
		}
	}
	return t
}
