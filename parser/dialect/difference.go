package dialect

// A Difference is a place where a project's page and its engine differ, or where the page is silent and the engine does
// something that this compiler does not. The tables of docs/dialects are made from these.
type Difference struct {
	Point, Documented string
	Told              string   // when a file is told; empty: never
	Engines           []string // what the engine does, by the Eras of the language
}

// Differ makes an entry of a table.
func Differ(point, documented, told string, engines ...string) Difference {
	return Difference{Point: point, Documented: documented, Told: told, Engines: engines}
}
