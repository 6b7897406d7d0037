package worker

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
)

const redacted = "[redacted]"

// Redact takes the secrets of ctx's call, as they are and in the usual encodings, out of a tool error: a tool's exception
// may hold the header it sent. Other errors come back as they are.
func Redact(ctx context.Context, err error) error {
	var te *runtime.ToolError
	secrets := runtime.Auth(ctx)
	if len(secrets) == 0 || !errors.As(err, &te) {
		return err
	}
	var forms []string
	for _, s := range secrets {
		forms = append(forms, spellings(s)...)
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	e := *te
	e.Message = without(e.Message, forms)
	e.Details = scrub(e.Details, forms)
	return &e
}

func spellings(s string) []string {
	if s == "" {
		return nil
	}
	quoted, _ := json.Marshal(s) // text always marshals
	return []string{s, string(quoted[1 : len(quoted)-1]), url.QueryEscape(s), url.PathEscape(s), hex.EncodeToString([]byte(s)),
		base64.StdEncoding.EncodeToString([]byte(s)), base64.RawURLEncoding.EncodeToString([]byte(s))}
}

func without(text string, forms []string) string {
	for _, f := range forms {
		text = strings.ReplaceAll(text, f, redacted)
	}
	return text
}

func scrub(v runtime.Value, forms []string) runtime.Value {
	switch v.Kind() {
	case runtime.StringKind:
		return runtime.StringValue(without(v.String(), forms))
	case runtime.ListKind:
		items := make([]runtime.Value, v.Len())
		for i := range items {
			items[i] = scrub(v.Index(i), forms)
		}
		return runtime.ListValue(items...)
	case runtime.MapKind:
		entries := make([]runtime.Entry, v.Len())
		for i, k := range v.Keys() {
			entries[i] = runtime.Entry{Key: without(k, forms), Value: scrub(v.Index(i), forms)}
		}
		return runtime.MapValue(entries...)
	}
	return v
}
