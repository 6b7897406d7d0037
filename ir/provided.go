package ir

import "slices"

// Provided is what packages of the runtime have for workflows of any language. The dialects that they belong to declare it.
type Provided struct {
	Functions []*GoBinding      // bound without the go command, so that workflows that name them need no Go module
	Instead   map[string]string // by a function: the one that the native language calls
	Modules   []*PythonModules
}

// PythonModules stand in for the Python package of an engine, and what that needs, where they are not installed.
type PythonModules struct {
	Package string // the top-level package; modules that import it may get them
	Path    string // the Go package that has them in its variable Modules, and that binds classes

	Decorator []string // the keywords that the decorator of tools takes
	Effects   []string // the words of its keyword side_effects, which it needs
}

// Function is the function of a reference, "path.Name"; nil: there is none.
func (p *Provided) Function(ref string) *GoBinding {
	if p == nil {
		return nil
	}
	if i := slices.IndexFunc(p.Functions, func(b *GoBinding) bool { return b.Path+"."+b.Func == ref }); i >= 0 {
		return p.Functions[i]
	}
	return nil
}
