package diag

// The public dialects, whose readers have the examples.
const (
	DialectDiffers   Code = "FG0120"
	NotSupported     Code = "FG0121"
	AmbiguousDialect Code = "FG0122"
	IgnoredKey       Code = "FG0123"
	NotConverted     Code = "FG0124"
)

var dialectCodes = []Entry{
	{
		Code:  DialectDiffers,
		Title: "a difference between a dialect's documentation and its engine",
		Cause: "The dialect's documentation and its engine disagree about this part of the workflow. The documentation takes precedence, unless --compat upstream is given. Be explicit where possible.",
	},
	{
		Code:  NotSupported,
		Title: "a part of a dialect that is not compiled",
		Cause: "flowgen does not compile this part of the dialect, because it would behave differently from the engine. The workflow is rejected, so nothing is skipped silently.",
	},
	{
		Code:  AmbiguousDialect,
		Title: "an ambiguous dialect",
		Cause: "flowgen detects dialects by their keys, and this file has keys of more than one. Select one with --dialect, or remove the keys of the other.",
	},
	{
		Code:  IgnoredKey,
		Title: "a part that the engine of a dialect ignores",
		Cause: "The dialect's engine accepts the file and ignores this part, so it has no effect here either. Often it is a misspelling. Correct or remove it.",
	},
	{
		Code:  NotConverted,
		Title: "a part of a dialect that cannot be converted",
		Cause: "`flowgen convert` writes an equivalent native workflow, or none. This part has no equivalent. A note with this code reports a changed name.",
	},
}
