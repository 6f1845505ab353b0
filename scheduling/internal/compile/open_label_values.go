package compile

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Survey notes what running pods keep off their nodes, and which values nodes have: who
// keeps apart from what runs there needs others.
func Survey(l *offers.OpenLabelValues, keepers []ExistingAntiAffinity, nodes []*corev1.Node) {
	for i := range keepers {
		if i == 0 || keepers[i].Tie != keepers[i-1].Tie {
			l.Want([]podspec.Tie{keepers[i].Tie}, 0)
		}
	}
	for key, n := range l.Wanted {
		if n == 0 || l.Spread[key] {
			continue
		}
		var values []string
		for _, node := range nodes {
			for k, value := range node.Labels {
				if requirements.NormalizeKey(k) == key {
					values = append(values, value)
				}
			}
		}
		l.Taken[key] = podspec.Compacted(values)
	}
}

// KeptOff reports whether running pods keep others away from values of a label that pools
// may leave open.
func (c *Compiler) KeptOff() bool {
	return slices.ContainsFunc(c.ExistingAntiAffinity, func(k ExistingAntiAffinity) bool {
		return !k.PerHost() && !requirements.WellKnown().Has(requirements.NormalizeKey(k.Key))
	})
}
