package workload

import "testing"

// TestDialectAllocations holds what a node of each dialect costs on a state without types.
func TestDialectAllocations(t *testing.T) {
	c, err := Dialects()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	most := map[string]float64{"OpenExpertise": 12.5, "SirenSpec": 9, "Stargraph": 4, "YAMLGraph": 3}
	for _, k := range c.Cases[1:] {
		limit, ok := most[k.Name]
		if !ok {
			t.Errorf("%s has no limit", k.Name)
		}
		if got := allocs(t, 50, func() error { return k.Run(1) }) / float64(k.Per); got > limit {
			t.Errorf("a node of %s allocates %.1f times, more than %v", k.Name, got, limit)
		}
	}
}
