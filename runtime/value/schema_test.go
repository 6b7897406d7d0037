package value_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

type schemaLeaf struct {
	Name string       `json:"name" flow:"min=1,max=9"`
	Kids []schemaLeaf `json:"kids"`
}

type schemaRoot struct {
	Text  string             `json:"text" flow:"enum=a|b"`
	Some  *int64             `json:"some"`
	When  time.Time          `json:"when"`
	Took  time.Duration      `json:"took"`
	Bytes []byte             `json:"bytes"`
	Rate  float64            `json:"rate" flow:"min=0,max=1"`
	Tags  []string           `json:"tags" flow:"enum=x|y"`
	Any   value.Value        `json:"any"`
	Map   map[string]float64 `json:"map"`
	Leaf  schemaLeaf         `json:"leaf"`
	Yes   bool               `json:"yes" default:"true"`
	Deep  *schemaLeaf        `json:"deep"`
}

// The schema of a type says what Decode takes.
func TestSchemas(t *testing.T) {
	s := &value.Schemas{}
	got, err := json.Marshal(map[string]any{"root": s.Of(reflect.TypeFor[schemaRoot]()), "defs": s.Defs})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"defs":{"schemaLeaf":{"additionalProperties":false,"properties":{"kids":{"items":{"$ref":"#/$defs/schemaLeaf"},"type":"array"},"name":{"maxLength":9,"minLength":1,"type":"string"}},"required":["name","kids"],"type":"object"}},` +
		`"root":{"additionalProperties":false,"properties":{"any":{},"bytes":{"contentEncoding":"base64","type":"string"},"deep":{"anyOf":[{"$ref":"#/$defs/schemaLeaf"},{"type":"null"}]},"leaf":{"$ref":"#/$defs/schemaLeaf"},` +
		`"map":{"additionalProperties":{"type":"number"},"type":"object"},"rate":{"maximum":1,"minimum":0,"type":"number"},"some":{"anyOf":[{"format":"int64","maximum":9223372036854775807,"minimum":-9223372036854775808,"type":"integer"},{"type":"null"}]},` +
		`"tags":{"items":{"enum":["x","y"],"type":"string"},"type":"array"},"text":{"enum":["a","b"],"type":"string"},"took":{"description":"a duration such as \"1m30s\", or nanoseconds","type":["string","integer"]},` +
		`"when":{"format":"date-time","type":"string"},"yes":{"default":true,"type":"boolean"}},"required":["text","when","took","bytes","rate","tags","any","map","leaf"],"type":"object"}}`
	if string(got) != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
