package cli

// The exit codes of compiled programs and of flowgen. A run that a signal stops ends with 128 and the signal's number, as
// shells have it: 130 after SIGINT, 143 after SIGTERM. The first signal cancels the run and waits for what it started; the
// second ends the program at once.
const (
	ExitOK       = 0 // the run succeeded, and its result is on standard output; or a command found nothing wrong
	ExitFailed   = 1 // the run failed, and standard error begins with the place in the YAML; or a command found what it looks for
	ExitUsage    = 2 // wrong arguments, inputs or names of runs; nothing was run
	ExitFault    = 3 // the run could not start or continue: a secret is missing, its journal failed; or an internal error of flowgen
	ExitWaits    = 4 // the run waits for an answer: use respond
	ExitUnbuilt  = 5 // the workflow, or Go code that it uses, does not compile; nothing was run
	ExitOverlaps = 6 // another run of the workflow is active, and --no-overlap is set; nothing was run

	exitSignal = 128
)
