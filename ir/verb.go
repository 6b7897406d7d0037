package ir

import (
	"cmp"
	"fmt"
)

// A Verb is what a node does: exactly one of the types that Switch lists.
type Verb interface{ verb() }

// Switch calls the one function that is about v; none for nil, the verb of a node whose verb was refused.
//
// Every pass that treats verbs differently calls it. A new verb needs a case below, which needs a parameter: from then on a
// pass that forgets the verb has an argument too few and does not compile. What is about some verbs only, whatever others
// there may be, is a type switch. Functions that do not escape are not allocated, so that a call costs what a type switch does.
func Switch(v Verb,
	toolCall func(*ToolCall), toolChoice func(*ToolChoice), llm func(*LLM), agent func(*Agent), human func(*Human),
	let func(*Let), goCall func(*GoCall), mapNode func(*Map), loop func(*Loop), flow func(*Flow),
	fail func(*Fail), wait func(*Wait), parse func(*Parse), perform func(*Perform),
) {
	switch v := v.(type) {
	case nil:
	case *ToolCall:
		toolCall(v)
	case *ToolChoice:
		toolChoice(v)
	case *LLM:
		llm(v)
	case *Agent:
		agent(v)
	case *Human:
		human(v)
	case *Let:
		let(v)
	case *GoCall:
		goCall(v)
	case *Map:
		mapNode(v)
	case *Loop:
		loop(v)
	case *Flow:
		flow(v)
	case *Fail:
		fail(v)
	case *Wait:
		wait(v)
	case *Parse:
		parse(v)
	case *Perform:
		perform(v)
	default:
		panic(fmt.Sprintf("ir.Switch has no case for %T", v))
	}
}

func (*ToolCall) verb()   {}
func (*ToolChoice) verb() {}
func (*LLM) verb()        {}
func (*Agent) verb()      {}
func (*Human) verb()      {}
func (*Let) verb()        {}
func (*GoCall) verb()     {}
func (*Map) verb()        {}
func (*Loop) verb()       {}
func (*Flow) verb()       {}
func (*Fail) verb()       {}
func (*Wait) verb()       {}
func (*Parse) verb()      {}
func (*Perform) verb()    {}

// BodyOf is the body that a verb repeats; nil for verbs that have none. What a Perform runs, and how often, its function decides.
func BodyOf(v Verb) (body *Body) {
	Switch(v,
		func(*ToolCall) {}, func(*ToolChoice) {}, func(*LLM) {}, func(*Agent) {}, func(*Human) {},
		func(*Let) {}, func(*GoCall) {},
		func(v *Map) { body = &v.Do },
		func(v *Loop) { body = &v.Do },
		func(*Flow) {}, func(*Fail) {}, func(*Wait) {}, func(*Parse) {}, func(*Perform) {},
	)
	return body
}

// Key is the key of a verb in the native language, and its name in plans; empty for nil.
func Key(v Verb) (key string) {
	is := func(word string) { key = word }
	Switch(v,
		func(*ToolCall) { is("tool") },
		func(*ToolChoice) { is("tool_call") },
		func(*LLM) { is("llm") },
		func(*Agent) { is("agent") },
		func(*Human) { is("human") },
		func(*Let) { is("let") },
		func(*GoCall) { is("go") },
		func(*Map) { is("map") },
		func(*Loop) { is("loop") },
		func(*Flow) { is("flow") },
		func(*Fail) { is("fail") },
		func(*Wait) { is("wait") },
		func(*Parse) { is("parse") },
		func(v *Perform) { is(cmp.Or(v.Kind, "tool")) },
	)
	return key
}
