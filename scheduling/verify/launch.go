package verify

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// launch checks one launch with all of its options.
func (j *judge) launch(l *scheduling.Launch) {
	r := &resolved{Launch: l, object: launchName(l), pool: j.pools[l.NodePool]}
	j.launches = append(j.launches, r)
	j.launchHead(r)
	for _, name := range l.Pods {
		if t := j.pods[name]; t != nil {
			r.pods = append(r.pods, t)
		}
	}
	if r.pool == nil {
		j.add(PoolUnknown, r.object, "pool %q is not in the problem", l.NodePool)
		return
	}
	if r.pool.closed != "" {
		j.add(PoolClosed, r.object, "pool %s %s", r.pool.Name, r.pool.closed)
	}
	j.launchTaints(r)
	j.launchLabels(r)
	j.options(r)
	j.launchRequests(r)
	j.minimumValues(r)
	j.flexible(r)
	if first := r.first(); first != nil && first.offering.ReservationID != "" {
		j.used[first.offering.ReservationID]++
	}
}

// launchHead checks what needs no look at the problem.
func (j *judge) launchHead(r *resolved) {
	if r.Name == "" {
		j.add(LaunchName, r.object, "the name is empty")
	}
	if j.named[r.Name] {
		j.add(LaunchName, r.object, "the name is taken already")
	}
	j.named[r.Name] = true
	if len(r.Pods) == 0 {
		j.add(LaunchEmpty, r.object, "has no pods")
	}
	if len(r.Options) == 0 {
		j.add(NoOptions, r.object, "has no options")
	} else if r.Price != r.Options[0].Price {
		j.add(LaunchPrice, r.object, "costs %v, its first option %v", r.Price, r.Options[0].Price)
	}
}

func (j *judge) launchTaints(r *resolved) {
	spec := &r.pool.Spec.Template.Spec
	if !sameTaints(r.Taints, spec.Taints) {
		j.add(LaunchTaints, r.object, "taints %s, the pool has %s", taintText(r.Taints), taintText(spec.Taints))
	}
	if !sameTaints(r.StartupTaints, spec.StartupTaints) {
		j.add(LaunchTaints, r.object, "start-up taints %s, the pool has %s", taintText(r.StartupTaints), taintText(spec.StartupTaints))
	}
}

// sameTaints compares as sets.
func sameTaints(a, b []corev1.Taint) bool {
	within := func(a, b []corev1.Taint) bool {
		return !slices.ContainsFunc(a, func(t corev1.Taint) bool {
			return !slices.ContainsFunc(b, func(o corev1.Taint) bool {
				return o.Key == t.Key && o.Value == t.Value && o.Effect == t.Effect
			})
		})
	}
	return within(a, b) && within(b, a)
}

// launchLabels checks that the launch carries the pool's labels, a value for every
// label that the pool wants on its nodes and leaves open, and nothing else.
func (j *judge) launchLabels(r *resolved) {
	template := r.pool.Spec.Template.Metadata.Labels
	for _, key := range slices.Sorted(maps.Keys(template)) {
		if got, ok := r.Labels[requirements.NormalizeKey(key)]; !ok || got != template[key] {
			j.add(LaunchLabels, r.object, "label %s is %q, the pool has %q", key, got, template[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.Labels)) {
		value := r.Labels[key]
		asks := about(key, r.pool.asks)
		if given, ok := r.pool.given[key]; ok {
			if value != given {
				j.add(LaunchLabels, r.object, "label %s is %q, the pool gives %q", key, value, given)
			}
		} else if len(asks) == 0 {
			j.add(LaunchLabels, r.object, "label %s is none that pool %s gives", key, r.pool.Name)
		}
		if !allHold(asks, candidate{value: value}) {
			j.add(LaunchLabels, r.object, "label %s is %q, which the pool's requirements exclude", key, value)
		}
		if messages := validation.IsValidLabelValue(value); len(messages) > 0 {
			j.add(LaunchLabels, r.object, "label %s is %q: %s", key, value, strings.Join(messages, "; "))
		}
	}
	for _, e := range r.pool.asks {
		key := requirements.NormalizeKey(e.key)
		_, given := r.pool.given[key]
		_, chosen := r.Labels[key]
		if r.pool.chooses(key) && !given && !chosen && !e.holds("", false) {
			j.add(LaunchLabels, r.object, "label %s has no value, although the pool requires one", key)
		}
	}
}

// launchRequests compares the stated requests with those of the pods and of the
// daemons on the first option.
func (j *judge) launchRequests(r *resolved) {
	first := r.first()
	if first == nil || len(r.pods) != len(r.Pods) {
		return
	}
	want := first.daemons.clone()
	for _, t := range r.pods {
		want.add(t.requests)
	}
	got := roundedUp(r.Requests)
	for _, name := range names(got, want) {
		if got.of(name).Cmp(want.of(name)) != 0 {
			j.add(LaunchRequests, r.object, "%s is %v, pods and daemons ask for %v", name, got.of(name), want.of(name))
		}
	}
}
