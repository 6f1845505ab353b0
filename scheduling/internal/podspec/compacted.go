package podspec

import (
	"slices"
)

func Compacted(values []string) []string {
	slices.Sort(values)
	return slices.Compact(values)
}
