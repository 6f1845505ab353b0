package launchplan

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// launch checks one launch with all of its options.
func (c *launchCheck) launch(of *scheduling.Launch) {
	l := &launch{Launch: of, object: ObjectName(of), pool: c.state.Pools[of.NodePool], pods: c.state.PodsNamed(of.Pods)}
	c.launches = append(c.launches, l)
	c.launchHead(l)
	if l.pool == nil {
		c.report.Add(rule.PoolUnknown, l.object, "NodePool %q is not in the input", l.NodePool)
		return
	}
	if l.pool.Closed != "" {
		c.report.Add(rule.PoolClosed, l.object, "NodePool %s %s", l.pool.Object.Name, l.pool.Closed)
	}
	spec := &l.pool.Object.Spec.Template.Spec
	if !sameTaints(l.Taints, spec.Taints) {
		c.report.Add(rule.LaunchTaints, l.object, "taints are %s, the NodePool has %s", snapshot.TaintText(l.Taints), snapshot.TaintText(spec.Taints))
	}
	if !sameTaints(l.StartupTaints, spec.StartupTaints) {
		c.report.Add(rule.LaunchTaints, l.object, "startup taints are %s, the NodePool has %s", snapshot.TaintText(l.StartupTaints), snapshot.TaintText(spec.StartupTaints))
	}
	c.launchLabels(l)
	c.options(l)
	c.launchRequests(l)
	c.variety(l)
}

// launchHead checks name, pods, options and price.
func (c *launchCheck) launchHead(l *launch) {
	if l.Name == "" {
		c.report.Add(rule.LaunchName, l.object, "the name is empty")
	}
	if slices.ContainsFunc(c.launches[:len(c.launches)-1], func(o *launch) bool { return o.Name == l.Name }) {
		c.report.Add(rule.LaunchName, l.object, "the name is used by another launch")
	}
	if len(l.Pods) == 0 {
		c.report.Add(rule.LaunchEmpty, l.object, "has no pods")
	}
	if len(l.Options) == 0 {
		c.report.Add(rule.NoOptions, l.object, "has no options")
	} else if l.Price != l.Options[0].Price {
		c.report.Add(rule.LaunchPrice, l.object, "price is $%v, the price of its first option $%v", l.Price, l.Options[0].Price)
	}
}

// sameTaints compares as sets.
func sameTaints(a, b []corev1.Taint) bool {
	set := func(taints []corev1.Taint) map[corev1.Taint]bool {
		out := make(map[corev1.Taint]bool)
		for _, t := range taints {
			out[corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect}] = true
		}
		return out
	}
	return maps.Equal(set(a), set(b))
}

// launchLabels checks that the launch has the pool's labels, a value for every label that the pool requires and
// leaves open, and no other label.
func (c *launchCheck) launchLabels(l *launch) {
	template := l.pool.Object.Spec.Template.Metadata.Labels
	for _, key := range slices.Sorted(maps.Keys(template)) {
		if got, ok := l.Labels[requirements.NormalizeKey(key)]; !ok || got != template[key] {
			c.report.Add(rule.LaunchLabels, l.object, "label %s is %q, the NodePool has %q", key, got, template[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(l.Labels)) {
		value := l.Labels[key]
		asks := snapshot.About(key, l.pool.Asks)
		if given, ok := l.pool.Given[key]; ok {
			if value != given {
				c.report.Add(rule.LaunchLabels, l.object, "label %s is %q, the NodePool sets %q", key, value, given)
			}
		} else if len(asks) == 0 {
			c.report.Add(rule.LaunchLabels, l.object, "label %s is not set by NodePool %s", key, l.pool.Object.Name)
		}
		if !snapshot.AllHold(asks, snapshot.LabelValue{Value: value}) {
			c.report.Add(rule.LaunchLabels, l.object, "label %s is %q, which the NodePool's requirements exclude", key, value)
		}
		if messages := validation.IsValidLabelValue(value); len(messages) > 0 {
			c.report.Add(rule.LaunchLabels, l.object, "label %s is %q: %s", key, value, strings.Join(messages, "; "))
		}
	}
	for _, e := range l.pool.Asks {
		key := requirements.NormalizeKey(e.Key)
		_, chosen := l.Labels[key]
		if l.pool.Chooses(key) && !chosen && !e.Holds("", false) {
			c.report.Add(rule.LaunchLabels, l.object, "label %s has no value, and the NodePool requires one", key)
		}
	}
}

// launchRequests checks that the stated requests are the sum of those of the pods and of the daemons on the first
// option.
func (c *launchCheck) launchRequests(l *launch) {
	first := l.first()
	if first == nil || len(l.pods) != len(l.Pods) {
		return
	}
	want := first.Daemons.Clone()
	for _, t := range l.pods {
		want.Add(t.Requests)
	}
	got := snapshot.RoundedUp(l.Requests)
	for _, name := range snapshot.Names(got, want) {
		if got.Of(name).Cmp(want.Of(name)) != 0 {
			c.report.Add(rule.LaunchRequests, l.object, "%s is %v, pods and DaemonSets request %v", name, got.Of(name), want.Of(name))
		}
	}
}
