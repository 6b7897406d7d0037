package native

var caseID = naming{"the name of a case", idForm, idRule, false, toID}

var anyError = oneOf(text, shape(shapeWantError))

var (
	shapeCaseFile = &Shape{
		Name: "cases", What: "a test file", Doc: "Test cases of one workflow.",
		Keys: []Key{
			{Name: "flowgen", Value: word(languageVersion), Required: true, Doc: "the version of the language: 1"},
			{Name: "workflow", Value: file, Doc: "the workflow, when it is not the one with the same name"},
			{Name: "cases", Value: mapOf(shape(shapeCase)), Required: true, Doc: "the runs, by name"},
		},
		Instead: map[string]string{"tests": "write `cases:`", "nodes": "this is a test file: workflows end in `.flowgen.yaml`", "input": "an input belongs to a case, under `cases:`"},
	}

	shapeCase = &Shape{
		Name: "case", What: "a case", Doc: "One run of the workflow, and what it must do.",
		Keys: []Key{
			{Name: "description", Value: text, Doc: "what the case is about"},
			{Name: "input", Value: mapOf(Form{Kind: FormConst}), Doc: "the input of the run; fields with a default can be left out"},
			{Name: "answers", Value: mapOf(text), Doc: "what users answer, by the key of the question; null: nobody answers"},
			{Name: "cassette", Value: file, Doc: "the file with the recorded calls, when it is not `testdata/WORKFLOW/CASE.jsonl`"},
			{Name: "want", Value: shape(shapeWant), Doc: "what must come out"},
		},
		Instead: map[string]string{"expect": "write `want:`", "inputs": "write `input:`", "output": "write it under `want:`", "error": "write it under `want:`", "assert": "write `want:`"},
	}

	shapeWant = &Shape{
		Name: "want", What: "`want`", Doc: "What a run must do.",
		Keys: []Key{
			{Name: "output", Value: mapOf(Form{Kind: FormConst}), Doc: "fields of the result"},
			{Name: "state", Value: mapOf(Form{Kind: FormConst}), Doc: "fields of the state at the end of the run"},
			{Name: "calls", Value: mapOf(shape(shapeWantCall)), Doc: "what nodes called, by key: `fetch`, `probe[*]/search`, `draft#2`"},
			{Name: "order", Value: listOf(text), Doc: "keys of calls, each of which ends before the next begins"},
			{Name: "cost", Value: shape(shapeWantCost), Doc: "what the calls take together"},
			{Name: "error", Value: anyError, Doc: "the error that the run must end with: a code, or code, node and message"},
		},
		Instead: map[string]string{"outputs": "write `output:`", "errors": "write `error:`", "costs": "write `cost:`", "nodes": "write `calls:`"},
	}

	shapeWantCall = &Shape{
		Name: "want.call", What: "a call", Doc: "What the calls with a key must be.",
		Keys: []Key{
			{Name: "input", Value: Form{Kind: FormConst}, Doc: "the input of the tool"},
			{Name: "output", Value: Form{Kind: FormConst}, Doc: "what the tool gave"},
			{Name: "error", Value: anyError, Doc: "the error the last attempt ended with"},
			{Name: "cached", Value: word("true", "false"), Doc: "whether a cache gave the output"},
			{Name: "attempts", Value: count, Doc: "how often it was tried"},
			{Name: "times", Value: number, Doc: "how many calls have the key; 0: none"},
		},
		Instead: map[string]string{"count": "write `times:`", "with": "write `input:`", "never": "write `times: 0`"},
	}

	shapeWantCost = &Shape{
		Name: "want.cost", What: "`cost`", Doc: "What the calls of a run take together.",
		Keys: []Key{
			{Name: "usd", Value: money, Doc: "dollars"},
			{Name: "max_usd", Value: money, Doc: "the most dollars"},
			{Name: "tokens", Value: number, Doc: "tokens of models"},
			{Name: "max_tokens", Value: number, Doc: "the most tokens"},
			{Name: "calls", Value: number, Doc: "calls, each attempt counted"},
			{Name: "max_calls", Value: number, Doc: "the most calls"},
		},
	}

	shapeWantError = &Shape{
		Name: "want.error", What: "`error`", Doc: "An error.",
		Keys: []Key{
			{Name: "code", Value: text, Doc: "one of the nine codes"},
			{Name: "node", Value: id, Doc: "the id of the node that failed"},
			{Name: "message", Value: text, Doc: "the message, or a condition on it"},
		},
	}
)

// CaseShapes are the shapes of test files.
func CaseShapes() []*Shape {
	return []*Shape{shapeCaseFile, shapeCase, shapeWant, shapeWantCall, shapeWantCost, shapeWantError}
}
