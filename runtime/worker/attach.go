package worker

import (
	"context"

	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// maxAttached bounds what a worker says about the attachments of one call: 100 of them, with URLs that JSON makes longer.
const maxAttached = 4 << 20

// Attach puts what a call of what has attached, a JSON list of {kind, url, content_type, bytes}, next to its result. It is
// not trusted more than tools are. Nothing attached is an empty list.
func Attach(ctx context.Context, what string, list []byte) error {
	if len(list) == 0 {
		return nil
	}
	var all []tool.Attachment
	if err := value.Decode(list, &all); err != nil {
		return value.Invalid("%s attached something that is not an attachment: %v", what, err)
	}
	for _, a := range all {
		if err := tool.Attach(ctx, a); err != nil {
			return err
		}
	}
	return nil
}
