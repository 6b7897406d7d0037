package workload

import "testing"

// BenchmarkWorkloads runs every case the usual way; `make bench` measures them in turns.
func BenchmarkWorkloads(b *testing.B) {
	all, err := All()
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range all {
		for _, k := range c.Cases {
			b.Run(c.ID+"/"+k.Name, func(b *testing.B) {
				b.ReportAllocs()
				if err := k.Run(b.N); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*k.Per), "ns/"+c.Unit)
			})
		}
		if c.Close != nil {
			c.Close()
		}
	}
}
