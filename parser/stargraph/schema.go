package stargraph

import (
	"maps"
	"slices"

	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// Schema is a JSON Schema of all three forms, for editors.
func Schema() []byte {
	lm := dialect.Of(lmShape)
	return dialect.FormJSONSchema("A graph of Stargraph", dialect.OneOf(
		dialect.Of(formed(pageShape, forms{"graph": dialect.Scalar, "nodes": dialect.ListOf(nodeForm(page))})),
		dialect.Of(formed(documentShape, forms{
			"ir_version": dialect.Scalar, "id": dialect.Scalar, "nodes": dialect.ListOf(nodeForm(document)), "rules": dialect.ListOf(ruleForm()),
			"tools": dialect.ListOf(dialect.Of(toolRefShape)), "skills": dialect.ListOf(dialect.Of(skillRefShape)), "stores": dialect.ListOf(dialect.Of(storeShape)),
			"state_schema": mapOf(dialect.OneWord(documentTypes...)), "state_class": dialect.Scalar,
			"parallel":   dialect.ListOf(dialect.Of(formed(parallelShape, forms{"targets": dialect.Names, "join": dialect.Scalar, "strategy": dialect.Scalar}))),
			"governance": dialect.ListOf(dialect.Of(formed(packShape, forms{"requires": dialect.Of(requiresShape)}))),
			"migrate":    dialect.ListOf(dialect.Of(migrateShape)), "checkpoints": dialect.Of(formed(checkpointsShape, forms{"every": dialect.OneWord("node-exit", "never")})), "lm": lm,
		})),
		dialect.Of(formed(authoringShape, forms{
			"id": dialect.Scalar, "nodes": mapOf(nodeForm(authoring)), "lm": lm,
			"state":  mapOf(dialect.OneOf(dialect.OneWord(authoringTypes...), dialect.Of(formed(fieldShape, forms{"type": dialect.OneWord(authoringTypes...), "route": dialect.Flag})))),
			"routes": mapOf(dialect.OneOf(dialect.Scalar, mapOf(dialect.Scalar))),
		}))))
}

type forms map[string]dialect.Form

// formed is a shape whose keys have forms.
func formed(s *dialect.Shape, of forms) *dialect.Shape {
	c := *s
	c.Keys = slices.Clone(s.Keys)
	for i, k := range c.Keys {
		if f, ok := of[k.Name]; ok {
			c.Keys[i].Form = f
		}
	}
	return &c
}

func mapOf(f dialect.Form) dialect.Form { return dialect.Form{Kind: dialect.FormMap, Elem: &f} }

// nodeForm is a node of any kind: with its keys in `config`, or next to `kind`. A kind with a colon is a class, with any
// config.
func nodeForm(of form) dialect.Form {
	var all []dialect.Form
	id := dialect.Key{Name: "id", Required: true, Doc: "its name", Form: dialect.Scalar}
	add := func(word dialect.Form, config *dialect.Shape, free bool) {
		kind := dialect.Key{Name: "kind", Required: true, Doc: "what the node does", Form: word}
		s := &dialect.Shape{What: "a node", Keys: []dialect.Key{kind}, Any: free && of != document}
		if of != authoring {
			s.Keys = append([]dialect.Key{id}, s.Keys...)
		}
		switch {
		case of != document && config != nil:
			s.Keys = append(s.Keys, config.Keys...)
		case of == document:
			c := dialect.Map
			if config != nil {
				c = dialect.Of(config)
			}
			s.Keys = append(s.Keys, dialect.Key{Name: "spec", Doc: "the file of a subgraph", Form: dialect.Scalar}, dialect.Key{Name: "config", Doc: "what the kind takes", Form: c})
		}
		all = append(all, dialect.Form{Kind: dialect.FormShape, Shape: s})
	}
	kinds := kinds()
	for _, word := range slices.Sorted(maps.Keys(kinds)) {
		shape := kinds[word].shape
		switch {
		case word == "subgraph" && of == document:
			shape = subgraphConfig
		case word == "tool":
			shape = formed(shape, forms{"tool": dialect.Scalar, "inputs": dialect.Map, "static": dialect.Map, "out": dialect.Scalar})
		}
		if word == "tool" && of == document { // an empty config is none
			add(dialect.OneWord(word), &dialect.Shape{What: "no config"}, false)
		}
		add(dialect.OneWord(word), shape, shape == nil && of == authoring)
	}
	add(dialect.Pattern(":"), nil, true)
	return dialect.OneOf(all...)
}

func ruleForm() dialect.Form {
	var then []dialect.Form
	for _, word := range actionKinds {
		then = append(then, dialect.Of(formed(actions[word], forms{"kind": dialect.OneWord(word), "target": dialect.Scalar, "targets": dialect.Names})))
	}
	return dialect.Of(formed(ruleShape, forms{"id": dialect.Scalar, "when": dialect.OneOf(dialect.Scalar, dialect.Map), "then": dialect.ListOf(dialect.OneOf(then...)), "node_id": dialect.Scalar}))
}
