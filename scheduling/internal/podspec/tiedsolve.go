package podspec

func Sum(counts []int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}
