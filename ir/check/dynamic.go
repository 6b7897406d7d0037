package check

import "github.com/flowgen-dev/flowgen/ir/schema"

// DynamicPath is the package of the state's fields.
const DynamicPath = schema.RuntimePath + "/dynamic"
