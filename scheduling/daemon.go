package scheduling

import (
	"cmp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// daemon is a DaemonSet as far as nodes are concerned: which it runs on and what it
// takes there.
type daemon struct {
	set        *appsv1.DaemonSet
	constraint *constraint
	requests   []int64
}

// newDaemons reads the DaemonSets. What a daemon takes is read from the newest of
// its running pods, where there is one, since admission may have changed it.
func newDaemons(p *Problem, newest map[objectKey]*corev1.Pod, reader *requestReader) []*daemon {
	sets := slices.Clone(p.DaemonSets)
	slices.SortFunc(sets, func(a, b *appsv1.DaemonSet) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	out := make([]*daemon, 0, len(sets))
	for _, set := range sets {
		spec := &set.Spec.Template.Spec
		d := &daemon{set: set, constraint: newConstraint(spec)}
		d.constraint.tolerations = daemonTolerations(spec.Tolerations, spec.HostNetwork)
		if pod := newest[d.key()]; pod != nil {
			spec = &pod.Spec
			d.constraint.ports = hostPorts(spec)
		}
		d.requests = slices.Clone(reader.read(spec))
		out = append(out, d)
	}
	return out
}

// key names the daemon's set.
func (d *daemon) key() objectKey { return objectKey{orDefault(d.set.Namespace), d.set.Name} }

// newer orders running pods of a DaemonSet by age, then by name.
func newer(a, b *corev1.Pod) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return b.CreationTimestamp.Before(&a.CreationTimestamp)
	}
	return comparePods(a, b) > 0
}

// ofDaemonSet reports whether a DaemonSet owns the pod.
func ofDaemonSet(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.OwnerReferences, func(ref metaOwner) bool { return ref.Kind == "DaemonSet" })
}

// terminal reports whether a pod has ended.
func terminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// someHost stands for the host name of a machine that does not exist yet: there will
// be one, and nobody can name it.
const someHost = "\x00"

// ready are labels that every node of a pool has by the time pods can run there.
func ready() map[string]string {
	return map[string]string{RegisteredLabel: "true", InitializedLabel: "true", corev1.LabelHostname: someHost}
}

// daemonRows returns, for each daemon, the offers on whose machines it will run
// when they are bought for the template. Taints with effect PreferNoSchedule keep
// no daemon away.
func (t *offerTable) daemonRows(v *template, daemons []*daemon) []model.Bits {
	rows := make([]model.Bits, len(daemons))
	for i, d := range daemons {
		if hard, _ := v.hardTaint(d.constraint); hard != nil {
			rows[i] = model.NewBits(len(t.offers))
			continue
		}
		rows[i] = t.admits(v, d.constraint, true)
	}
	return rows
}
