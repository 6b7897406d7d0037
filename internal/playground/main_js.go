package main

import "syscall/js"

// main gives the page the compiler, says so, and stays.
func main() {
	compile := js.FuncOf(func(_ js.Value, args []js.Value) any {
		if len(args) != 1 || args[0].Type() != js.TypeString {
			return `{"problem":"compile takes a text"}`
		}
		return compileJSON(args[0].String())
	})
	js.Global().Set("flowgen", map[string]any{"compile": compile})
	if ready := js.Global().Get("flowgenReady"); ready.Type() == js.TypeFunction {
		ready.Invoke()
	}
	select {}
}
