package instance

import (
	"cmp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// newDaemons reads the DaemonSets, sorted by namespace and name. Requests and host ports are those of the newest running
// pod of a DaemonSet, because admission may have changed them; without one, those of its template.
func newDaemons(p *scheduling.Problem, newest map[types.NamespacedName]*corev1.Pod, reader *podspec.RequestReader) []*offers.Daemon {
	sets := slices.Clone(p.DaemonSets)
	slices.SortFunc(sets, func(a, b *appsv1.DaemonSet) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	out := make([]*offers.Daemon, 0, len(sets))
	for _, set := range sets {
		spec := &set.Spec.Template.Spec
		d := &offers.Daemon{Set: set, Constraint: podspec.NewConstraint(spec)}
		d.Constraint.Tolerations = podspec.DaemonTolerations(spec.Tolerations, spec.HostNetwork)
		if pod := newest[key(d)]; pod != nil {
			spec = &pod.Spec
			d.Constraint.Ports = podspec.HostPorts(spec)
		}
		d.Requests = slices.Clone(reader.Read(spec))
		out = append(out, d)
	}
	return out
}

// key is the namespace and name of the daemon's DaemonSet.
func key(d *offers.Daemon) types.NamespacedName {
	return types.NamespacedName{Namespace: podspec.OrDefault(d.Set.Namespace), Name: d.Set.Name}
}

// daemonRows returns, by daemon, the offers on whose nodes it runs when a template launches them. PreferNoSchedule
// taints do not count, because they do not keep a daemon off a node.
func daemonRows(t *offers.OfferTable, v *offers.Template, daemons []*offers.Daemon) []model.Bits {
	rows := make([]model.Bits, len(daemons))
	for i, d := range daemons {
		if hard, _ := v.Untolerated(d.Constraint); hard != nil {
			rows[i] = model.NewBits(len(t.Offers))
			continue
		}
		rows[i] = t.Admits(v, d.Constraint, true)
	}
	return rows
}
