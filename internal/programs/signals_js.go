package programs

import "os"

// endings are none: nobody tells a page's program to end.
var endings []os.Signal
