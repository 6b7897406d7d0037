package llm

import (
	"net/url"
	"regexp"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// maxMedia bounds the images and files of one prompt, in bytes.
const maxMedia = 64 << 20

var mediaType = regexp.MustCompile(`^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$`)

// checkMedia says what is wrong with images and files, which come from outside; nil when nothing is.
func checkMedia(list []Media) *value.ToolError {
	size := 0
	for i, m := range list {
		u, err := url.Parse(m.URL)
		switch {
		case !mediaType.MatchString(m.Type):
			return value.Invalid("media[%d]: its type is not one such as image/png", i)
		case len(m.Data) == 0 && m.URL == "":
			return value.Invalid("media[%d]: it has neither data nor url", i)
		case len(m.Data) > 0 && m.URL != "":
			return value.Invalid("media[%d]: it has both data and url", i)
		case m.URL != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == ""):
			return value.Invalid("media[%d]: its url does not start with https:// or http://", i)
		}
		if size += len(m.Data); size > maxMedia {
			return value.Errorf(value.PolicyDenied, "images and files have more than the %d bytes allowed", maxMedia)
		}
	}
	return nil
}
