package main

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
)

var eino = peer{
	"W1": func(ctx context.Context, _ string) (operation, error) {
		chain := compose.NewChain[message, message]()
		for range nodes {
			chain.AppendLambda(compose.InvokableLambda(func(_ context.Context, m message) (message, error) { return step(m) }))
		}
		run, err := chain.Compile(ctx, compose.WithMaxRunSteps(nodes+10))
		return func(ctx context.Context) error {
			out, err := run.Invoke(ctx, message{Text: "hello"})
			if err == nil && out.Count != nodes {
				err = wrong(out)
			}
			return err
		}, err
	},
	"W2": func(ctx context.Context, _ string) (operation, error) {
		node, err := einoTool(ctx, "double", double)
		calls := make([]schema.ToolCall, items)
		for i := range calls {
			arguments, _ := json.Marshal(item{int64(i)}) // of a number
			calls[i] = schema.ToolCall{ID: strconv.Itoa(i), Function: schema.FunctionCall{Name: "double", Arguments: string(arguments)}}
		}
		return func(ctx context.Context) error {
			out, err := node.Invoke(ctx, schema.AssistantMessage("", calls))
			if err == nil && (len(out) != items || out[17].ToolCallID != "17") {
				err = wrong(len(out))
			}
			return err
		}, err
	},
	"W5": func(ctx context.Context, server string) (operation, error) {
		node, err := einoTool(ctx, "fetch", func(ctx context.Context, in wanted) (pulled, error) { return fetch(ctx, server, in) })
		call := schema.AssistantMessage("", []schema.ToolCall{{ID: "1", Function: schema.FunctionCall{Name: "fetch", Arguments: `{"n":42}`}}})
		return func(ctx context.Context) error {
			out, err := node.Invoke(ctx, call)
			if err == nil && len(out) != 1 {
				err = wrong(len(out))
			}
			return err
		}, err
	},
	"W7": func(ctx context.Context, server string) (operation, error) {
		model, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{APIKey: token, BaseURL: server, Model: "fake", HTTPClient: client})
		if err != nil {
			return nil, err
		}
		adds, err := utils.InferTool("add", "Adds two numbers.", add)
		if err != nil {
			return nil, err
		}
		agent, err := react.NewAgent(ctx, &react.AgentConfig{
			ToolCallingModel: model, MaxStep: 50, ToolsConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{adds}},
		})
		return func(ctx context.Context) error {
			out, err := agent.Generate(ctx, []*schema.Message{schema.UserMessage("turns=10;")})
			if err == nil && out.Content != "done" {
				err = wrong(out.Content)
			}
			return err
		}, err
	},
}

func einoTool[I, O any](ctx context.Context, name string, f func(context.Context, I) (O, error)) (*compose.ToolsNode, error) {
	t, err := utils.InferTool(name, name, f)
	if err != nil {
		return nil, err
	}
	return compose.NewToolNode(ctx, &compose.ToolsNodeConfig{Tools: []tool.BaseTool{t}})
}
