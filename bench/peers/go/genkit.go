package main

import (
	"context"
	"fmt"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/core"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/compat_oai"
	"github.com/openai/openai-go/option"
	"golang.org/x/sync/errgroup"
)

var firebase = peer{
	"W1": func(ctx context.Context, _ string) (operation, error) {
		names := make([]string, nodes)
		for i := range names {
			names[i] = fmt.Sprintf("n%02d", i)
		}
		flow := genkit.DefineFlow(genkit.Init(ctx), "chain", func(ctx context.Context, m message) (message, error) {
			for _, name := range names {
				var err error
				if m, err = core.Run(ctx, name, func() (message, error) { return step(m) }); err != nil {
					return m, err
				}
			}
			return m, nil
		})
		return func(ctx context.Context) error {
			out, err := flow.Run(ctx, message{Text: "hello"})
			if err == nil && out.Count != nodes {
				err = wrong(out)
			}
			return err
		}, nil
	},
	"W2": func(ctx context.Context, _ string) (operation, error) {
		flow := genkit.DefineFlow(genkit.Init(ctx), "fan", func(ctx context.Context, in []item) ([]result, error) {
			out := make([]result, len(in))
			group, ctx := errgroup.WithContext(ctx)
			group.SetLimit(64)
			for i := range in {
				group.Go(func() (err error) {
					out[i], err = core.Run(ctx, "double", func() (result, error) { return double(ctx, in[i]) })
					return err
				})
			}
			return out, group.Wait()
		})
		all := make([]item, items)
		for i := range all {
			all[i].ID = int64(i)
		}
		return func(ctx context.Context) error {
			out, err := flow.Run(ctx, all)
			if err == nil && (len(out) != items || out[17].ID != 17) {
				err = wrong(len(out))
			}
			return err
		}, nil
	},
	"W5": func(ctx context.Context, server string) (operation, error) {
		tool := genkit.DefineTool(genkit.Init(ctx), "fetch", "fetch",
			func(ctx *ai.ToolContext, in wanted) (pulled, error) { return fetch(ctx, server, in) })
		return func(ctx context.Context) error {
			_, err := tool.RunRaw(ctx, map[string]any{"n": 42})
			return err
		}, nil
	},
	"W7": func(ctx context.Context, server string) (operation, error) {
		provider := &compat_oai.OpenAICompatible{Provider: "fake", APIKey: token, BaseURL: server, Opts: []option.RequestOption{option.WithHTTPClient(client)}}
		g := genkit.Init(ctx, genkit.WithPlugins(provider))
		model := provider.DefineModel("fake", "fake", ai.ModelOptions{Supports: &ai.ModelSupports{Tools: true, Multiturn: true}})
		tool := genkit.DefineTool(g, "add", "Adds two numbers.", func(ctx *ai.ToolContext, in numbers) (sum, error) { return add(ctx, in) })
		return func(ctx context.Context) error {
			out, err := genkit.GenerateText(ctx, g, ai.WithModel(model), ai.WithPrompt("turns=10;"), ai.WithTools(tool), ai.WithMaxTurns(30))
			if err == nil && out != "done" {
				err = wrong(out)
			}
			return err
		}, nil
	},
}
