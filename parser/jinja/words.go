package jinja

// Filters are the filters that are compiled, with the names of their parameters.
var Filters = map[string][]string{
	"default": {"default_value", "boolean"}, "d": {"default_value", "boolean"}, "join": {"d", "attribute"}, "length": {}, "count": {}, "upper": {}, "lower": {}, "title": {}, "capitalize": {},
	"trim": {"chars"}, "replace": {"old", "new", "count"}, "tojson": {"indent"}, "first": {}, "last": {}, "list": {}, "string": {}, "int": {"default", "base"}, "float": {"default"},
	"round": {"precision", "method"}, "abs": {}, "sum": {"attribute", "start"}, "min": {"case_sensitive", "attribute"}, "max": {"case_sensitive", "attribute"},
	"sort": {"reverse", "case_sensitive", "attribute"}, "reverse": {}, "unique": {"case_sensitive", "attribute"}, "indent": {"width", "first", "blank"}, "truncate": {"length", "killwords", "end", "leeway"},
	"wordcount": {}, "items": {}, "dictsort": {"case_sensitive", "by", "reverse"}, "safe": {}, "escape": {}, "e": {}, "format": {"*"},
	"map": {"filter", "attribute", "default"}, "selectattr": {"*"}, "rejectattr": {"*"}, "select": {"*"}, "reject": {"*"}, "pprint": {},
	"groupby": {"attribute", "default", "case_sensitive"}, "batch": {"linecount", "fill_with"}, "slice": {"slices", "fill_with"}, "center": {"width"}, "wordwrap": {"width", "break_long_words", "wrapstring"},
	"striptags": {}, "urlencode": {}, "attr": {"name"},
}

// tests are other names of tests.
var tests = map[string]string{"==": "eq", "equalto": "eq", "!=": "ne", ">": "gt", "greaterthan": "gt", ">=": "ge", "<": "lt", "lessthan": "lt", "<=": "le", "True": "true", "False": "false", "None": "none"}

// Tests are the tests that are compiled, with how many arguments they take.
var Tests = map[string]int{"defined": 0, "undefined": 0, "none": 0, "string": 0, "number": 0, "integer": 0, "float": 0, "boolean": 0, "mapping": 0, "sequence": 0, "iterable": 0,
	"true": 0, "false": 0, "odd": 0, "even": 0, "divisibleby": 1, "in": 1, "eq": 1, "ne": 1, "gt": 1, "ge": 1, "lt": 1, "le": 1, "lower": 0, "upper": 0, "sameas": 1}

// Functions are the functions that are compiled.
var Functions = map[string][]string{"range": {"*"}}

// LoopWords are the attributes of `loop` that are compiled.
var LoopWords = []string{"index", "index0", "revindex", "revindex0", "first", "last", "length", "previtem", "nextitem", "cycle"}

// Methods are the methods of values that are compiled, with the names of their parameters.
var Methods = map[string][]string{
	"items": {}, "keys": {}, "values": {}, "get": {"key", "default"}, "upper": {}, "lower": {}, "title": {}, "capitalize": {}, "strip": {"chars"}, "lstrip": {"chars"}, "rstrip": {"chars"},
	"split": {"sep", "maxsplit"}, "splitlines": {}, "join": {"iterable"}, "replace": {"old", "new", "count"}, "startswith": {"prefix"}, "endswith": {"suffix"}, "count": {"x"}, "find": {"sub"},
	"index": {"x"}, "isdigit": {}, "format": {"*"}, "cycle": {"*"},
}
