package prune

// NoCarry lets full copies of changelog checkpoints have files, however small
// they are, until the function that it gives is called.
func NoCarry() func() {
	old := carryLimit
	carryLimit = -1
	return func() { carryLimit = old }
}
