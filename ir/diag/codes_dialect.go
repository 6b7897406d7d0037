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
		Cause: "The workflow depends on a point that the documentation of its dialect describes in one way and the dialect's engine does in another. What is documented holds, unless --compat upstream is given. Write out what you mean where that is possible.",
	},
	{
		Code:  NotSupported,
		Title: "a part of a dialect that is not compiled",
		Cause: "The dialect has this part, and flowgen does not compile it: it would do something else than the engine. The workflow is refused, so that nothing is left out silently.",
	},
	{
		Code:  AmbiguousDialect,
		Title: "an ambiguous dialect",
		Cause: "Dialects are told apart by their keys, and this file has keys of more than one. Say which it is with --dialect, or remove the keys that do not belong.",
	},
	{
		Code:  IgnoredKey,
		Title: "something that the engine of a dialect ignores",
		Cause: "The dialect's engine takes the file as it is and ignores this part, so that it has no effect here either. It is often a misspelling. Correct or remove it.",
	},
	{
		Code:  NotConverted,
		Title: "a part of a dialect that cannot be converted",
		Cause: "`flowgen convert` writes a native workflow that does the same, or none. This part has no counterpart there, or one that would do something else. A note with this code reports a name that is different in the new file.",
	},
}
