package race

// Fewer returns the number of cases that a test tries: all, or few under the race detector,
// because that is many times slower.
func Fewer(all, few int) int {
	if Enabled {
		return few
	}
	return all
}
