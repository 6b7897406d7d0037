package value_test

import (
	"errors"
	"fmt"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

func Example() {
	v, err := value.Parse([]byte(`{"title": "Crash", "labels": ["bug", "p1"], "votes": 3}`))
	if err != nil {
		panic(err)
	}
	labels, _ := v.Get("labels")
	fmt.Println(v.Kind(), labels.Len(), labels.Index(0))

	var issue struct {
		Title string `json:"title"`
		Votes int64  `json:"votes"`
	}
	err = value.DecodeValue(v, &issue) // ignores labels
	fmt.Println(issue.Title, issue.Votes, err)

	err = value.Decode([]byte(`{"title": "Crash", "votes": "many"}`), &issue)
	var failed *value.ToolError
	fmt.Println(errors.As(err, &failed), failed.Code)
	fmt.Println(failed.Message)
	// Output:
	// map 2 bug
	// Crash 3 <nil>
	// true VALIDATION_ERROR
	// votes: an integer expected, a string given
}
