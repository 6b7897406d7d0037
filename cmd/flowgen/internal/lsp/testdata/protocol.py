"""Writes protocol.json, the part of LSP's meta model that flowgen's own types are held to, from the Python package lsprotocol, which
Microsoft generates from the meta model. In a virtual environment with that package:

    python protocol.py >protocol.json
"""
import enum
import importlib.metadata
import json
import typing

import attrs
from lsprotocol import types

TYPES = """CallHierarchyIncomingCall CallHierarchyIncomingCallsParams CallHierarchyItem CallHierarchyOutgoingCall
ClientCapabilities CodeAction CodeActionContext CodeActionOptions CodeActionParams CodeDescription CodeLens Command CompletionItem CompletionList
CompletionOptions CompletionParams CreateFile Diagnostic DiagnosticRelatedInformation DidChangeTextDocumentParams DidChangeWatchedFilesParams
DidOpenTextDocumentParams DocumentHighlight DocumentLink DocumentRangeFormattingClientCapabilities DocumentRangeFormattingParams
DocumentRangesFormattingParams DocumentSymbol ExecuteCommandParams FileEvent FoldingRange GeneralClientCapabilities Hover InitializeParams InlayHint
Location MarkupContent OptionalVersionedTextDocumentIdentifier ParameterInformation Position PrepareRenamePlaceholder PublishDiagnosticsParams Range ReferenceContext ReferenceParams
RenameParams SelectionRange SelectionRangeParams SemanticTokens ServerCapabilities SignatureHelp SignatureInformation SymbolInformation
TextDocumentClientCapabilities TextDocumentContentChangePartial TextDocumentContentResult TextDocumentEdit TextDocumentItem TextEdit VersionedTextDocumentIdentifier
WorkspaceClientCapabilities WorkspaceEdit WorkspaceFolder WorkspaceSymbolParams""".split()
ENUMS = """CompletionItemKind DiagnosticSeverity DiagnosticTag DocumentHighlightKind ErrorCodes InlayHintKind LSPErrorCodes MarkupKind
SemanticTokenModifiers SemanticTokenTypes SymbolKind CodeActionKind PositionEncodingKind""".split()


def camel(name):
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word.title() for word in rest)


def names(t):
    """The alternatives of a type: names of the protocol, [] for arrays, {} for maps."""
    origin = typing.get_origin(t)
    if origin is typing.Union:
        return sorted({n for a in typing.get_args(t) for n in names(a)})
    if origin is typing.Literal:
        return ["string"]
    if isinstance(t, typing.ForwardRef):
        return [t.__forward_arg__]
    if origin is not None:
        return ["{}"] if "Mapping" in str(origin) or origin is dict else ["[]" + n for n in names(typing.get_args(t)[0])]
    return [{type(None): "null", str: "string", int: "integer", bool: "boolean", float: "decimal"}.get(t) or getattr(t, "__name__", str(t))]


def fields(name):
    cls = getattr(types, name)
    attrs.resolve_types(cls, types.ALL_TYPES_MAP, {})
    return {camel(f.name): {"optional": f.default is not attrs.NOTHING, "types": [n for n in names(f.type) if n != "null"]} for f in attrs.fields(cls)}


model = {
    "origin": "lsprotocol " + importlib.metadata.version("lsprotocol") + " of PyPI (MIT, Copyright Microsoft), generated from metaModel.json with LSP 3.18",
    "methods": sorted(types.METHOD_TO_TYPES),
    "types": {t: fields(t) for t in TYPES},
    "enums": {e: {m.name: m.value for m in getattr(types, e)} for e in ENUMS},
}
print("{" + ",\n".join(
    json.dumps(k) + ": " + ("{\n" + ",\n".join(json.dumps(n) + ": " + json.dumps(x) for n, x in v.items()) + "}" if isinstance(v, dict) else json.dumps(v))
    for k, v in model.items()) + "}")
