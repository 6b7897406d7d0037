package copilot

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

var claudeBanner = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+ \(Claude Code\)$`)

// notClaude are variables that would have claude bill somebody else than the subscription.
var notClaude = []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"}

// claude asks the program claude, which has to be signed in with a subscription.
func (p Program) claude(ctx context.Context, prompt, resume string) (value.Value, error) {
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(notClaude, name)
	})
	if err := signedIn(ctx, env); err != nil {
		return value.Null(), err
	}
	args := p.args([]string{"-p", prompt, "--output-format", "json"}, "--model", resume, "--resume", "--continue")
	if p.Here {
		dir, err := os.Getwd()
		if err != nil {
			return value.Null(), err
		}
		at := len(args) // --max-turns is behind it
		if i := slices.Index(args, "--max-turns"); i >= 0 {
			at = i
		}
		args = slices.Insert(args, at, "--add-dir", dir)
	}
	r, err := run(ctx, env, "claude", args...)
	if err != nil {
		return value.Null(), err
	}
	v, bad := value.Parse([]byte(r.out))
	said, _ := v.Get("result")
	wrong, _ := v.Get("is_error")
	session, _ := v.Get("session_id")
	switch {
	case r.code != 0 && bad == nil && said.Kind() == value.StringKind:
		return value.Null(), value.Errorf(value.ProviderError, "claude ended with %d: %s", r.code, head(said.String()))
	case r.code != 0:
		return value.Null(), value.Errorf(value.ProviderError, "claude ended with %d: %s", r.code, head(r.stderr))
	case bad != nil || said.Kind() != value.StringKind || session.Kind() != value.StringKind:
		return value.Null(), value.Errorf(value.ProviderError, "claude did not answer with its JSON: %s", head(r.out))
	case wrong.Kind() == value.BoolKind && wrong.Bool():
		return value.Null(), value.Errorf(value.ProviderError, "claude: %s", head(said.String()))
	}
	return p.answer(said.String(), 0, session.String()), nil
}

// signedIn looks at which program claude is, and whom it bills.
func signedIn(ctx context.Context, env []string) error {
	r, err := run(ctx, env, "claude", "--version")
	if err != nil {
		return err
	}
	if r.code != 0 || !claudeBanner.MatchString(strings.TrimSpace(r.out)) {
		return value.Errorf(value.ProviderError, "the program claude says it is %q, and not `X.Y.Z (Claude Code)`", head(r.out))
	}
	if r, err = run(ctx, env, "claude", "auth", "status"); err != nil {
		return err
	}
	v, bad := value.Parse([]byte(r.out))
	in, _ := v.Get("loggedIn")
	method, _ := v.Get("authMethod")
	provider, _ := v.Get("apiProvider")
	switch {
	case bad != nil || r.code != 0:
		return value.Errorf(value.ProviderError, "`claude auth status` says: %s", head(r.out))
	case in.Kind() != value.BoolKind || !in.Bool() || provider.String() != "firstParty" || method.String() != "claude.ai" && method.String() != "oauth_token":
		return value.Errorf(value.AuthRequired, "claude is not signed in with a subscription: authMethod is %s, apiProvider %s", method.String(), provider.String())
	}
	return nil
}
