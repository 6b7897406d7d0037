// Package recipes has the services and the models that the workflows of examples/cookbook ask, for tests. They always say the same.
package recipes

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/fake"
)

// services are those that the workflows of the cookbook call. A request is written `METHOD /service/path body`; its reply is that of
// the first pattern that matches, a status and a body. Replies behind ` / ` are for the requests after the first one.
var services = struct {
	auth    map[string]string // the header that a service asks for
	replies [][2]string
}{
	auth: map[string]string{
		"shop": "Bearer token of shop", "repo": "Bearer token of repo", "pay": "Bearer token of pay", "export": "Bearer token of export",
		"admin": "token of admin", "chat/channels": "Bearer token of chat",
	},
	replies: [][2]string{
		{`GET /shop/orders/2026-01-31`, `503 busy / 200 [
			{"id": "1", "amount": 4, "status": "paid", "customer": null}, {"id": "2", "amount": 30.5, "status": "paid"},
			{"id": "3", "amount": 100, "status": "paid", "customer": {"name": "Ada"}}, {"id": "4", "amount": 5, "status": "refunded"}]`},
		{`GET /shop/orders/2026-02-01`, `200 []`},
		{`POST /chat/messages {"text":".+"}`, `200 {}`},

		{`GET /repo/pulls/7/files`, `200 [{"filename": "cart/price.go", "patch": "+round(cents)"}, {"filename": "logo.png"}]`},
		{`GET /repo/pulls/8/files`, `200 [{"filename": "logo.png"}]`},
		{`GET /repo/raw/cart/price.go`, `200 package cart`},
		{`GET /repo/search\?q=round`, `200 {"hits": [{"path": "cart/price.go", "line": 3, "text": "round(cents)"}]}`},
		{`POST /repo/pulls/7/reviews {"event":"REQUEST_CHANGES","body":".+"}`, `200 {"url": "https://code.example.com/reviews/1"}`},

		{`POST /pay/payments {"employee":"ada","amount":(120.5|4000)}`, `200 {"id": "p1"}`},

		{`GET /files/[ab]/[0-9]+`, `200 0123456789`},
		{`POST /files/index {"files":\[.*\]}`, `200 {}`},

		{`POST /export/exports {"table":"orders"}`, `200 {"id": "x1"}`},
		{`POST /export/exports {"table":"secrets"}`, `200 {"id": "x2"}`},
		{`GET /export/exports/x1`, `200 {"status": "running"} / 200 {"status": "ready", "rows": 2}`},
		{`GET /export/exports/x2`, `200 {"status": "failed", "reason": "no such table"}`},
		{`GET /export/exports/x1/file`, "200 id,amount\n1,5\n2,7\n"},

		{`POST /ci/builds {"commit":"c2"}`, `200 {"id": "b1"}`},
		{`POST /tracker/issues/5/labels {"label":"bug"}`, `200 {}`},

		{`POST /flight/bookings {"traveller":"ada","from":"Graz","to":"Oslo","day":"2026-03-01"}`, `200 {"id": "f1"}`},
		{`POST /flight/bookings {"traveller":"ada","from":"Graz","to":"Atlantis","day":"2026-03-01"}`, `200 {"id": "f2"}`},
		{`POST /hotel/bookings {"traveller":"ada","city":"Oslo","day":"2026-03-01"}`, `200 {"id": "h1"}`},
		{`POST /hotel/bookings {"traveller":"ada","city":"Atlantis","day":"2026-03-01"}`, `200 {"id": "h2"}`},
		{`POST /car/bookings {"traveller":"ada","city":"Oslo","day":"2026-03-01"}`, `200 {"id": "c1"}`},
		{`POST /car/bookings {"traveller":"ada","city":"Atlantis","day":"2026-03-01"}`, `404 no cars`},
		{`POST /hotel/bookings/h2/cancel`, `503 busy / 200 {}`},
		{`POST /flight/bookings/f2/cancel`, `200 {}`},

		{`GET /state/checkpoint`, `200 {"since": null}`},
		{`PUT /state/checkpoint {"since":"2026-01-31T02:30:00Z"}`, `200 {}`},
		{`GET /crm/records`, `200 ` + page(0, 120, `"c2"`)},
		{`GET /crm/records\?cursor=c2`, `200 ` + page(120, 150, `null`)},
		{`POST /warehouse/rows {"rows":\[.*\]}`, `200 {"stored": 100}`},

		{`GET /admin/tenants`, `200 [
			{"id": "ada", "region": "eu", "plan": "pro", "contact": "ada@example.com"}, {"id": "eve", "region": "us", "plan": "pro", "contact": "eve@example.com"},
			{"id": "bob", "region": "us", "plan": "pro", "contact": "bob@example.com"}, {"id": "cy", "region": "eu", "plan": "free", "contact": "cy@example.com"}]`},
		{`GET /(eu|us)/usage/2026-01/(ada|bob)`, `200 {"calls": 12, "cost": 1.5}`},
		{`POST /mail/send {"to":".+@example.com","subject":"Your usage in 2026-01","text":"12 calls: 1.5"}`, `200 {}`},
		{`GET /(eu|us)/usage/.*`, `500 broken`},

		{`GET /notes/notes/n1`, `200 {"title": "Tea", "text": "Tea is a long story.", "tags": ["hot", "drink"]}`},
		{`GET /notes/notes/n2`, `200 {"title": "Coffee", "text": "Coffee is another long story.", "tags": ["hot"]}`},
		{`POST /chat/channels/team/messages {"text":".+"}`, `200 {"ts": "team-1"}`},
		{`POST /chat/channels/archive/messages {"text":".+"}`, `200 {"ts": "archive-1"}`},
	},
}

// page is a page of records, the last of which is the newest.
func page(from, to int, next string) string {
	var list []string
	for i := from; i < to; i++ {
		list = append(list, fmt.Sprintf(`{"id": "r%d", "updated_at": "2026-01-31T02:%02d:00Z"}`, i, min(i, 149)*30/149))
	}
	return `{"records": [` + strings.Join(list, ", ") + `], "next": ` + next + `}`
}

// Start starts the services and the models, and returns the environment in which programs reach them.
func Start(t testing.TB) []string {
	t.Helper()
	var mu sync.Mutex
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		request := strings.TrimRight(r.Method+" "+r.URL.RequestURI()+" "+string(body), " ")
		for service, want := range services.auth {
			if strings.HasPrefix(r.URL.Path, "/"+service+"/") && r.Header.Get("Authorization") != want && r.Header.Get("X-Admin-Key") != want {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
		}
		i := slices.IndexFunc(services.replies, func(p [2]string) bool { return regexp.MustCompile(`^` + p[0] + `$`).MatchString(request) })
		if i < 0 {
			if !strings.HasSuffix(request, "/gone") {
				t.Errorf("no service replies to %s", request)
			}
			http.NotFound(w, r)
			return
		}
		replies := strings.Split(services.replies[i][1], " / ")
		mu.Lock()
		reply := replies[min(asked[request], len(replies)-1)]
		asked[request]++
		mu.Unlock()
		var status int
		code, text, _ := strings.Cut(reply, " ")
		_, _ = fmt.Sscan(code, &status)
		if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	model, err := fake.Start("", say)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	env := []string{
		"OPENAI_BASE_URL=" + model.Base(fake.OpenAI), "OPENAI_API_KEY=token of openai",
		"ANTHROPIC_BASE_URL=" + model.Base(fake.Anthropic), "ANTHROPIC_API_KEY=token of anthropic",
		"SHOP_TOKEN=token of shop", "TOKEN=token of repo", "PAY_TOKEN=token of pay", "EXPORT_TOKEN=token of export", "ADMIN_KEY=token of admin",
		"CHAT_TOKEN=token of chat",
	}
	for _, p := range services.replies {
		service, _, _ := strings.Cut(strings.TrimPrefix(p[0][strings.Index(p[0], "/"):], "/"), "/")
		for _, name := range strings.Split(strings.Trim(service, "()"), "|") {
			env = append(env, strings.ToUpper(name)+"_URL="+server.URL+"/"+name)
		}
	}
	return env
}

// say is what the models say.
func say(r *fake.Request) *fake.Response {
	last := r.Last().Text
	down := &fake.Response{Fault: fake.Fault{Status: http.StatusInternalServerError}}
	switch {
	case strings.Contains(last, "all are down"), strings.Contains(last, "claude is down") && r.Dialect == fake.Anthropic:
		return down
	case len(r.Tools) > 0 && r.Turn() == 0:
		return fake.Ask(
			llm.Call{ID: "1", Name: "read", Args: `{"path": "cart/price.go"}`},
			llm.Call{ID: "2", Name: "search", Args: `{"q": "round"}`})
	case len(r.Tools) > 0:
		return fake.Say(`{"verdict": "REQUEST_CHANGES", "summary": "Prices lose cents.", "findings": [` +
			`{"path": "cart/price.go", "line": 3, "text": "rounds"}, {"path": "README.md", "line": null, "text": "says something else"}]}`)
	case strings.Contains(last, "Which answer is better?"):
		return fake.Say(`{"better": "second", "why": "It says more."}`)
	case strings.Contains(last, "Which kind of issue"):
		return fake.Say(`{"value": "bug"}`)
	case r.Dialect == fake.Anthropic:
		return fake.Say("Paris, on the Seine.")
	case strings.HasPrefix(last, "Summarise"):
		return fake.Say("Short.")
	case strings.HasPrefix(r.System, "Be brief"):
		return fake.Say("Fine, thanks.")
	}
	return fake.Say("Paris.")
}
