package otel

import "go.opentelemetry.io/otel/attribute"

// The semantic conventions for generative AI, as of semantic-conventions 1.41.0, the last release that holds them, and of
// semantic-conventions-genai, which they moved to, for invoke_workflow and gen_ai.workflow.name. They are written here
// because no stable Go package has them: a new version of the conventions is a change of this file.
const (
	opWorkflow = "invoke_workflow"
	opAgent    = "invoke_agent"
	opChat     = "chat"
	opTool     = "execute_tool"

	operationName = attribute.Key("gen_ai.operation.name")
	workflowName  = attribute.Key("gen_ai.workflow.name")
	agentName     = attribute.Key("gen_ai.agent.name")
	providerName  = attribute.Key("gen_ai.provider.name")
	requestModel  = attribute.Key("gen_ai.request.model")
	responseModel = attribute.Key("gen_ai.response.model")
	inputTokens   = attribute.Key("gen_ai.usage.input_tokens")
	cachedTokens  = attribute.Key("gen_ai.usage.cache_read.input_tokens")
	outputTokens  = attribute.Key("gen_ai.usage.output_tokens")
	tokenType     = attribute.Key("gen_ai.token.type")
	toolName      = attribute.Key("gen_ai.tool.name")
	toolCallID    = attribute.Key("gen_ai.tool.call.id")
	toolType      = attribute.Key("gen_ai.tool.type")
	toolArguments = attribute.Key("gen_ai.tool.call.arguments")
	toolResult    = attribute.Key("gen_ai.tool.call.result")
	errorType     = attribute.Key("error.type")
)

// What the conventions have no names for.
const (
	runID        = attribute.Key("flowgen.run.id")
	nodeKey      = attribute.Key("flowgen.node.key")
	nodePosition = attribute.Key("flowgen.node.position")
	toolVersion  = attribute.Key("flowgen.tool.version")
	effects      = attribute.Key("flowgen.effects")
	attemptNo    = attribute.Key("flowgen.attempt")
	replayed     = attribute.Key("flowgen.replayed")
	cached       = attribute.Key("flowgen.cached")
	costUSD      = attribute.Key("flowgen.cost_usd") // a decimal, as text
	outcome      = attribute.Key("flowgen.run.outcome")
	tenant       = attribute.Key("flowgen.tenant")
	verdict      = attribute.Key("flowgen.policy.verdict") // allowed, denied
	modelInput   = attribute.Key("flowgen.model.input")    // of the turn: what is new since the one before
	modelOutput  = attribute.Key("flowgen.model.output")
)

// wellKnown are the providers that the conventions spell in their own way.
var wellKnown = map[string]string{"openai-responses": "openai", "gemini": "gcp.gemini", "mistral": "mistral_ai", "xai": "x_ai", "bedrock": "aws.bedrock"}

// conventional is the name of a provider in the conventions.
func conventional(provider string) string {
	if known := wellKnown[provider]; known != "" {
		return known
	}
	return provider
}
