// Package templates holds the starter projects that `flowgen init` writes: whole files, with [[ ]] around what differs
// from project to project. The names of the files are those of the project, `name` standing for the workflow's, and
// end in .tmpl so that no tool takes them for what they describe.
package templates

import "embed"

// Library is the package of `flowgen init --library`.
//
//go:embed library
var Library embed.FS

// Starter is the project of `flowgen init`.
//
//go:embed starter
var Starter embed.FS
