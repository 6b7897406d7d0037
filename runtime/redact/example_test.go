package redact_test

import (
	"encoding/base64"
	"fmt"

	"github.com/flowgen-dev/flowgen/runtime/redact"
)

func Example() {
	r := redact.New("hunter2 & more")
	fmt.Println(r.Text("the password is hunter2 & more"))
	fmt.Println(r.Text("GET /?password=hunter2+%26+more"))
	fmt.Println(r.Text(base64.RawStdEncoding.EncodeToString([]byte("hunter2 & more"))))
	fmt.Println(string(r.JSON([]byte(`{"password": "hunter2 \u0026 more"}`))))
	fmt.Println(r.Found("hunter3"))
	// Output:
	// the password is [redacted]
	// GET /?password=[redacted]
	// [redacted]
	// {"password":"[redacted]"}
	// false
}
