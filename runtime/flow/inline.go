package flow

// A program imports flow and not core. The compiler inlines the methods of core in it only where it has inlined them here.
var (
	_ = Call[struct{}, struct{}]
	_ = Map[struct{}, struct{}]
	_ = iterate
)

func iterate(r *Run, n *Node, i int) (*Run, error) { return r.Iterate(n, i) }
