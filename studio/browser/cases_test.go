package browser

import (
	"os"
	"strings"
	"testing"
)

// tested: a run becomes a test case, which passes; a case that fails says why.
func tested(t *testing.T, exe, browser string) {
	s := begin(t, exe, browser, map[string]string{"ship.flowgen.yaml": ship})
	s.command("run", "ship.flowgen.yaml", "--quiet")
	s.command("respond", "ship.flowgen.yaml", "latest", "yes", "--quiet")
	s.open("/r")
	s.wait(`document.querySelector(".run-row .done")`)
	s.press("\r")
	s.click("Make a case")
	s.fill("[name=case]", "shipped")
	s.click("Show the edit")
	s.sees("cassette testdata/ship/shipped.jsonl has 1 call")
	s.picture("case")
	if _, err := os.Stat(s.dir + "/ship.test.yaml"); err == nil {
		t.Error("a case is written that was only shown")
	}
	s.click("Write")
	s.wait(`document.querySelector(".proposal .done")`)
	if text := s.read("ship.test.yaml"); !strings.Contains(text, `shipped: {input: {text: hello}, answers: {ask: "yes"}, want: {output: {ask: "yes", text: HELLO}}}`) {
		t.Errorf("the file is\n%s", text)
	}
	s.press("5")
	s.sees("shipped")
	s.press("r")
	s.sees("1 run, 0 failed")
	s.wait(`document.querySelector(".cases .m.done")`)
	s.write("ship.test.yaml", strings.Replace(s.read("ship.test.yaml"), "HELLO", "HALLO", 1))
	s.press("r")
	s.sees("1 run, 1 failed")
	s.sees("HALLO")
	s.picture("tests")
	if said := s.command("test", "ship.test.yaml"); !strings.Contains(said, "FAIL") {
		t.Errorf("flowgen test says %s", said)
	}
}
