// Package jsvalue is the JavaScript that both engines of JavaScript tools share: what becomes of results and errors.
package jsvalue

import _ "embed"

// Script is an expression, a function without arguments that returns {encode, describe, Refused}.
//
//go:embed jsvalue.js
var Script string
