package browser

import "testing"

// talked: a key shows what an agent and its tools said to each other, in their order, and the address keeps it.
func talked(t *testing.T, exe, browser string) {
	s := begin(t, exe, browser, map[string]string{"helper.flowgen.yaml": helper})
	s.journal("w-20260102T150405000-abcd", []string{
		header,
		`{"kind":"intent","key":"help[0]/model","attempt":1,"tool":"openai:gpt-4o-mini@1","effects":"external","call_id":"m0","input":{"model":"openai:gpt-4o-mini","system":"be brief","messages":[{"role":"user","text":"who wrote it?"}]},"start_ns":1000000}`,
		`{"kind":"end","key":"help[0]/model","attempt":1,"output":{"model":"gpt-4o-mini","message":{"role":"assistant","calls":[{"id":"c","name":"blame","args":"{\"q\":\"line <b>1</b>\"}"}]},"stop":"tools"},"cost_usd":"0.0001","tokens":40,"metered":true,"end_ns":9000000}`,
		`{"kind":"intent","key":"help[0]/blame","attempt":1,"tool":"w.blame@1","effects":"reads","call_id":"b","input":{"q":"line"},"start_ns":10000000}`,
		`{"kind":"end","key":"help[0]/blame","attempt":1,"output":"ada","end_ns":11000000}`,
		`{"kind":"intent","key":"help[1]/model","attempt":1,"tool":"openai:gpt-4o-mini@1","effects":"external","call_id":"m1","input":{"model":"openai:gpt-4o-mini","messages":[{"role":"tool","results":[{"id":"c","name":"blame","text":"ada"}]}]},"start_ns":12000000}`,
		`{"kind":"end","key":"help[1]/model","attempt":1,"output":{"model":"gpt-4o-mini","message":{"role":"assistant","text":"Ada did."},"stop":"end"},"cost_usd":"0.0002","tokens":60,"metered":true,"end_ns":19000000}`,
		`{"kind":"finish","outcome":"succeeded","output":1,"at_ns":20000000}`,
	})
	s.open("/r/w-20260102T150405000-abcd")
	s.wait(`document.querySelector(".rows .row")`)
	s.mouse("Tree") // which keeps the focus
	s.row("model")
	s.press("\r")
	s.wait(`location.search === "?c=0"`)
	s.sees("Show the conversation")
	s.press("v")
	s.sees("2 turns, 100 tokens")
	s.wait(`location.search === "?c=0&talk=1"`)
	s.wait(`(() => { const t = document.querySelector("[aria-label=Conversation]").innerText; const at = ["be brief", "who wrote it?", "calls blame", "line <b>1</b>", "turn 2", "result of blame", "ada", "Ada did."].map((w) => t.indexOf(w)); return at.every((n, i) => n >= 0 && (i === 0 || n > at[i - 1])); })()`)
	s.wait(`document.querySelectorAll(".called li").length === 1 && document.querySelector(".called .brief")?.innerText === '"ada"'`)
	s.picture("talk")
}
