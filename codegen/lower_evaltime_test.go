package codegen

import (
	"math/big"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// index evaluates xs[i] and m[key]: nil where there is none. An absent receiver hides its key.
func (ev *lowerEval) index(n *expr.Node) (any, error) {
	recv, err := ev.eval(n.Kids[0])
	if err != nil || recv == nil {
		return nil, err
	}
	key, err := ev.eval(n.Kids[1])
	if err != nil {
		return nil, err
	}
	if m, ok := recv.(map[string]any); ok {
		return m[key.(string)], nil
	}
	if xs, i := recv.([]any), key.(int64); i >= 0 && i < int64(len(xs)) {
		return xs[i], nil
	}
	return nil, nil
}

func (ev *lowerEval) mapping(n *expr.Node) (any, error) {
	out := map[string]any{}
	for i, k := range n.Kids {
		v, err := ev.eval(k)
		if err != nil {
			return nil, err
		}
		out[n.Keys[i]] = v
	}
	return out, nil
}

// lowerMoments computes with times and durations, without a bound on the way.
func lowerMoments(op string, a, b any) (any, error, bool) {
	if t, ok := b.(time.Time); ok && op == "+" {
		a, b = t, a
	}
	nanos := func(v any) *big.Int {
		switch v := v.(type) {
		case time.Time:
			n := big.NewInt(v.Unix())
			return n.Mul(n, big.NewInt(1e9)).Add(n, big.NewInt(int64(v.Nanosecond())))
		case time.Duration:
			return big.NewInt(int64(v))
		}
		return nil
	}
	x, y := nanos(a), nanos(b)
	if x == nil || y == nil {
		return nil, nil, false
	}
	if op == "-" {
		x.Sub(x, y)
	} else {
		x.Add(x, y)
	}
	_, moment := a.(time.Time)
	if _, other := b.(time.Time); moment && !other {
		sec, rest := new(big.Int).DivMod(x, big.NewInt(1e9), new(big.Int))
		out := time.Unix(sec.Int64(), rest.Int64()).UTC()
		if out.Year() < 1 || out.Year() > 9999 {
			return nil, errLower, true
		}
		return out, nil, true
	}
	if !x.IsInt64() {
		return nil, errLower, true
	}
	return time.Duration(x.Int64()), nil, true
}

func lowerTimeFunction(n *expr.Node, args []any) (any, error, bool) {
	switch n.Text {
	case "timestamp":
		t, err := time.Parse(time.RFC3339Nano, args[0].(string))
		if err != nil {
			return nil, errLower, true
		}
		return t, nil, true
	case "duration":
		d, err := time.ParseDuration(args[0].(string))
		if err != nil {
			return nil, errLower, true
		}
		return d, nil, true
	case "join":
		var texts []string
		for _, x := range args[0].([]any) {
			texts = append(texts, x.(string))
		}
		separator := ""
		if len(args) > 1 {
			separator = args[1].(string)
		}
		return strings.Join(texts, separator), nil, true
	case "substring":
		s := []rune(args[0].(string))
		lo, hi := args[1].(int64), int64(len(s))
		if len(args) > 2 {
			hi = args[2].(int64)
		}
		if lo < 0 || lo > hi || hi > int64(len(s)) {
			return nil, errLower, true
		}
		return string(s[lo:hi]), nil, true
	}
	if _, ok := expr.Clocks[n.Text]; !ok {
		return nil, nil, false
	}
	if d, ok := args[0].(time.Duration); ok {
		return int64(d / map[string]time.Duration{"getHours": time.Hour, "getMinutes": time.Minute, "getSeconds": time.Second, "getMilliseconds": time.Millisecond}[n.Text]), nil, true
	}
	t := args[0].(time.Time).UTC()
	v := map[string]int{
		"getFullYear": t.Year(), "getMonth": int(t.Month()) - 1, "getDate": t.Day(), "getDayOfMonth": t.Day() - 1, "getDayOfWeek": int(t.Weekday()),
		"getDayOfYear": t.YearDay() - 1, "getHours": t.Hour(), "getMinutes": t.Minute(), "getSeconds": t.Second(), "getMilliseconds": t.Nanosecond() / 1e6,
	}[n.Text]
	return int64(v), nil, true
}

// moment writes a time or a duration.
func (g *lowerGen) moment(s lowerScope, depth int, k schema.Kind) string {
	if k == schema.Time {
		if depth <= 0 {
			return pick(g, "input.t1", "input.t2", g.atom(s, kindIs(schema.Time)), `timestamp("2024-02-29T23:59:59.5+01:00")`)
		}
		return pick(g, g.moment(s, 0, schema.Time), "("+g.moment(s, depth-1, schema.Time)+pick(g, " + ", " - ")+g.moment(s, depth-1, schema.Duration)+")",
			"("+g.moment(s, depth-1, schema.Duration)+" + "+g.moment(s, depth-1, schema.Time)+")")
	}
	if depth <= 0 {
		return pick(g, "input.d1", "input.d2", `duration("90m")`, `duration("2562047h")`)
	}
	return pick(g, g.moment(s, 0, schema.Duration), "("+g.moment(s, depth-1, schema.Duration)+pick(g, " + ", " - ")+g.moment(s, depth-1, schema.Duration)+")",
		"("+g.moment(s, depth-1, schema.Time)+" - "+g.moment(s, depth-1, schema.Time)+")")
}

// clockRead reads a part of a time or a duration.
func (g *lowerGen) clockRead(s lowerScope, depth int) string {
	return pick(g,
		g.moment(s, depth, schema.Time)+pick(g, ".getFullYear()", ".getMonth()", ".getDate()", ".getDayOfMonth()", ".getDayOfWeek()", ".getDayOfYear()", ".getHours()", ".getMinutes()", ".getSeconds()", ".getMilliseconds()"),
		g.moment(s, depth, schema.Duration)+pick(g, ".getHours()", ".getMinutes()", ".getSeconds()", ".getMilliseconds()"))
}

// indexed reads an item of a list, or a key of a map, with a default.
func (g *lowerGen) indexed(s lowerScope, depth int, k schema.Kind, item func(lowerScope, int) string) string {
	at := pick(g, "0", "1", "2", "7", g.int(s, depth))
	if strings.HasPrefix(at, "-") || len(at) > 9 && strings.Trim(at, "0123456789") == "" { // a mistake that is reported
		at = "3"
	}
	if k == schema.Int && g.r.IntN(3) == 0 {
		return "default(input.m[" + pick(g, `"k"`, `"a b"`, g.string(s, depth)) + "], " + item(s, depth) + ")"
	}
	xs := g.list(s, depth, k)
	if g.r.IntN(3) == 0 {
		return "(" + xs + "[" + at + "] != null ? " + item(s, depth) + " : " + item(s, depth) + ")"
	}
	return "default(" + xs + "[" + at + "], " + item(s, depth) + ")"
}

// made is a list with a struct that is written out.
func (g *lowerGen) made(s lowerScope, depth int) string {
	return "(" + g.tasks(s, depth) + ` + [{"q": ` + g.string(s, depth) + `, "n": ` + g.int(s, depth) + `, "score": ` + g.float(s, 0) + `, "lv": ` +
		pick(g, `"low"`, "input.lv") + pick(g, "", `, "url": `+g.string(s, 0)) + "}])"
}

// lowerIndexes are shapes of indexes, literals, times and filters that the generator rarely hits.
var lowerIndexes = []string{
	"input.li[0]", "input.ls[1]", "input.lf[2]", "input.los[0]", "default(input.los[1], \"none\")", "input.li[input.i1]", "input.li[size(input.li) - 1]", "input.los[input.i1]",
	"input.ts[0]?.url", "default(input.ts[0].url, \"-\")", "default(input.ts[input.i1].n, 7)", "input.ts[0] != null && input.ts[0].n > 2", "input.ts[1] == null || input.ts[1].url == null || size(input.ts[1].url) > 0",
	"input.ts[0] == null && input.ts[2] == null", "!(input.ts[0] != null && input.li[0] != null)", "input.m[\"k\"]", "input.m[input.s1]", "input.mo[\"k\"]", "input.mo[input.s1]", "default(input.mo[input.s1], \"none\")",
	"default(input.ms[\"k\"].lang, \"-\")", "input.ms[input.s1]?.note", "default(input.ms[input.s1].deep.k, 3)", "input.ms[\"k\"] != null && input.ms[\"k\"].lang == \"a\"", "input.ms.k != null ? input.ms[\"k\"].n : 0",
	"default([input.li, [4]][input.i2][input.i1 + 1], 4)", "[input.li, [4]][0][1]", "[input.mo][0][\"k\"]", "[input.m][0][input.s1]", "[input.m][input.i1][\"k\"]", "[input.mo][1][input.s1 + \"x\"]", "input.s1.split(\"a\")[0]", "[input.li, [1]][1]", "default(default([input.li, [1]][0], [])[1], 5)", "first(input.li[3], input.li[2], input.li[1])", "first(input.m[\"zz\"], input.m[\"a\"], 9)",
	"first(input.m[input.s1], input.li[0])", "input.li.map(x, input.li[x])", "input.ts.map(t, input.m[t.q])", "input.li.filter(i, input.ls[i] != null && input.ls[0] != null)", "(input.b1 ? post : alt)?.lang != null",
	"input.ts.filter(t, t.url != null).map(t, t.url)", "input.ts.filter(t, t.url != null && t.n > 1).map(t, size(t.url))", "input.ts.filter(t, t.url != null).filter(t, size(t.url) > 1).sortBy(t, t.url).map(t, t.url + \"!\")",
	"input.ts.filter(t, t.url != null).exists(t, t.url == \"a\")", "[{\"q\": \"a\", \"n\": 1, \"score\": 2, \"lv\": \"mid\"}] + input.ts", "input.ts.map(t, t.n) + [input.ts[0] == null ? 1 : 2]",
	"default(input.ts[5], {\"q\": input.s1, \"n\": size(input.ls), \"score\": 0.5, \"lv\": input.lv, \"url\": input.os}).q", "input.b1 ? input.task : {\"q\": \"x\", \"n\": input.i1 + 1, \"score\": 1, \"lv\": \"low\"}",
	"input.b1 ? input.m : {\"a\": 1, \"b c\": input.i1}", "input.b2 ? input.m : {}", "input.t1 + duration(\"1h\")", "duration(\"-1s\") + input.t1 - input.d1", "input.t1 - input.t2", "input.d1 - input.d2", "timestamp(\"0001-01-01T00:00:00Z\") - input.d1",
	"timestamp(\"9999-12-31T23:59:59Z\") + input.d1", "timestamp(\"9999-12-31T23:59:59Z\") - timestamp(\"0001-01-01T00:00:00Z\")", "timestamp(input.s1)", "duration(input.s1)", "duration(string(input.d1))", "timestamp(string(input.t1)).getHours()",
	"timestamp(\"2024-12-31T23:30:00-01:00\").getDayOfYear()", "timestamp(\"2024-03-01T00:00:00Z\").getDayOfWeek()", "input.t1.getMilliseconds() + 1", "input.t1.getMonth() * 2", "(input.t1 - input.t2).getHours()", "input.ls.join()", "input.llv.join(\"-\")", "input.ls.join(input.s1)",
	"\"日本語\".substring(1)", "\"日本語\".substring(1, 2)", "\"日本語\".substring(3)", "\"abc\".substring(0, 3)", "input.s1.substring(input.i1)", "input.s1.substring(1, 2)", "string(input.t1).substring(0, 10)",
}
