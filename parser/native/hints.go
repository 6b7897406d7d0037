package native

import "strings"

// A hint is what a JSON Schema says of a key beyond its form: the value that holds when it is not written, and values as examples.
type hint struct {
	unless   any
	examples []any
}

// hints are by shape and key. Keys of every node are those of the shape node.
var hints = map[string]hint{
	"workflow.flowgen":     {examples: []any{1}},
	"workflow.name":        {examples: []any{"triage"}},
	"workflow.description": {examples: []any{"reviews a pull request"}},
	"workflow.include":     {examples: []any{"tools.flowgen.yaml"}},
	"workflow.types":       {examples: []any{map[string]any{"Finding": map[string]any{"line": "int", "text": "string"}}}},
	"workflow.models":      {examples: []any{map[string]any{"fast": map[string]any{"model": "openai:gpt-4o-mini", "max_tokens": 500}}}},
	"workflow.input":       {examples: []any{map[string]any{"question": "string", "limit": map[string]any{"type": "int", "default": 3}}}},
	"workflow.output":      {examples: []any{map[string]any{"answer": "$answer"}}},
	"workflow.secrets":     {examples: []any{[]any{"OPENAI_API_KEY"}}},
	"workflow.edges":       {examples: []any{[]any{"fetch -> plan"}}},

	"field.pattern": {examples: []any{"^[a-z]+$"}},
	"state.merge":   {unless: "last"},
	"secret.from":   {examples: []any{[]any{"user", "org"}}},

	"model.model":      {examples: []any{"openai:gpt-4o-mini", "anthropic:claude-haiku-4-5"}},
	"model.base_url":   {examples: []any{"https://llm.example.com/v1"}},
	"model.max_tokens": {examples: []any{500}},
	"model.stop":       {examples: []any{[]any{"END"}}},

	"server.command": {examples: []any{[]any{"npx", "-y", "@modelcontextprotocol/server-everything"}}},
	"server.url":     {examples: []any{"https://mcp.example.com/mcp"}},
	"auth.header":    {examples: []any{"X-API-Key"}},

	"policy.asks":                 {unless: "allow"},
	"policy.agent.max_iterations": {unless: 10},
	"policy.agent.max_tool_calls": {unless: 25},
	"net.allow":                   {examples: []any{[]any{"api.example.com", "loopback"}}},
	"journal.dir":                 {unless: ".flowgen/runs"},

	"tool.command":         {examples: []any{[]any{"git", "show", "{{ commit }}"}}},
	"tool.shell":           {examples: []any{"sort | uniq -c"}},
	"tool.http":            {examples: []any{"GET https://api.example.com/items/{id}"}},
	"tool.python":          {examples: []any{"shop.prices:price_of"}},
	"tool.js":              {examples: []any{"tools/price.ts"}},
	"tool.mcp":             {examples: []any{"everything/echo"}},
	"tool.wasm":            {examples: []any{"tool.wasm", "tool.wasm#export"}},
	"tool.in":              {examples: []any{map[string]any{"id": "int"}}},
	"tool.timeout":         {unless: "5m"},
	"tool.rate":            {examples: []any{"5/s"}},
	"tool.queue":           {examples: []any{"gpu"}},
	"tool.status":          {unless: "active"},
	"tool.tags":            {examples: []any{[]any{"billing"}}},
	"tool.idempotency_key": {examples: []any{"call_id", "order-{{ id }}"}},
	"tool.on_in_doubt":     {unless: "fail"},
	"openapi.operation":    {examples: []any{"createInvoice", "GET /items/{id}"}},
	"sql.db":               {examples: []any{"ORDERS_DB"}},
	"sql.engine":           {unless: "sqlite"},
	"sql.query":            {examples: []any{"select id, total from orders where customer = {customer}"}},
	"sql.rows":             {unless: "many"},
	"sql.max_rows":         {unless: 1000},
	"http.method":          {unless: "GET"},
	"http.url":             {examples: []any{"https://api.example.com/items/{id}"}},
	"http.headers":         {examples: []any{map[string]any{"Accept": "application/json"}}},

	"node.when":                  {examples: []any{"plan.route == 'review'"}},
	"node.set":                   {examples: []any{map[string]any{"findings": "$scan"}}},
	"node.on_error":              {unless: "fail", examples: []any{"skip", map[string]any{"default": nil}}},
	"node.catch":                 {examples: []any{map[string]any{"TIMEOUT": "later", "any": "report"}}},
	"node.tool.on_in_doubt":      {unless: "fail"},
	"node.tool_call.on_in_doubt": {unless: "fail"},
	"undo.on_in_doubt":           {unless: "fail"},
	"node.map.parallel":          {unless: 8},
	"node.map.max_items":         {unless: 1000},
	"node.map.on_item_error":     {unless: "fail"},
	"node.fail.code":             {unless: "PROVIDER_ERROR"},
	"node.wait.wait":             {examples: []any{"10m"}},
	"node.human.human":           {examples: []any{"Send it to {{ input.customer }}?"}},
	"loop.on_max":                {unless: "fail"},

	"retry.attempts": {examples: []any{3}},
	"retry.codes":    {unless: []any{"RATE_LIMIT", "TIMEOUT", "NETWORK_ERROR", "PROVIDER_ERROR"}},
	"retry.backoff":  {unless: "exponential"},
	"retry.base":     {unless: "500ms"},
	"retry.cap":      {unless: "30s"},
	"retry.jitter":   {unless: 0},

	"pin.strategy":      {unless: "latest"},
	"pin.on_missing":    {unless: "skip"},
	"edge.switch.cases": {examples: []any{map[string]any{"review": "review", "skip": "end"}}},
}

// formExamples are for keys without examples of their own.
var formExamples = map[FormKind][]any{
	FormDuration: {"30s", "1h30m", "2d"},
	FormSize:     {"2MiB"},
	FormMoney:    {0.5},
	FormGo:       {"./tools.Search", "example.com/shop/tools.Search"},
	FormType:     {"string", "list<Finding>", "opt<int>"},
}

// hinted adds what is known of a key to its schema.
func hinted(shape string, k *Key, o object) object {
	h, ok := hints[shape+"."+k.Name]
	if !ok && strings.HasPrefix(shape, shapeNode.Name+".") {
		h = hints[shapeNode.Name+"."+k.Name]
	}
	if h.unless != nil {
		o = append(o, member{"default", h.unless})
	}
	if h.examples == nil {
		h.examples = formExamples[k.Value.Kind]
	}
	if h.examples != nil {
		o = append(o, member{"examples", h.examples})
	}
	return o
}
