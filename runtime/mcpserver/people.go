package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// people are those behind a client, who are asked what runs ask.
type people struct {
	c        *client
	req      *mcp.CallToolRequest
	note     string // what was wrong with an answer, or why there is none
	declined bool
}

// able reports whether the client can ask people with a form.
func (p *people) able() bool {
	caps := p.req.ClientCapabilities()
	return caps != nil && caps.Elicitation != nil && (caps.Elicitation.Form != nil || caps.Elicitation.URL == nil)
}

// later reports whether questions are part of a result, and answers of the next call.
func (p *people) later() bool { return p.able() && p.req.ProtocolVersion() >= firstStateless }

// requests is the result with the questions of a run.
func (p *people) requests(r *run) (*mcp.CallToolResult, error) {
	sealed, err := p.c.sealed(r, p.req.Params.Name)
	if err != nil {
		return nil, err
	}
	res := &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{}, RequestState: sealed}
	for _, q := range r.Questions {
		res.InputRequests[q.Key] = q.form(p.note)
	}
	return res, nil
}

// form is a question as a form with one field.
func (q *question) form(note string) *mcp.ElicitParams {
	field := object{"type": map[string]string{"int": "integer", "float": "number", "bool": "boolean"}[q.Type]}
	if field["type"] == "" {
		field["type"] = "string"
	}
	if len(q.Choices) > 0 && field["type"] == "string" {
		field["enum"] = q.Choices
	}
	text := q.Question
	if note != "" {
		text = note + "\n\n" + text
	}
	return &mcp.ElicitParams{Mode: "form", Message: text, RequestedSchema: object{"type": "object", "properties": object{"answer": field}, "required": []string{"answer"}}}
}

// take hands the answers that came with a call to its run.
func (p *people) take(ctx context.Context, id string) error {
	for key, v := range p.req.Params.InputResponses {
		e, ok := v.(*mcp.ElicitResult)
		if !ok {
			return errors.New("an answer is not an elicitation result")
		}
		if err := p.answer(ctx, id, key, e); err != nil {
			return err
		}
	}
	return nil
}

// elicit asks the first question of a run. asked is false when nobody can be asked.
func (p *people) elicit(ctx context.Context, r *run) (asked bool, err error) {
	if !p.able() || len(r.Questions) == 0 {
		return false, nil
	}
	q := r.Questions[0]
	e, err := p.req.Session.Elicit(ctx, q.form(p.note))
	if err != nil {
		p.note = "nobody could be asked"
		return false, nil //nolint:nilerr // the result says how to answer without it
	}
	return true, p.answer(ctx, r.ID, q.Key, e)
}

// answer hands an answer to a run. One that does not fit is asked for again.
func (p *people) answer(ctx context.Context, id, key string, e *mcp.ElicitResult) error {
	if e.Action != "accept" {
		p.declined, p.note = true, "nobody has answered"
		return nil
	}
	body, err := json.Marshal(object{"answer": e.Content["answer"]})
	if err != nil {
		return err
	}
	p.note, err = p.c.put(ctx, id, key, body)
	return err
}

// put answers a question. note says what is wrong with an answer that does not fit; another's answer that was first is none.
func (c *client) put(ctx context.Context, id, key string, body []byte) (note string, err error) {
	var r run
	err = c.ask(ctx, http.MethodPut, questionPath(id, key), nil, body, &r)
	var wrong *problem
	switch {
	case !errors.As(err, &wrong):
		return "", err
	case wrong.Code == "ANSWERED", wrong.Code == "ENDED":
		return "", nil
	case wrong.Code == "VALIDATION_ERROR" && len(wrong.Errors) > 0:
		return "The answer is not valid: " + wrong.Errors[0].Detail + ".", nil
	}
	return "", err
}

// arguments reads the arguments of a tool for runs.
func arguments(req *mcp.CallToolRequest, to any, names ...string) error {
	text := req.Params.Arguments
	if len(text) == 0 {
		text = []byte("{}")
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(text, &given); err != nil {
		return &problem{Code: "VALIDATION_ERROR", Detail: "the arguments are not an object"}
	}
	for name := range given {
		if !slices.Contains(names, name) {
			return &problem{Code: "VALIDATION_ERROR", Detail: fmt.Sprintf("unknown argument %q; expected %s", name, strings.Join(names, ", "))}
		}
	}
	if err := json.Unmarshal(text, to); err != nil {
		return &problem{Code: "VALIDATION_ERROR", Detail: "an argument has the wrong type: " + err.Error()}
	}
	return nil
}
