package disruption

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Pods that wait may be left out when places are looked for, or have none, and no rule
// counts them then. Yet they are somewhere until they have gone: with them a spread may be
// broken in another zone than the one that is planned, and where they run they keep others
// away. So as long as there are any, all options of what is bought have the same values of
// the labels that their topology terms read, and those of the pods that land there.

// agree drops the options of launches that differ from the first in such a label, unless
// that leaves less choice than minValues asks for.
func (f *state) agree(launches []scheduling.Launch) {
	if len(f.waits) == 0 {
		return
	}
	for i := range launches {
		l := &launches[i]
		keys := map[string]bool{}
		for pod := range f.waits {
			f.readKeys(keys, pod)
		}
		for _, pod := range l.Pods {
			f.readKeys(keys, pod)
		}
		if len(keys) == 0 || len(l.Options) == 0 {
			continue
		}
		all, first := l.Options, labelsOf(f.problem, l, &l.Options[0])
		l.Options = keepOptions(l.Options, func(x *scheduling.Option) bool {
			other := labelsOf(f.problem, l, x)
			for key := range keys {
				a, has := first[key]
				if b, also := other[key]; a != b || has != also {
					return false
				}
			}
			return true
		})
		if r, _ := tooFewValues(f.problem, l); r != nil {
			l.Options = all // the pool asks for choice, and what waits may have gone by then
		}
	}
}

// readKeys adds the labels that the topology terms of a pod read, host names aside.
func (f *state) readKeys(keys map[string]bool, pod string) {
	for _, tie := range f.topology.of(pod).terms.Ties {
		if key := requirements.NormalizeKey(tie.Key); key != corev1.LabelHostname {
			keys[key] = true
		}
	}
}
