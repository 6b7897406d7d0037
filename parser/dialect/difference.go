package dialect

// A Difference is a place where a project's page and its engine differ, or where the page is silent and the engine does
// something that this compiler does not. The tables of docs/dialects are made from these.
type Difference struct {
	Point, Documented, Upstream string
	Told                        string // when a file is told; empty: never
}

// Differ makes an entry of a table.
func Differ(point, documented, upstream, told string) Difference {
	return Difference{Point: point, Documented: documented, Upstream: upstream, Told: told}
}
