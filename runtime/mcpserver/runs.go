package mcpserver

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// runResult is the tool run_result.
func (c *client) runResult(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var a struct{ Run string }
	if err := arguments(req, &a, "run"); err != nil {
		return refused(err), nil
	}
	if _, err := c.returned(req, a.Run); err != nil {
		return refused(err), nil
	}
	return c.follow(ctx, req, a.Run, "")
}

// runCancel is the tool run_cancel.
func (c *client) runCancel(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var a struct{ Run string }
	if err := arguments(req, &a, "run"); err != nil {
		return refused(err), nil
	}
	r := &run{}
	if err := c.ask(ctx, http.MethodPost, runPath(a.Run)+"/cancel", http.Header{"Prefer": {"wait=5"}}, nil, r); err != nil {
		return refused(err), nil
	}
	res, err := c.told(r, "")
	if err == nil && r.State == "cancelled" {
		res.IsError = false // it is what was asked for
	}
	return res, err
}

// runAnswer is the tool run_answer.
func (c *client) runAnswer(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var a struct {
		Run, Key string
		Answer   json.RawMessage
	}
	if err := arguments(req, &a, "run", "key", "answer"); err != nil {
		return refused(err), nil
	}
	r, err := c.settled(ctx, a.Run, "", c.m.o.Wait)
	if err != nil {
		return refused(err), nil
	}
	if a.Key == "" && len(r.Questions) == 1 {
		a.Key = r.Questions[0].Key
	}
	if a.Key == "" || len(a.Answer) == 0 {
		return refused(&problem{Code: "VALIDATION_ERROR", Detail: "name the key of one of " + strconv.Itoa(len(r.Questions)) + " questions, and the answer"}), nil
	}
	back, err := c.returned(req, a.Run)
	if err != nil {
		return refused(err), nil
	}
	if back != nil { // of a person, to the question behind the one that the model has answered
		return c.follow(ctx, req, a.Run, "")
	}
	body, err := json.Marshal(object{"answer": a.Answer})
	if err != nil {
		return nil, err
	}
	note, err := c.put(ctx, a.Run, a.Key, body)
	if err == nil && note != "" {
		err = &problem{Code: "VALIDATION_ERROR", Detail: note}
	}
	if err != nil {
		return refused(err), nil
	}
	return c.follow(ctx, req, a.Run, "")
}

// runList is the tool run_list.
func (c *client) runList(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var a struct {
		Workflow, State, Before string
		Limit                   int
	}
	if err := arguments(req, &a, "workflow", "state", "before", "limit"); err != nil {
		return refused(err), nil
	}
	q := url.Values{}
	for name, v := range map[string]string{"workflow": a.Workflow, "state": a.State, "before": a.Before} {
		if v != "" {
			q.Set(name, v)
		}
	}
	if a.Limit != 0 {
		q.Set("limit", strconv.Itoa(a.Limit))
	}
	var list json.RawMessage
	if err := c.ask(ctx, http.MethodGet, "/v1/runs?"+q.Encode(), nil, nil, &list); err != nil {
		return refused(err), nil
	}
	return &mcp.CallToolResult{StructuredContent: list, Content: []mcp.Content{&mcp.TextContent{Text: string(list)}}}, nil
}

// resources adds runs, their outputs, and the manifests of workflows as resources.
func (c *client) resources(s *mcp.Server) {
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "run", URITemplate: "run://{id}", Description: "a run", MIMEType: "application/json"}, c.read)
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "output", URITemplate: "run://{id}/output", Description: "the output of a run", MIMEType: "application/json"}, c.read)
	for _, t := range c.m.tools {
		if !c.sees(t.name) {
			continue
		}
		if c.m.o.Graph != nil {
			g := &mcp.Resource{Name: t.tool.Name + "-graph", URI: "workflow://" + t.tool.Name + "/graph.mmd", Description: "the workflow " + t.name + " as a Mermaid flowchart", MIMEType: "text/vnd.mermaid"}
			s.AddResource(g, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: g.URI, MIMEType: g.MIMEType, Text: c.m.o.Graph(t.name)}}}, nil
			})
		}
		if len(t.manifest) == 0 {
			continue
		}
		r := &mcp.Resource{Name: t.tool.Name + "-manifest", URI: "workflow://" + t.tool.Name + "/manifest.json", Description: "what the workflow " + t.name + " can reach", MIMEType: "application/json"}
		s.AddResource(r, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return contents(r.URI, t.manifest), nil
		})
	}
}

// read reads a run, or its output.
func (c *client) read(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	id, ok := strings.CutPrefix(req.Params.URI, "run://")
	id, output := strings.CutSuffix(id, "/output")
	if !ok || id == "" || strings.Contains(id, "/") {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	path := runPath(id)
	if output {
		path += "/output"
	}
	status, text := c.m.serve.Do(ctx, c.who, http.MethodGet, path, nil, nil)
	if status != http.StatusOK {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	return contents(req.Params.URI, text), nil
}

func contents(uri string, text []byte) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: "application/json", Text: string(text)}}}
}
