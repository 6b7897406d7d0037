package toy

import (
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

const enginePath = schema.RuntimePath + "/toy"

var (
	textTool = dialect.ToolOf(schema.StringType, schema.StringType)

	fnShout = dialect.Declare(enginePath, "Shout", expr.Func{Result: schema.StringType, Pure: true}, schema.StringType)
	fnWords = dialect.Declare(enginePath, "Words", expr.Func{Result: textTool, Pure: true}, schema.StringType)
	fnCall  = dialect.Call(schema.StringType, schema.StringType)
)

var functions = []*expr.Func{fnShout, fnWords, fnCall}
