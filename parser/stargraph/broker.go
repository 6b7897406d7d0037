package stargraph

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

var (
	brokerConfig = &dialect.Shape{What: "the config of a broker node", Keys: []dialect.Key{
		{Name: "agent_id_field", Required: true, Doc: "the state field with the agent's id"},
		{Name: "intent_field", Required: true, Doc: "the state field with the intent"},
		{Name: "output_field", Required: true, Doc: "the state field that gets the response"},
	}}
	artifactConfig = &dialect.Shape{What: "the config of a write_artifact node", Keys: []dialect.Key{
		{Name: "content_field", Required: true, Doc: "the state field with the content"},
		{Name: "name", Required: true, Doc: "what the artifact is called"},
		{Name: "content_type", Doc: "what the content is, as in text/markdown"},
		{Name: "metadata", Doc: "what else is known of it"},
		{Name: "output_field", Doc: "the state field that gets the reference"},
		{Name: "replay_policy", Doc: "must_stub or fail_loud"},
	}}
)

// brokerNode reads a node that asks the broker, as the tool nautilus.broker_request@1 does.
func (p *parser) brokerNode(x *node, m dialect.Mapping) {
	var args []*argument
	for _, k := range []struct{ key, arg string }{{"agent_id_field", "agent_id"}, {"intent_field", "intent"}} {
		if m.Get(k.key) == nil {
			return
		}
		a := p.operand(x, m.Get(k.key), "`"+k.key+"`", "", schema.StringType)
		if a == nil {
			return
		}
		a.key.Name = k.arg
		args = append(args, a)
	}
	out, ok := p.Text(m.Get("output_field"), "`output_field`")
	if !ok {
		return
	}
	key := ir.Ident{Name: broker, Span: x.kind.Span}
	p.call(x, key, p.tool(&key), args, out)
}

// artifactNode reads a node that keeps content in the folder of artifacts.
func (p *parser) artifactNode(x *node, m dialect.Mapping) {
	if m.Get("content_field") == nil {
		return
	}
	content := p.operand(x, m.Get("content_field"), "`content_field`", "", schema.StringType)
	name, named := p.constant(m.Get("name"), "`name`")
	if content == nil || !named {
		return
	}
	content.key.Name, name.key.Name = "content", "name"
	typ, function, suffix := schema.StringType, "WriteText", ""
	if content.whole() {
		switch content.segments[0].field.typ.Kind {
		case schema.String, schema.Enum:
		case schema.Bytes:
			typ, function, suffix = schema.BytesType, "WriteBytes", "_bytes"
		default:
			typ, function, suffix = schema.AnyType, "WriteValue", "_json"
		}
	}
	args := []*argument{content, name}
	if a, ok := p.constant(m.Get("content_type"), "`content_type`"); ok {
		a.key.Name = "content_type"
		args = append(args, a)
	} else {
		args = append(args, &argument{key: ir.Ident{Name: "content_type", Span: x.kind.Span}, constant: text(contentTypes[typ.Kind], x.kind.Span)})
	}
	metadata := ir.Value(&ir.Object{Span: x.kind.Span})
	if n := m.Get("metadata"); n != nil {
		metadata = p.value(n)
	}
	args = append(args, &argument{key: ir.Ident{Name: "metadata", Span: x.kind.Span}, constant: metadata})
	version, replay := "1", "must-stub"
	if n := m.Get("replay_policy"); n != nil && p.Word(n, "`replay_policy`", "must_stub", "fail_loud") == "fail_loud" {
		version, replay = "1-fail-loud", "fail-loud"
	}
	out := ir.Ident{Name: "artifact_ref", Span: x.kind.Span}
	if id, ok := p.Text(m.Get("output_field"), "`output_field`"); ok {
		out = id
	}
	key := ir.Ident{Name: "stargraph.write_artifact" + suffix + "@" + version, Span: x.kind.Span}
	t := p.own(key, func() *ir.Tool {
		t := runtimeTool(key, runtimePackage, function, "Keeps content in the folder of artifacts.", ir.EffectsWrites, schema.AnyType,
			param("content", typ), param("name", schema.StringType), param("content_type", schema.StringType), param("metadata", schema.AnyType))
		t.Replay = replay
		return t
	})
	p.call(x, key, t, args, out)
}

// contentTypes are what content is that nothing is said of.
var contentTypes = map[schema.Kind]string{schema.String: "text/plain", schema.Bytes: "application/octet-stream", schema.Any: "application/json"}
