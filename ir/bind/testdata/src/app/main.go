// Command app calls what flowgen is about to generate.
package main

import "fmt"

func main() {
	w, err := New()
	fmt.Println(w, err)
}
