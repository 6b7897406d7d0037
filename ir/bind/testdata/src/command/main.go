// Command command cannot be imported.
package main

func Do(s string) string { return s }

func main() {}
