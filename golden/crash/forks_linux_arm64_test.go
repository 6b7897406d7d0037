package crash

// forks are the old system calls that make processes: there are none.
var forks []uint32
