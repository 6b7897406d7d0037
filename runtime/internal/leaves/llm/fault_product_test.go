package llm_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/fake"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A spoil is what goes wrong with the body of a response that is a failure already.
type spoil struct {
	name string
	with func(*fake.Fault)
}

func spoils() []spoil {
	body := func(name, text string) spoil { return spoil{name, func(f *fake.Fault) { f.Edit = is(text) }} }
	end := func(name string, e fake.End, at int) spoil {
		return spoil{name, func(f *fake.Fault) { f.End, f.At = e, at }}
	}
	typed := func(name, kind, text string) spoil {
		return spoil{name, func(f *fake.Fault) { f.Edit = is(text); f.Header["Content-Type"] = kind }}
	}
	return []spoil{
		{"as it is", func(*fake.Fault) {}},
		body("nothing", ""),
		body("garbage", "%&/ no JSON"),
		body("null", "null"),
		body("a list", `["error"]`),
		body("NaN", `{"error":{"code":NaN,"message":"x"}}`),
		body("10000 lists", strings.Repeat("[", 10_001)+strings.Repeat("]", 10_001)),
		body("wrong types", `{"error":{"message":[7],"code":{"x":1},"type":3,"status":false,"details":"soon"}}`),
		body("no UTF-8", "{\"error\":{\"message\":\"\xff\xfe\xc3\"}}"),
		body("an answer that would be good", `{"model":"m","choices":[{"message":{"content":"MARK"},"finish_reason":"stop"}]}`),
		typed("a page", "text/html", "<html><h1>Bad gateway</h1>"),
		typed("an event", "text/event-stream", "event: error\ndata: {\"error\":{\"message\":\"no\"}}\n\n"),
		typed("half an event", "text/event-stream", "event: error\ndata: {\"err"),
		body("5 MB", strings.Repeat("x", 5<<20)),
		end("half close", fake.HalfClose, 5),
		end("close", fake.Close, -3),
		end("stall", fake.Stall, 5),
		end("slow loris", fake.Drip, 5),
	}
}

// TestFaultProduct is every status with every way in which its body can be spoilt, in all dialects, for whole answers and for
// streams (reliability P8). The status alone says what the error is, and whether there is another attempt: what a failing
// service writes is for people.
func TestFaultProduct(t *testing.T) {
	var cells []cell
	for _, c := range statusCells() {
		if c.fault.Status == 304 || c.fault.Status == 307 || c.fault.Edit != nil || c.fault.End != fake.Whole {
			continue // there is no body, or it is spoilt already
		}
		for _, s := range spoils() {
			x := c
			x.name += ", " + s.name
			x.fault.Header = map[string]string{}
			for k, v := range c.fault.Header {
				x.fault.Header[k] = v
			}
			s.with(&x.fault)
			cells = append(cells, x)
		}
	}
	step, least := 1, 600
	if testing.Short() {
		step, least = 5, 120
	}
	for i, d := range fake.Dialects {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			s := start(t, func(r *fake.Request) *fake.Response {
				n, err := strconv.Atoi(strings.TrimPrefix(r.Model, "m"))
				if err != nil {
					return nil
				}
				return &fake.Response{Fault: cells[n].fault}
			})
			p := at[d](s.Base(d))
			tried, again := 0, 0
			var wait sync.WaitGroup
			var mu sync.Mutex
			var late []func() error
			places := make(chan struct{}, 64) // most of them wait
			for n := range cells {
				if n%step != 0 {
					continue
				}
				for _, streamed := range []bool{false, true} {
					codes := cells[n].whole
					if streamed {
						codes = cells[n].stream
					}
					tried++
					if slices.Contains(transient, codes[i]) {
						again++
					}
					places <- struct{}{}
					wait.Go(func() {
						defer func() { <-places }()
						try := func() error { return cells[n].product(t, p, fmt.Sprint("m", n), streamed, codes[i]) }
						if try() != nil {
							mu.Lock()
							defer mu.Unlock()
							late = append(late, try)
						}
					})
				}
			}
			wait.Wait()
			for _, try := range late { // a machine that is busy is late sometimes, a provider that hangs is late always
				var err error
				for range 3 {
					if err = try(); err == nil {
						break
					}
				}
				if err != nil {
					t.Error(err)
				}
			}
			t.Logf("%d cells, %d of them with another attempt", tried, again)
			if tried < least || again < least/3 || tried-again < least/6 {
				t.Errorf("only %d cells, %d with another attempt", tried, again)
			}
		})
	}
}

// product tries a cell and says what is not as it should be.
func (c *cell) product(t *testing.T, p llm.Provider, model string, streamed bool, want value.Code) error {
	const limit = 5 * time.Second // nobody waits for a body that does not come for as long as that
	cell := fmt.Sprintf("%s, stream=%v", c.name, streamed)
	begin := time.Now()
	again, kept, err := attempt(t, p, model, streamed, limit)
	if took := time.Since(begin); took > limit {
		return fmt.Errorf("%s: took %v: %w", cell, took, err)
	}
	var te *value.ToolError
	if !errors.As(err, &te) || te.Code != want {
		return fmt.Errorf("%s: got %w, want code %s", cell, err, want)
	}
	if again != slices.Contains(transient, want) {
		return fmt.Errorf("%s: another attempt: %v, after %w", cell, again, err)
	}
	if k := keeps(want, c.free); kept != k {
		return fmt.Errorf("%s: %d of what was reserved are kept, want %d", cell, kept, k)
	}
	if (te.RetryAfterS == nil) != (c.after == nil) || c.after != nil && *te.RetryAfterS != *c.after {
		return fmt.Errorf("%s: waits %v, want %v", cell, te.RetryAfterS, c.after)
	}
	all, err := json.Marshal(te)
	if status, _ := te.Details.Get("status"); err != nil || status.Int() != int64(c.fault.Status) || bytes.Contains(all, []byte(key)) || len(all) > 16<<10 {
		return fmt.Errorf("%s: %v, details %.300s", cell, err, all)
	}
	return nil
}
