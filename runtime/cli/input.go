package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// maxInput bounds what is read from a file or standard input.
const maxInput = 64 << 20

// readInput makes the input's JSON object of the flags and the defaults. It
// reports all mistakes at once.
func readInput(s *system, info *flow.Info, f *runFlags) (*inputs, []byte, []mistake) {
	in := &inputs{info: info, values: map[string]string{}}
	if f.inputJSON != "" {
		in.fromJSON(s, f.inputJSON)
	}
	given := map[string]bool{}
	for _, arg := range f.inputs {
		name, text, ok := strings.Cut(arg, "=")
		if f := textInput(info); f != nil && len(info.Input) == 1 && (!ok || strings.ContainsAny(name, " \t\n")) && arg != f.Name {
			name, text, ok = f.Name, arg, true // a workflow that is asked a text
		}
		if !ok {
			in.fault("--input "+arg+" has no value", "write --input "+arg+"=VALUE")
			continue
		}
		if given[name] {
			in.fault("input "+name+" is given twice", "")
			continue
		}
		given[name] = true
		in.fromText(name, text)
	}
	in.fromArguments(f.texts, given)
	if len(in.mistakes) > 0 {
		return nil, nil, in.mistakes
	}
	object, mistakes := in.object()
	return in, object, mistakes
}

// inputs collects JSON values by field name.
type inputs struct {
	info     *flow.Info
	values   map[string]string
	mistakes []mistake

	file     string // of --input-json, with its text, and the inputs that come from there
	text     []byte
	fromFile map[string]bool
}

func (in *inputs) fault(message, help string) {
	in.mistakes = append(in.mistakes, mistake{message, help})
}

// field is the declared input of a name; place begins the message when there is none.
func (in *inputs) field(place, name string) *flow.Field {
	for i := range in.info.Input {
		if in.info.Input[i].Name == name {
			return &in.info.Input[i]
		}
	}
	in.fault(place+"unknown input "+name, inputHelp(in.info, name))
	return nil
}

func inputHelp(info *flow.Info, name string) string {
	names := make([]string, len(info.Input))
	for i, f := range info.Input {
		names[i] = f.Name
	}
	if near := nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	if len(names) == 0 {
		return "the workflow has no inputs"
	}
	return "the inputs are " + strings.Join(names, ", ")
}

func (in *inputs) fromJSON(s *system, file string) {
	data, err := readAll(s, file)
	if err != nil {
		in.fault("cannot read "+sourceName(file)+": "+err.Error(), "")
		return
	}
	v, err := value.Parse(data)
	if err != nil {
		in.fault(placed(sourceName(file), data, bare(err)), "")
		return
	}
	if v.Kind() != value.MapKind {
		in.fault(sourceName(file)+" holds no JSON object", `write {"name": value, ...}`)
		return
	}
	in.file, in.text, in.fromFile = sourceName(file), data, map[string]bool{}
	for _, name := range v.Keys() {
		if in.field(position(in.file, data, offsetOf(data, quotedStep(name)))+": ", name) == nil {
			continue
		}
		val, _ := v.Get(name)
		b, err := val.MarshalJSON()
		if err != nil {
			in.fault("input "+name+": "+err.Error(), "")
			continue
		}
		in.values[name], in.fromFile[name] = string(b), true
	}
}

// placed is the message of text that is not JSON, with line and column.
func placed(name string, data []byte, message string) string {
	at, rest, ok := strings.Cut(strings.TrimPrefix(message, "invalid JSON at byte "), ": ")
	n, err := strconv.Atoi(at)
	if !ok || err != nil || n > len(data) {
		return name + " is not valid JSON: " + message
	}
	return position(name, data, n) + ": invalid JSON: " + rest
}

func sourceName(file string) string {
	if file == "-" {
		return "standard input"
	}
	return file
}

func readAll(s *system, file string) ([]byte, error) {
	r := s.stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, unwrapAll(err)
		}
		defer func() { _ = f.Close() }() // only read
		r = f
	}
	data, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return nil, unwrapAll(err)
	}
	if len(data) > maxInput {
		return nil, errors.New("more than 64 MiB")
	}
	return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), nil
}

// unwrapAll returns the innermost error: the outer ones repeat the file's name.
func unwrapAll(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// bare returns a tool error's message without its code, which is no help here.
func bare(err error) string {
	var te *value.ToolError
	if errors.As(err, &te) {
		return te.Message
	}
	return err.Error()
}

func (in *inputs) fromText(name, text string) {
	f := in.field("", name)
	if f == nil {
		return
	}
	value, m := typed(f, text)
	if m != nil {
		in.mistakes = append(in.mistakes, *m)
		return
	}
	in.values[name] = value
	delete(in.fromFile, name)
}

// fromArguments takes the bare text of a workflow with one text input.
func (in *inputs) fromArguments(texts []string, given map[string]bool) {
	if len(texts) == 0 {
		return
	}
	f := textInput(in.info)
	switch {
	case f == nil:
		help := "set inputs with --input NAME=VALUE"
		if near := nearest(texts[0], verbs); near != "" {
			help = "did you mean " + near + "?"
		}
		in.fault("unexpected argument "+texts[0], help)
	case len(texts) > 1:
		in.fault("there is one text input, "+f.Name+", but "+itoa(len(texts))+" texts", "put the text in quotes")
	case given[f.Name]:
		in.fault("input "+f.Name+" is given twice", "")
	default:
		in.fromText(f.Name, texts[0])
	}
}

// textInput returns the input that a bare argument sets: the only required
// input, or the only one at all, when it is a string.
func textInput(info *flow.Info) *flow.Field {
	var found *flow.Field
	for i := range info.Input {
		f := &info.Input[i]
		if !required(f) && len(info.Input) > 1 {
			continue
		}
		if found != nil {
			return nil
		}
		found = f
	}
	if found == nil || plainType(found.Type) != "string" {
		return nil
	}
	return found
}

func required(f *flow.Field) bool {
	return f.Default == "" && !strings.HasPrefix(f.Type, "opt<")
}

// object writes the values and defaults in the order of declaration.
func (in *inputs) object() ([]byte, []mistake) {
	var missing, flags []string
	b := []byte{'{'}
	for i := range in.info.Input {
		f := &in.info.Input[i]
		value, ok := in.values[f.Name]
		if !ok && f.Default == "" {
			if required(f) {
				missing = append(missing, f.Name+" ("+f.Type+")")
				flags = append(flags, "--input "+f.Name+"=...")
			}
			continue
		}
		if !ok {
			value = f.Default
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, quote(f.Name)...), ':'), value...)
	}
	if len(missing) == 0 {
		return append(b, '}'), nil
	}
	message := "missing input "
	if len(missing) > 1 {
		message = "missing inputs "
	}
	return nil, []mistake{{message + strings.Join(missing, ", "), "add " + strings.Join(flags, " ")}}
}

// plainType strips opt<...>.
func plainType(t string) string {
	for {
		inner, ok := strings.CutPrefix(t, "opt<")
		if !ok {
			return t
		}
		t = strings.TrimSuffix(inner, ">")
	}
}

// typed returns the JSON of a text from the command line, read by the field's
// type. Bounds and patterns are left to the strict decoder.
func typed(f *flow.Field, text string) (string, *mistake) {
	wrong := func(want, help string) (string, *mistake) {
		return "", &mistake{"input " + f.Name + " is " + want + ", not " + strconv.Quote(clip(text)), help}
	}
	if !utf8.ValidString(text) {
		return "", &mistake{"input " + f.Name + " is not valid UTF-8", ""}
	}
	kind := plainType(f.Type)
	if text == "null" && kind != f.Type && kind != "string" {
		return text, nil
	}
	switch kind {
	case "string", "time", "duration", "bytes":
		return quote(text), nil
	case "int":
		n, err := strconv.ParseInt(text, 10, 64)
		if errors.Is(err, strconv.ErrRange) {
			return wrong("an int of 64 bits", "")
		}
		if err != nil {
			return wrong("an int", "")
		}
		return strconv.FormatInt(n, 10), nil
	case "float":
		n, err := strconv.ParseFloat(text, 64)
		// Go also reads hexadecimal, Inf and NaN; none of them is meant here.
		if err != nil || strings.ContainsAny(text, "xXpP_iInN") {
			return wrong("a float", "")
		}
		return value.FormatFloat(n), nil
	case "bool":
		switch strings.ToLower(text) {
		case "true", "yes", "y", "1":
			return "true", nil
		case "false", "no", "n", "0":
			return "false", nil
		}
		return wrong("true or false", "")
	}
	if list, ok := strings.CutPrefix(kind, "enum<"); ok {
		values := strings.Split(strings.TrimSuffix(list, ">"), "|")
		if slices.Contains(values, text) {
			return quote(text), nil
		}
		help := ""
		if near := nearest(text, values); near != "" {
			help = "did you mean " + near + "?"
		}
		return wrong("one of "+strings.Join(values, ", "), help)
	}
	if _, err := value.Parse([]byte(text)); err != nil {
		if named(kind) || f.Type == "opt<any>" && !strings.ContainsAny(text[:min(1, len(text))], `{["`) {
			return quote(text), nil // a named enum or string, which the decoder knows, or text without quotes
		}
		return "", &mistake{"input " + f.Name + " is " + article(f.Type) + ", written as JSON: " + bare(err), jsonHelp(f, kind)}
	}
	return text, nil
}

// named reports whether kind is a type declared by the user.
func named(kind string) bool {
	return kind != "any" && kind != "" && !strings.ContainsAny(kind, "<{")
}

func article(t string) string {
	if t != "" && strings.ContainsRune("aeiou", rune(t[0])) {
		return "an " + t
	}
	return "a " + t
}

func jsonHelp(f *flow.Field, kind string) string {
	switch {
	case strings.HasPrefix(kind, "list<string"):
		return `write --input '` + f.Name + `=["a", "b"]'`
	case kind == "any":
		return `text needs quotes: --input '` + f.Name + `="text"'`
	}
	return ""
}

// clip bounds a text that goes into a message.
func clip(s string) string {
	const most = 80
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// quote returns s as a JSON string.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil { // strings always encode
		return `""`
	}
	return string(b)
}
