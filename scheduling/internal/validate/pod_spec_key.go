package validate

import (
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// join completes readings from those of several moulders, whose pods follow each other.
// The first one's numbers stand.
func join(r *podspec.Readings, parts []*Checker, none *podspec.PodSpecReader) *podspec.Readings {
	all, at := none, 0
	for _, part := range parts {
		m := part.moulder
		if m == nil {
			continue
		}
		if at == 0 {
			all, at = m, part.pods
			continue
		}
		numbers := make([]int32, len(m.PodSpecKeys))
		for i, x := range m.PodSpecKeys {
			numbers[i] = all.Read(x.Pod)
		}
		of := r.Of[at : at+part.pods]
		for i, n := range of {
			if n >= 0 {
				of[i] = numbers[n]
			}
		}
		at += part.pods
	}
	r.Table, r.PodSpecKeys = all.Table, all.PodSpecKeys
	return r
}
