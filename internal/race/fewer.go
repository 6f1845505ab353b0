package race

// Fewer is all of what is looked at, or few under the race detector.
func Fewer(all, few int) int {
	if Enabled {
		return few
	}
	return all
}
