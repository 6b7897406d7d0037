package core

// WithState tells f, at the end of each run, what the workflow's state is: canonical JSON without secrets, or why there is
// none. Runs of workflows without a state do not call it. It is for tests; f must be safe for concurrent use.
func WithState(f func(state []byte, err error)) Option { return func(rt *Runtime) { rt.states = f } }

// EndState reports a workflow body's final state to observers. Generated code defers it.
func EndState[S any](r *Run, state *S) {
	f := r.state.rt.states
	if f == nil {
		return
	}
	kept := *state // the copy escapes, the state does not
	f(r.encode(&kept))
}
