package usage_test

import (
	"fmt"

	"github.com/flowgen-dev/flowgen/runtime/usage"
)

func Example() {
	budget, err := usage.ParseUSD("0.50")
	if err != nil {
		panic(err)
	}
	left := usage.Spend{Cost: budget, Tokens: 1000}
	for range 3 {
		left = left.Minus(usage.Spend{Cost: 2_000_000, Tokens: 150}) // 0.002 dollars
	}
	fmt.Println(left.Cost, left.Tokens)

	_, err = usage.ParseUSD("1/2")
	fmt.Println(err)
	// Output:
	// 0.494 550
	// "1/2" is not an amount in dollars: write a decimal like "0.50"
}
