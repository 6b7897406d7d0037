package lsp

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A model is the reduced meta model of the protocol: testdata/protocol.py makes it.
type model struct {
	Methods []string
	Types   map[string]map[string]struct {
		Optional bool
		Types    []string
	}
	Enums map[string]map[string]any
}

func protocolModel(t *testing.T) *model {
	t.Helper()
	raw, err := os.ReadFile("testdata/protocol.json")
	if err != nil {
		t.Fatal(err)
	}
	m := &model{}
	if err := json.Unmarshal(raw, m); err != nil {
		t.Fatal(err)
	}
	return m
}

// sent are the types of answers with the protocol's: they have every field that is required, none that the protocol does not know, and
// leave out only what is optional.
var sent = map[string]reflect.Type{
	"Position": reflect.TypeFor[position](), "Range": reflect.TypeFor[span](), "Location": reflect.TypeFor[location](), "TextEdit": reflect.TypeFor[textEdit](),
	"CreateFile": reflect.TypeFor[createFile](), "TextDocumentEdit": reflect.TypeFor[documentEdit](), "OptionalVersionedTextDocumentIdentifier": reflect.TypeFor[versioned](),
	"WorkspaceEdit": reflect.TypeFor[workspaceEdit](), "PublishDiagnosticsParams": reflect.TypeFor[publishParams](), "Diagnostic": reflect.TypeFor[diagnostic](),
	"CodeDescription": reflect.TypeFor[codeDescription](), "DiagnosticRelatedInformation": reflect.TypeFor[related](), "CodeAction": reflect.TypeFor[codeAction](),
	"DocumentSymbol": reflect.TypeFor[symbol](), "SymbolInformation": reflect.TypeFor[workspaceSymbol](), "SemanticTokens": reflect.TypeFor[semanticTokens](),
	"FoldingRange": reflect.TypeFor[foldingRange](), "MarkupContent": reflect.TypeFor[markup](), "Hover": reflect.TypeFor[hover](), "DocumentHighlight": reflect.TypeFor[highlight](),
	"CompletionList": reflect.TypeFor[completionList](), "CompletionItem": reflect.TypeFor[completionItem](), "DocumentLink": reflect.TypeFor[documentLink](),
	"InlayHint": reflect.TypeFor[inlayHint](), "PrepareRenamePlaceholder": reflect.TypeFor[renameRange](), "CodeLens": reflect.TypeFor[codeLens](), "Command": reflect.TypeFor[command](),
	"CallHierarchyItem": reflect.TypeFor[callItem](), "CallHierarchyIncomingCall": reflect.TypeFor[incomingCall](), "CallHierarchyOutgoingCall": reflect.TypeFor[outgoingCall](),
	"SelectionRange": reflect.TypeFor[selectionRange](), "SignatureHelp": reflect.TypeFor[signatureHelp](), "SignatureInformation": reflect.TypeFor[signature](),
	"ParameterInformation": reflect.TypeFor[parameter](),
}

// taken are the types of parameters: each field is one of one of these types.
var taken = map[reflect.Type][]string{
	reflect.TypeFor[initializeParams](): {"InitializeParams"},
	reflect.TypeFor[openParams]():       {"DidOpenTextDocumentParams"},
	reflect.TypeFor[changeParams]():     {"DidChangeTextDocumentParams"},
	reflect.TypeFor[change]():           {"TextDocumentContentChangePartial"},
	reflect.TypeFor[watchedParams]():    {"DidChangeWatchedFilesParams"},
	reflect.TypeFor[positionParams]():   {"CompletionParams", "ReferenceParams", "RenameParams", "WorkspaceSymbolParams", "DocumentRangeFormattingParams", "DocumentRangesFormattingParams"},
	reflect.TypeFor[codeActionParams](): {"CodeActionParams"},
	reflect.TypeFor[selectionParams]():  {"SelectionRangeParams"},
	reflect.TypeFor[commandParams]():    {"ExecuteCommandParams"},
	reflect.TypeFor[callParams]():       {"CallHierarchyIncomingCallsParams"},
	reflect.TypeFor[textDocument]():     {"VersionedTextDocumentIdentifier"},
}

// TestProtocolTypes holds flowgen's own types to the protocol's meta model.
func TestProtocolTypes(t *testing.T) {
	m := protocolModel(t)
	for name, own := range sent {
		for _, wrong := range m.answer(name, own) {
			t.Error(wrong)
		}
	}
	for own, list := range taken {
		for f := range jsonFields(own) {
			if !slices.ContainsFunc(list, func(name string) bool { _, ok := m.Types[name][f]; return ok }) {
				t.Errorf("%v: no type of %q has %s", own, list, f)
			}
		}
	}
	type wrong struct { // the check itself: each field is one mistake, and a required one is missing
		Line  string `json:"line"`
		Other int    `json:"other"`
	}
	if got := m.answer("Position", reflect.TypeFor[wrong]()); len(got) != 3 {
		t.Errorf("a wrong type: %q", got)
	}
}

// TestProtocolMethods: the server knows no method, capability or value that is not the protocol's.
func TestProtocolMethods(t *testing.T) {
	m := protocolModel(t)
	for name := range methods {
		if !slices.Contains(m.Methods, name) && name != "textDocument/semanticTokens/range" {
			t.Errorf("%s is no method", name)
		}
	}
	for name := range capabilities("utf-16") {
		if _, ok := m.Types["ServerCapabilities"][name]; !ok {
			t.Errorf("%s is no capability", name)
		}
	}
	has := func(enum string, values ...any) {
		t.Helper()
		known := slices.Collect(maps.Values(m.Enums[enum]))
		for _, v := range values {
			if n, ok := v.(int); ok {
				v = float64(n)
			}
			if !slices.Contains(known, v) {
				t.Errorf("%v is not of %s", v, enum)
			}
		}
	}
	for _, kind := range symbolKinds {
		has("SymbolKind", kind)
	}
	for _, word := range tokenTypes {
		has("SemanticTokenTypes", word)
	}
	for _, word := range tokenModifiers {
		has("SemanticTokenModifiers", word)
	}
	for name, want := range map[string]int{
		"Method": itemMethod, "Function": itemFunction, "Field": itemField, "Variable": itemVar, "Property": itemKey, "Value": itemEnum, "File": itemFile,
		"Reference": itemRef, "Folder": itemFolder, "Struct": itemType,
	} {
		if got := m.Enums["CompletionItemKind"][name]; got != float64(want) {
			t.Errorf("CompletionItemKind %s is %v, not %d", name, got, want)
		}
	}
	for enum, want := range map[string]map[string]int{
		"DiagnosticSeverity": {"Error": 1, "Warning": 2, "Information": 3}, "DiagnosticTag": {"Unnecessary": 1, "Deprecated": 2},
		"DocumentHighlightKind": {"Read": 2, "Write": 3}, "InlayHintKind": {"Type": 1},
		"ErrorCodes":    {"InvalidParams": codeInvalidParams, "MethodNotFound": codeNotFound, "InternalError": codeInternal, "ServerNotInitialized": codeNotInitialized, "InvalidRequest": codeInvalidRequest},
		"LSPErrorCodes": {"RequestCancelled": codeCancelled, "RequestFailed": codeRefused, "ContentModified": codeModified},
	} {
		for name, value := range want {
			if got := m.Enums[enum][name]; got != float64(value) {
				t.Errorf("%s.%s is %v, not %d", enum, name, got, value)
			}
		}
	}
	has("CodeActionKind", "quickfix", "source.fixAll", "refactor.extract")
	has("MarkupKind", "markdown")
	has("PositionEncodingKind", "utf-8", "utf-16")
}

type fieldTag struct {
	t     reflect.Type
	omits bool
}

func jsonFields(t reflect.Type) map[string]fieldTag {
	out := map[string]fieldTag{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		out[name] = fieldTag{f.Type, rest == "omitempty"}
	}
	return out
}

// answer says what is wrong with a type of answers.
func (m *model) answer(name string, own reflect.Type) (wrong []string) {
	spec := m.Types[name]
	if spec == nil {
		return []string{name + " is no type of the model"}
	}
	have := jsonFields(own)
	for field, f := range have {
		p, ok := spec[field]
		switch {
		case !ok:
			wrong = append(wrong, own.String()+": "+name+" has no "+field)
		case f.omits && !p.Optional:
			wrong = append(wrong, own.String()+" may leave out "+field+", which "+name+" requires")
		case !slices.ContainsFunc(p.Types, func(t string) bool { return m.fits(f.t, t) }):
			wrong = append(wrong, own.String()+": "+field+" of "+name+" is "+strings.Join(p.Types, " or "))
		}
	}
	for field, p := range spec {
		if _, ok := have[field]; !ok && !p.Optional {
			wrong = append(wrong, own.String()+" has no "+field+", which "+name+" requires")
		}
	}
	return wrong
}

// fits reports whether a Go type is written as a type of the protocol.
func (m *model) fits(own reflect.Type, want string) bool {
	if own.Kind() == reflect.Pointer {
		own = own.Elem()
	}
	if rest, ok := strings.CutPrefix(want, "[]"); ok {
		return own.Kind() == reflect.Slice && m.fits(own.Elem(), rest)
	}
	if values := m.Enums[want]; values != nil {
		for _, v := range values {
			if _, text := v.(string); text {
				return own.Kind() == reflect.String
			}
			return own.Kind() == reflect.Int
		}
	}
	switch own.Kind() {
	case reflect.String:
		return want == "string" || want == "Any"
	case reflect.Int:
		return want == "integer"
	case reflect.Bool:
		return want == "boolean"
	case reflect.Map:
		return want == "{}"
	case reflect.Interface: // one of several types
		return want == "Any" || own.NumMethod() > 0 && sent[want] != nil && sent[want].Implements(own)
	case reflect.Struct:
		return sent[want] == own || want == "Any"
	}
	return want == "Any"
}
