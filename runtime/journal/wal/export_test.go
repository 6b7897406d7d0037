package wal

// SetPieceSize sets how much of a log is read at once, until the function it returns is called.
func SetPieceSize(n int64) (back func()) {
	before := pieceSize
	pieceSize = n
	return func() { pieceSize = before }
}
