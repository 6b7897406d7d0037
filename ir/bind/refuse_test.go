package bind

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// refusals binds every key of tests as a tool; the value is its one diagnostic, "" when there is none.
func refusals(t *testing.T, tests map[string]string) {
	t.Helper()
	refs := sortedKeys(tests)
	s := tools(refs...)
	got := map[string]string{}
	for _, ref := range refs {
		got[ref] = ""
	}
	for _, d := range s.resolve(t) {
		ref := refs[d.Span.Start().Line-1]
		if got[ref] != "" {
			t.Errorf("two diagnostics for %s", ref)
		}
		got[ref] = show([]diag.Diagnostic{d})[0]
	}
	if diff := cmp.Diff(tests, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i, tool := range s.wf.Tools {
		if tool.In == nil || tool.Out == nil {
			t.Errorf("%s leaves the tool without types", refs[i])
		}
	}
}

func TestTypesRefused(t *testing.T) {
	refusals(t, map[string]string{
		"./bad.Hook":         "FG0606 <./bad.Hook> bad.HookIn.cb is a func, which cannot be journalled @ flows/bad/types.go:12:2 <cb> declared here",
		"./bad.HookAgain":    "", // the type was reported
		"./bad.Chan":         "FG0606 <./bad.Chan> bad.ChanIn.C[] is a channel, which cannot be journalled @ flows/bad/types.go:15:21 <C> declared here",
		"./bad.Quiet":        "FG0606 <./bad.Quiet> bad.QuietIn.n is unexported, so it cannot be journalled | export it, or tag it `json:\"-\"` if it may be lost @ flows/bad/types.go:19:2 <n> declared here",
		"./bad.Embed":        "FG0606 <./bad.Embed> bad.EmbedIn.Base is an embedded struct without a JSON name, which cannot be journalled | name it with a json tag, or list its fields @ flows/bad/types.go:25:2 <Base> declared here",
		"./bad.Recursive":    "FG0606 <./bad.Recursive> bad.Tree.Children[] leads back to bad.Tree, a type that holds itself, so it cannot be journalled | keep the nested part as value.Value, or as a list with references @ flows/bad/types.go:35:2 <Children> declared here",
		"./bad.QuietType":    "FG0606 <./bad.QuietType> bad.QuietTypeIn.Q is of the unexported type bad.quiet, so it cannot be journalled | export the type @ flows/bad/types.go:40:26 <Q> declared here",
		"./bad.Twice":        "FG0606 <./bad.Twice> bad.TwiceIn.B has the same JSON name as another field, `a`, so it cannot be journalled | give it a json tag of its own @ flows/bad/types.go:44:2 <B> declared here",
		"./bad.String":       "FG0606 <./bad.String> bad.StringIn.N is a number written as a string in JSON, which cannot be journalled | remove `string` from its json tag @ flows/bad/types.go:48:2 <N> declared here",
		"./bad.Array":        "FG0606 <./bad.Array> bad.ArrayIn.A is an array, which cannot be journalled | make it a slice @ flows/bad/types.go:51:22 <A> declared here",
		"./bad.Keys":         "FG0606 <./bad.Keys> bad.KeysIn.M is a map whose keys are not strings, which cannot be journalled | make its keys of type string @ flows/bad/types.go:53:21 <M> declared here",
		"./bad.Any":          "FG0606 <./bad.Any> bad.AnyIn.A is an interface, which cannot be journalled | make it a concrete type; value.Value is the one that holds anything @ flows/bad/types.go:55:20 <A> declared here",
		"./bad.Err":          "FG0606 <./bad.Err> bad.ErrIn.E is an error, which cannot be journalled | return errors as the last result @ flows/bad/types.go:57:20 <E> declared here",
		"./bad.Bytes":        "FG0606 <./bad.Bytes> bad.BytesIn.B is a slice of a named byte type, which cannot be journalled | make it []byte @ flows/bad/types.go:59:22 <B> declared here",
		"./bad.Raw":          "FG0606 <./bad.Raw> parameter `raw` of bad.Raw is a json.RawMessage, which cannot be journalled | use value.Value @ flows/bad/types.go:78:6 <Raw> declared here",
		"./bad.Big":          "FG0606 <./bad.Big> the result of bad.Big is a big.Int, whose encoded form is its own (MarshalJSON), so it cannot be journalled | use string or another plain type, and convert in the tool @ flows/bad/types.go:79:6 <Big> declared here",
		"./bad.Addr":         "FG0606 <./bad.Addr> the parameter of bad.Addr is a netip.Addr, whose encoded form is its own (MarshalText), so it cannot be journalled | use string or another plain type, and convert in the tool @ flows/bad/types.go:80:6 <Addr> declared here",
		"./bad.Complex":      "FG0606 <./bad.Complex> parameter `c` of bad.Complex is of type complex128, so it cannot be journalled @ flows/bad/types.go:82:6 <Complex> declared here",
		"./bad.Pointer":      "FG0606 <./bad.Pointer> parameter `p` of bad.Pointer is a pointer to a pointer, which cannot be journalled @ flows/bad/types.go:83:6 <Pointer> declared here",
		"./bad.Anonymous":    "FG0606 <./bad.Anonymous> the result of bad.Anonymous is a struct without a name, which cannot be journalled | declare a type for it @ flows/bad/types.go:84:6 <Anonymous> declared here",
		"./bad.Func":         "FG0606 <./bad.Func> parameter `f` of bad.Func is a func, which cannot be journalled @ flows/bad/types.go:85:6 <Func> declared here",
		"./bad.Unresolvable": "FG0604 <Unresolvable> package bad has no function `Unresolvable`",
	})
}

func TestOnlyUnexported(t *testing.T) {
	got := tools("strings.NewReader").resolve(t)
	want := "the result of strings.NewReader is a strings.Reader, which has only unexported fields, so it cannot be journalled"
	if len(got) != 1 || got[0].Message != want || got[0].Related[0].Span.File.Name != "strings/reader.go" {
		t.Error(show(got))
	}
}

func TestShapesRefused(t *testing.T) {
	const at = " @ flows/bad/shapes.go:"
	refusals(t, map[string]string{
		"./bad.T.Method":          "FG0605 <./bad.T.Method> bad.T.Method is a method, and nothing says the value to call it on",
		testPath + "bad.T.Method": "FG0605 <" + testPath + "bad.T.Method> bad.T.Method is a method, and nothing says the value to call it on",
		"./bad.Generic":           "FG0605 <./bad.Generic> bad.Generic is generic, and nothing says its type arguments" + at + "10:6 <Generic> bad.Generic is declared here",
		"./bad.Variadic":          "FG0605 <./bad.Variadic> bad.Variadic is variadic; declare a function that takes a slice" + at + "12:6 <Variadic> bad.Variadic is declared here",
		"./bad.NoNames":           "FG0605 <./bad.NoNames> parameter 1 of bad.NoNames has no name, so the input has none for it" + at + "14:6 <NoNames> bad.NoNames is declared here",
		"./bad.Blank":             "FG0605 <./bad.Blank> parameter 1 of bad.Blank has no name, so the input has none for it" + at + "16:6 <Blank> bad.Blank is declared here",
		"./bad.Two":               "FG0605 <./bad.Two> bad.Two returns 2 values; a tool returns one, and perhaps an error" + at + "18:6 <Two> bad.Two is declared here",
		"./bad.Three":             "FG0605 <./bad.Three> bad.Three returns 2 values; a tool returns one, and perhaps an error" + at + "20:6 <Three> bad.Three is declared here",
		"./bad.Errors":            "FG0605 <./bad.Errors> bad.Errors returns two errors" + at + "22:6 <Errors> bad.Errors is declared here",
		"./bad.Late":              "FG0605 <./bad.Late> bad.Late takes a context that is not its first parameter" + at + "24:6 <Late> bad.Late is declared here",
	})
}

func TestNames(t *testing.T) {
	refusals(t, map[string]string{
		"./tools.Serach":   "FG0604 <Serach> package tools has no function `Serach` | replace with `Search` ! Serach -> Search",
		"./tools.hidden":   "FG0604 <hidden> tools.hidden is not exported, so generated code cannot call it | rename it to Hidden in Go @ flows/tools/tools.go:89:6 <hidden> declared here",
		"./tools.SearchIn": "FG0604 <SearchIn> tools.SearchIn is a type, not a function | replace with `Search` ! SearchIn -> Search",
		"./tools.Variable": "FG0604 <Variable> tools.Variable is a variable, not a function",
		"./tools.High":     "FG0604 <High> tools.High is a constant, not a function",
		"strings.ToUper":   "FG0604 <ToUper> package strings has no function `ToUper` | replace with `ToUpper` ! ToUper -> ToUpper",
		"unsafe.Sizeof":    "FG0604 <Sizeof> package unsafe has no function `Sizeof`",
	})
}

func TestReferences(t *testing.T) {
	const help = " | write the import path, a dot and the name: example.com/app/tools.Search, or ./tools.Search for a folder next to this file"
	none := func(ref string) string {
		return "FG0601 <" + ref + "> the Go reference `" + ref + "` names no function" + help
	}
	path := func(ref, path, what string) string {
		return "FG0601 <" + path + "> the Go reference `" + ref + "` starts with `" + path + "`, which is not " + what + help
	}
	refusals(t, map[string]string{
		"strings":      none("strings"),
		"strings.":     none("strings."),
		"./tools":      none("./tools"),
		"..":           none(".."),
		"./":           none("./"),
		"./...":        none("./..."),
		"...":          none("..."),
		"all.X":        path("all.X", "all", "an import path"),
		"C.x":          path("C.x", "C", "an import path"),
		"-x.F":         path("-x.F", "-x", "an import path"),
		"a@b.F":        path("a@b.F", "a@b", "an import path"),
		"/abs.F":       path("/abs.F", "/abs", "an import path"),
		"tools/...F":   path("tools/...F", "tools/..", "an import path"),
		"file=x.go.F":  path("file=x.go.F", "file=x.go", "an import path"),
		"./....F":      path("./....F", "./...", "a folder of Go files"),
		"./x.go.F":     path("./x.go.F", "./x.go", "a folder of Go files"),
		"strings.1x":   "FG0601 <1x> the Go reference `strings.1x` ends in `1x`, which is not a Go name" + help,
		"strings.func": "FG0601 <func> the Go reference `strings.func` ends in `func`, which is not a Go name" + help,
		"a\x00b.F":     "FG0601 <a\x00b> the Go reference \"a\\x00b.F\" starts with \"a\\x00b\", which is not an import path" + help,
	})
}

func TestMissingPackages(t *testing.T) {
	refusals(t, map[string]string{
		"./tols.Search":                 "FG0602 <./tols> no folder `./tols` next to flows/t.flowgen.yaml | replace with `./tools` ! ./tols -> ./tools",
		"./nothinglikeit.F":             "FG0602 <./nothinglikeit> no folder `./nothinglikeit` next to flows/t.flowgen.yaml",
		"./empty.Search":                "FG0602 <./empty> `./empty` holds no Go files",
		".F":                            "FG0602 <.F> `.` holds no Go files",
		"tools.Another":                 "FG0602 <tools> package `tools` is not in the standard library | replace with `./tools` ! tools -> ./tools",
		"tools.Other":                   "", // the package was reported
		"stringz.ToUpper":               "FG0602 <stringz> package `stringz` is not in the standard library | write the import path with its module, or a path relative to this file, such as ./stringz.ToUpper",
		"example.com/x.v3.Search":       "FG0602 <example.com/x.v3> no module in go.mod provides package `example.com/x.v3` | run `go get example.com/x.v3`",
		testPath + "tolls.Search":       "FG0602 <" + testPath + "tolls> module `github.com/flowgen-dev/flowgen` has no package `" + testPath + "tolls` | replace with `" + testPath + "tools` ! " + testPath + "tolls -> " + testPath + "tools",
		"github.com/flowgen-dev/flow.F": "FG0602 <github.com/flowgen-dev/flow> no module in go.mod provides package `github.com/flowgen-dev/flow` | run `go get github.com/flowgen-dev/flow`",
		"strings.ToUpper":               "",
	})
}

func TestImportable(t *testing.T) {
	refusals(t, map[string]string{
		"./command.Do":                "FG0609 <./command> `" + testPath + "command` is a command (package main), which cannot be imported | move the function to a package of its own",
		"internal/stringslite.Clone":  "FG0609 <internal/stringslite> `internal/stringslite` is internal to the standard library | name a function of a package that is not internal",
		"./other/internal/hidden.Do":  "FG0609 <./other/internal/hidden> `" + testPath + "other/internal/hidden` is internal to `" + testPath + "other` and cannot be imported here | name a function of a package that is not internal",
		"net/http/internal.NewReader": "FG0609 <net/http/internal> `net/http/internal` is internal to the standard library | name a function of a package that is not internal",
	})
	inside := tools("../internal/hidden.Do")
	inside.dir = "testdata/src/other/flow"
	if got := show(inside.resolve(t)); got != nil {
		t.Error(got)
	}
}

func TestBroken(t *testing.T) {
	refusals(t, map[string]string{
		"./broken.Do":     "FG0603 <./broken> package `" + testPath + "broken` does not compile: undefined: Missing @ flows/broken/broken.go:4:19 <Missing> the first error is here",
		"./broken.Other":  "",
		"./usesbroken.Do": "",
	})
	refusals(t, map[string]string{
		"./usesbroken.Do": "FG0603 <./usesbroken> package `" + testPath + "broken` does not compile: undefined: Missing @ flows/broken/broken.go:4:19 <Missing> the first error is here",
	})
}

// Functions beside the generated file are found although the package waits for that file, or it no longer fits.
func TestBesideGenerated(t *testing.T) {
	for dir, want := range map[string][]string{
		"app":   {"FG0603 <./.Lost> parameter `in` of main.Lost has a type that is not defined, or not without the generated file | declare it outside of generated code @ flows/tools.go:12:6 <Lost> declared here"},
		"stale": {"FG0606 <./.Lost> the parameter of main.Lost is of type main.Input, which flowgen generates, so it cannot be journalled | declare the type outside of generated code @ flows/main.go:14:6 <Lost> declared here"},
	} {
		s := tools("./.Up", "./.Lost", testPath+dir+".Up")
		s.dir = "testdata/src/" + dir
		if diff := cmp.Diff(want, show(s.resolve(t))); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", dir, diff)
		}
		for _, i := range []int{0, 2} {
			if b := s.bind(i); b == nil || b.Path != testPath+dir || b.Package != "main" || b.In.Field("text") == nil {
				t.Errorf("%s: %s", dir, describeBinding(b))
			}
		}
	}
}

func TestTags(t *testing.T) {
	refusals(t, map[string]string{
		"./tags.Rule":    "FG0610 <./tags.Rule> the tag of tags.RuleIn.N has an unknown rule: `minimum=3` @ flows/tags/tags.go:14:2 <N> declared here",
		"./tags.Number":  "FG0610 <./tags.Number> the tag of tags.NumberIn.N has a min that is not a number: `low` @ flows/tags/tags.go:20:2 <N> declared here",
		"./tags.Pattern": "FG0610 <./tags.Pattern> the tag of tags.PatternIn.S has a pattern that is not a regular expression: `(` @ flows/tags/tags.go:26:2 <S> declared here",
		"./tags.Enum":    "FG0610 <./tags.Enum> the tag of tags.EnumIn.N has an enum, but bool holds no text @ flows/tags/tags.go:32:2 <N> declared here",
		"./tags.Default": "FG0610 <./tags.Default> the tag of tags.DefaultIn.N has a default that is not JSON: `three` @ flows/tags/tags.go:38:2 <N> declared here",
		"./tags.Wrong":   "FG0610 <./tags.Wrong> the tag of tags.WrongIn.N has a default that is not of type int: `\"3\"` @ flows/tags/tags.go:44:2 <N> declared here",
	})
	s := tools("./tags.Good")
	if got := show(s.resolve(t)); got != nil {
		t.Fatal(got)
	}
	want := `{level/Level: enum<low|high>@string = "low", levels/Levels: list<enum<a|b>@string> >=1, n/N: int@int = 3 >=0 <=10, id/ID: string <=8 ~^[a-z]{1,8}$}@tags.In`
	if diff := cmp.Diff(want, spell(s.bind(0).In)); diff != "" {
		t.Error(diff)
	}
}

func TestReducersAndTypes(t *testing.T) {
	wf, ids := sampleFile("t.flowgen.yaml", "go:./tools.Larger", "go:./tools.Pure", "go:./tools.Page", "./tools.Hits", "./tools.Hit2", "./tools.Search", "go:./bad.T", "./bad.Variadic")
	for _, i := range []int{0, 1, 7} {
		wf.State = append(wf.State, &ir.State{Merge: ir.Merge{Kind: ir.MergeReducer, Reducer: &ir.GoFunc{Ref: ids[i]}}})
	}
	decl := &schema.Decl{Name: "Hits"}
	for _, id := range ids[2:7] {
		wf.GoTypes = append(wf.GoTypes, &ir.GoType{Ref: id, Type: &schema.Type{Decl: decl}})
	}
	want := []string{
		"FG0608 <./tools.Pure> tools.Pure is not a merge rule: that is func(old, new T) T, with T the type of the field @ tools/tools.go:68:6 <Pure> tools.Pure is declared here",
		"FG0606 <./tools.Page> tools.Page is the generic type tools.Page[T any], so it cannot be journalled | declare a type that names its arguments @ tools/tools.go:55:6 <Page> declared here",
		"FG0604 <Hit2> package tools has no type `Hit2`",
		"FG0604 <Search> tools.Search is a function, not a type | replace with `SearchIn` ! Search -> SearchIn",
		"FG0605 <./bad.Variadic> bad.Variadic is variadic; declare a function that takes a slice @ bad/shapes.go:12:6 <Variadic> bad.Variadic is declared here",
	}
	if diff := cmp.Diff(want, show(sample{wf: wf, dir: "testdata/src"}.resolve(t))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r := wf.State[0].Merge.Reducer.Bind; r == nil || !r.Reducer {
		t.Error("a rule with unnamed parameters is not bound")
	}
	if hits := wf.GoTypes[1].Type; spell(hits) != "list<string>@tools.Hits" || hits.Decl != decl {
		t.Error(spell(hits))
	}
	if got := spell(wf.GoTypes[4].Type); got != "{X: string}@bad.T" {
		t.Error(got)
	}
}
