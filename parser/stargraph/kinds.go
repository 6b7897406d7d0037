package stargraph

import (
	"maps"
	"slices"

	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// A kind is a kind of nodes.
type kind struct {
	shape *dialect.Shape // of its config; in the page's form and the authoring format the keys are next to `kind`
	read  func(p *parser, x *node, m dialect.Mapping)
}

// kinds are all kinds of nodes. Those without a reader do nothing. It is a function, because readers look kinds up.
func kinds() map[string]kind {
	return map[string]kind{
		"echo": {}, "halt": {}, "passthrough": {},
		"tool": {toolConfig, (*parser).toolNode}, "template": {templateConfig, (*parser).templateNode},
		"reason": {reasonConfig, (*parser).reasonNode}, "summarize": {summarizeConfig, (*parser).summarizeNode}, "classify": {classifyConfig, (*parser).classifyNode},
		"extract": {extractConfig, (*parser).extractNode}, "judge": {judgeConfig, (*parser).judgeNode}, "plan": {planConfig, (*parser).planNode},
		"dspy": {dspyConfig, (*parser).dspyNode}, "react": {reactConfig, (*parser).reactNode},
		"code": {codeConfig, (*parser).codeNode}, "ml": {mlConfig, (*parser).mlNode}, "rag": {ragConfig, (*parser).ragNode},
		"interrupt": {interruptConfig, (*parser).interruptNode}, "subgraph": {subgraphBeside, (*parser).subgraphNode},
		"broker": {brokerConfig, (*parser).brokerNode}, "write_artifact": {artifactConfig, (*parser).artifactNode},
	}
}

func kindWords() []string { return slices.Sorted(maps.Keys(kinds())) }
