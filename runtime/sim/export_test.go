package sim

// Park lets a test wait for ever.
func (s *Simulator) Park() { s.park() }
