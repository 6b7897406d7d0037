package serve

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// object is an object of a JSON document. Its keys are written in their order, so that a document is always the same bytes.
type object = map[string]any

// InputSchema is the JSON Schema of inputs: what requests are held to.
func (w *Workflow) InputSchema() json.RawMessage {
	return w.schema(&value.Schemas{}, w.In)
}

// OutputSchema is the JSON Schema of outputs.
func (w *Workflow) OutputSchema() json.RawMessage {
	return w.schema(&value.Schemas{Encoded: true}, w.Out)
}

func (w *Workflow) schema(s *value.Schemas, t reflect.Type) json.RawMessage {
	root := w.documented(s.Of(t), s.Encoded)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	if len(s.Defs) > 0 {
		root["$defs"] = s.Defs
	}
	return encode(root)
}

// documented adds what the workflow says about its fields.
func (w *Workflow) documented(schema object, out bool) object {
	fields := w.Info.Input
	if out {
		fields = w.Info.Output
	}
	properties, _ := schema["properties"].(object)
	for _, f := range fields {
		if required, ok := schema["required"].([]string); ok && !out && f.Default != "" { // as the command line has it
			schema["required"] = slices.DeleteFunc(required, func(name string) bool { return name == f.Name })
			if p, ok := properties[f.Name].(object); ok && p["$ref"] == nil {
				p["default"] = json.RawMessage(f.Default)
			}
		}
		if p, ok := properties[f.Name].(object); ok && f.Description != "" && p["$ref"] == nil {
			p["description"] = f.Description
		}
	}
	return schema
}

func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // of this package's making
	}
	return bytes.TrimSpace(b.Bytes())
}

// document is the OpenAPI document of all workflows.
func document(workflows map[string]*Workflow, names []string, o *Options) []byte {
	schemas := object{}
	paths := object{}
	titles := map[string]bool{}
	for _, name := range names {
		w := workflows[name]
		title := typeName(name)
		for n := 2; titles[title]; n++ { // as of release-notes and release_notes
			title = typeName(name) + strconv.Itoa(n)
		}
		titles[title] = true
		for _, of := range []struct {
			name string
			t    reflect.Type
			out  bool
		}{{title + "Input", w.In, false}, {title + "Output", w.Out, true}} {
			s := &value.Schemas{Ref: "#/components/schemas/" + of.name + ".", Encoded: of.out}
			schemas[of.name] = w.documented(s.Of(of.t), of.out)
			for n, d := range s.Defs {
				schemas[of.name+"."+n] = d
			}
		}
		inputs, outputs := w.examples(o.Examples[name])
		body := content(ref(title + "Input"))
		if len(inputs) > 0 {
			body["application/json"].(object)["examples"] = inputs
		}
		if len(outputs) > 0 {
			schemas[title+"Output"].(object)["examples"] = outputs
		}
		schemas[title+"Run"] = object{"allOf": []any{ref("Run"), object{"type": "object", "properties": object{"output": ref(title + "Output")}}}}
		paths["/v1/workflows/"+url.PathEscape(name)+"/runs"] = object{"post": object{
			"operationId": "begin" + title, "summary": "Start a run of " + name, "description": w.Info.Description, "tags": []string{name},
			"parameters": []any{
				parameter("Idempotency-Key", "header", "starts one run, however often it is sent", object{"type": "string", "minLength": 1, "maxLength": 255}),
				parameter("Prefer", "header", "wait=N waits up to N seconds for the run to finish", object{"type": "string"}),
				parameter("fail", "query", "a failed run is answered with the status of its error code", object{"type": "string", "enum": []string{"status"}}),
			},
			"requestBody": object{"required": true, "content": body},
			"responses": responses(object{
				"200": replied("the run of the key", ref(title+"Run")),
				"201": replied("the run has ended", ref(title+"Run")),
				"202": replied("the run is running or waits for answers", ref(title+"Run")),
			}),
		}}
	}
	maps.Copy(schemas, shapes())
	maps.Copy(paths, common())
	doc := object{
		"openapi": "3.1.0",
		"info":    object{"title": strings.Join(names, ", "), "version": "1", "description": "Workflows, served by flowgen."},
		"servers": []any{object{"url": "/"}},
		"paths":   paths,
		"components": object{"schemas": schemas, "responses": object{
			"Problem": object{"description": "what is wrong", "content": object{"application/problem+json": object{"schema": ref("Problem")}}},
		}},
	}
	if o.Auth != nil {
		doc["components"].(object)["securitySchemes"] = object{"bearer": object{"type": "http", "scheme": "bearer"}}
		doc["security"] = []any{object{"bearer": []string{}}}
	}
	return encode(doc)
}

// common are the requests that are the same for all workflows.
func common() object {
	id := parameter("id", "path", "the run", object{"type": "string"})
	key := parameter("key", "path", "the key of the question", object{"type": "string"})
	wait := parameter("Prefer", "header", "wait=N waits up to N seconds for the run to finish", object{"type": "string"})
	op := func(name, summary string, parameters []any, ok object) object {
		o := object{"operationId": name, "summary": summary, "responses": responses(ok)}
		if parameters != nil {
			o["parameters"] = parameters
		}
		return o
	}
	with := func(o object, body object) object {
		o["requestBody"] = object{"required": true, "content": content(body)}
		return o
	}
	list := func(name string, of object) object {
		return object{"type": "object", "properties": object{name: object{"type": "array", "items": of}, "next": object{"type": "string"}, "more": object{"type": "boolean"}}, "required": []string{name}}
	}
	text := object{"type": "string"}
	return object{
		"/v1/workflows":        object{"get": op("listWorkflows", "The workflows", nil, object{"200": replied("all of them", list("workflows", object{"type": "object", "additionalProperties": text}))})},
		"/v1/workflows/{name}": object{"get": op("getWorkflow", "One workflow, with its schemas and manifest", []any{parameter("name", "path", "the workflow", text)}, object{"200": replied("the workflow", object{"type": "object"})})},
		"/v1/runs": object{"get": op("listRuns", "Runs, newest first", []any{
			parameter("workflow", "query", "of this workflow", text), parameter("state", "query", "in this state", ref("State")),
			parameter("before", "query", "older than this run: next of the previous page", text),
			parameter("limit", "query", "how many", object{"type": "integer", "minimum": 1, "maximum": maxPage}),
		}, object{"200": replied("a page", list("runs", ref("Run")))})},
		"/v1/runs/{id}": object{
			"get":    op("getRun", "One run", []any{id, wait}, object{"200": replied("the run", ref("Run")), "304": object{"description": "as the ETag says"}}),
			"delete": op("removeRun", "Remove a finished run", []any{id}, object{"204": object{"description": "it is removed"}}),
		},
		"/v1/runs/{id}/output": object{"get": op("getOutput", "The output alone", []any{id}, object{"200": replied("the output", object{})})},
		"/v1/runs/{id}/calls":  object{"get": op("getCalls", "Inputs and outputs of calls, if the server exposes them", []any{id}, object{"200": replied("envelopes", list("calls", object{"type": "object"}))})},
		"/v1/runs/{id}/calls/{key}": object{"get": op("getCall", "Inputs and outputs of the attempts of one call, if the server exposes them",
			[]any{id, parameter("key", "path", "the key of the call", text)}, object{"200": replied("envelopes", list("calls", object{"type": "object"}))})},
		"/v1/runs/{id}/events": object{"get": op("followRun", "Events of a run, as server-sent events", []any{id,
			parameter("Last-Event-ID", "header", "continue after this event", text), parameter("from", "query", "the same", text)},
			object{"200": object{"description": "events", "content": object{"text/event-stream": object{"schema": text}, "application/x-ndjson": object{"schema": text}}}, "204": object{"description": "the stream has no events after this one"}})},
		"/v1/runs/{id}/cancel": object{"post": op("cancelRun", "Cancel a run", []any{id, wait}, object{"202": replied("the run is cancelled", ref("Run"))})},
		"/v1/runs/{id}/resume": object{"post": with(op("resumeRun", "Resume a stopped run", []any{id, wait}, object{"202": replied("it goes on", ref("Run"))}),
			object{"type": "object", "properties": object{"again": object{"type": "boolean", "default": false}, "in_doubt": object{"type": "object", "additionalProperties": object{}}}, "additionalProperties": false})},
		"/v1/runs/{id}/rerun": object{"post": with(op("rerun", "Start a new run with the results of this one", []any{id, wait}, object{"201": replied("the new run is finished", ref("Run")), "202": replied("it goes on", ref("Run"))}),
			object{"type": "object", "properties": object{
				"from": object{"type": "string", "description": "this node and its successors are executed again"},
				"set":  object{"type": "object", "description": "changed inputs and results, by paths such as input.euros or plan.route", "additionalProperties": object{}},
			}, "additionalProperties": false})},
		"/v1/questions": object{"get": op("listQuestions", "Open questions of all runs", nil, object{"200": replied("the questions", list("questions", ref("Question")))})},
		"/v1/runs/{id}/questions/{key}": object{
			"get": op("getQuestion", "An open question", []any{id, key}, object{"200": replied("the question", ref("Question"))}),
			"put": with(op("answerQuestion", "Answer a question and continue the run", []any{id, key, wait}, object{"200": replied("the run", ref("Run"))}),
				object{"type": "object", "properties": object{"answer": object{"type": []string{"string", "number", "boolean"}}, "comment": text}, "required": []string{"answer"}, "additionalProperties": false}),
		},
	}
}

// shapes are the schemas of answers, of the very types that are written.
func shapes() object {
	s := &value.Schemas{Ref: "#/components/schemas/"}
	out := object{
		"State":   object{"type": "string", "enum": []state{running, waiting, succeeded, failed, cancelled, inDoubt, stopped}},
		"Problem": open(s.Of(reflect.TypeFor[problem]())),
		"Run":     open(s.Of(reflect.TypeFor[run]())),
	}
	properties := out["Run"].(object)["properties"].(object)
	properties["state"] = ref("State")
	properties["questions"] = object{"type": "array", "items": ref("Question")}
	properties["error"], properties["usage"] = ref("Failure"), ref("Usage")
	out["Problem"].(object)["properties"].(object)["errors"] = object{"type": "array", "items": ref("Mistake")}
	for name, t := range map[string]reflect.Type{"Question": reflect.TypeFor[question](), "Failure": reflect.TypeFor[failure](), "Usage": reflect.TypeFor[took](), "Mistake": reflect.TypeFor[mistake]()} {
		out[name] = open(s.Of(t))
	}
	out["Usage"].(object)["properties"].(object)["cost_usd"] = object{"type": "string"}
	return out
}

// open allows fields of later versions, and null where a field may be absent is never written.
func open(schema object) object {
	delete(schema, "additionalProperties")
	for name, p := range schema["properties"].(object) {
		if list, ok := p.(object)["anyOf"].([]any); ok {
			schema["properties"].(object)[name] = list[0]
		}
	}
	return schema
}

func ref(name string) object { return object{"$ref": "#/components/schemas/" + name} }

func content(schema object) object { return object{"application/json": object{"schema": schema}} }

func replied(what string, schema object) object {
	return object{"description": what, "content": content(schema)}
}

func responses(ok object) object {
	ok["default"] = object{"$ref": "#/components/responses/Problem"}
	return ok
}

func parameter(name, in, description string, schema object) object {
	p := object{"name": name, "in": in, "description": description, "schema": schema}
	if in == "path" {
		p["required"] = true
	}
	return p
}

// typeName is the name of a workflow as that of a type: release-notes is ReleaseNotes.
func typeName(workflow string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.TrimSuffix(engine.RunIDPrefix(workflow), "-"), "-") {
		for word := range strings.SplitSeq(part, "_") {
			if word != "" {
				b.WriteString(strings.ToUpper(word[:1]) + word[1:])
			}
		}
	}
	return b.String()
}

func (s *Server) openAPI(w http.ResponseWriter, _ *http.Request, _ *Principal) error {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(s.document) // the client has gone
	return nil
}
