package schedulingtest

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/internal/dice"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// relations draws topology terms, preferences, volumes and owners for the pods of a problem.
type relations struct {
	base *generator
	// apps are the values that workloads have for the label app.
	apps []string
	// only is the one kind of topology terms of this problem, if it is a low number.
	only int
}

// relate adds topology terms, preferences, volumes and owners to the pods of a problem. It draws after all other parts,
// because the problem of a seed must be the same with and without them.
func (w *relations) relate(p *scheduling.Problem) {
	w.placeDaemons(p)
	groups := workloads(p.Pods)
	for _, g := range groups {
		w.apps = append(w.apps, g[0].Labels["app"])
	}
	for _, g := range groups {
		w.label(g)
	}
	for _, pod := range p.Running {
		if len(pod.OwnerReferences) == 0 {
			w.labelRunning(pod)
		}
	}
	// Some problems have terms of one kind only, because its effects show better there.
	w.only = w.base.dice.IntN(9)
	for _, g := range groups {
		for _, o := range w.terms(g[0]) {
			apply(g, o)
		}
		if w.base.dice.OneIn(6) {
			apply(g, Prefer(int32(w.base.dice.Between(1, 100)), w.base.expr()))
		}
	}
	w.holders(p.Running)
	for _, pod := range slices.Concat(p.Pods, p.Running) {
		tidy(pod)
	}
	w.volumes(p, groups)
	w.owners(p, groups)
	if w.base.dice.OneIn(2) {
		p.Namespaces = []*corev1.Namespace{
			NamespaceObject("shop", map[string]string{"team": "red"}), NamespaceObject(corev1.NamespaceDefault, nil),
		}
	}
}

// placeDaemons puts DaemonSets into a namespace of their own, so that no term selects their pods: a plan counts
// DaemonSet pods that run, but not those of nodes that are yet to be launched.
func (w *relations) placeDaemons(p *scheduling.Problem) {
	const namespace = "system"
	for _, ds := range p.DaemonSets {
		ds.Namespace = namespace
		ds.UID = daemonSetUID(namespace, ds.Name)
	}
	for _, pod := range p.Running {
		for i := range pod.OwnerReferences {
			pod.Namespace = namespace
			pod.OwnerReferences[i].UID = daemonSetUID(namespace, pod.OwnerReferences[i].Name)
		}
	}
}

// workloads are the pods by the label app, in their order.
func workloads(pods []*corev1.Pod) [][]*corev1.Pod {
	var groups [][]*corev1.Pod
	at := map[string]int{}
	for _, pod := range pods {
		app := pod.Labels["app"]
		i, ok := at[app]
		if !ok {
			i = len(groups)
			at[app] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], pod)
	}
	return groups
}

func apply(pods []*corev1.Pod, o PodOption) {
	for _, pod := range pods {
		suits(o, pod)
	}
}

// label gives a workload labels that other workloads have too, and sometimes two versions.
func (w *relations) label(pods []*corev1.Pod) {
	if !w.base.dice.OneIn(4) {
		apply(pods, Label("tier", dice.Pick(w.base.dice, "front", "back")))
	}
	if w.base.dice.OneIn(3) {
		half := w.base.dice.IntN(len(pods) + 1)
		apply(pods[:half], Label("version", "v1"))
		apply(pods[half:], Label("version", "v2"))
	}
}

// labelRunning makes a running pod one of a workload, or just gives it a tier.
func (w *relations) labelRunning(pod *corev1.Pod) {
	if w.base.dice.OneIn(2) {
		Label("app", dice.Pick(w.base.dice, w.apps...)).Apply(pod)
	}
	if w.base.dice.OneIn(2) {
		Label("tier", dice.Pick(w.base.dice, "front", "back")).Apply(pod)
	}
	if w.base.dice.OneIn(4) {
		Label("version", dice.Pick(w.base.dice, "v1", "v2")).Apply(pod)
	}
	if w.base.dice.OneIn(12) {
		Namespace("shop").Apply(pod)
	}
	if w.base.dice.OneIn(20) {
		Deleting().Apply(pod)
	}
}

// holders gives some running pods anti-affinity, or affinity to pods that may no longer exist.
func (w *relations) holders(running []*corev1.Pod) {
	for _, pod := range running {
		switch w.base.dice.IntN(10) {
		case 0:
			apply([]*corev1.Pod{pod}, Apart(corev1.LabelHostname, w.others(pod)))
		case 1:
			apply([]*corev1.Pod{pod}, Apart(w.place(), Of("tier", dice.Pick(w.base.dice, "front", "back"))))
		case 2:
			apply([]*corev1.Pod{pod}, Near(w.place(), w.others(pod), Weight(20)))
		}
	}
}

// terms draws the topology terms of a workload.
func (w *relations) terms(pod *corev1.Pod) []PodOption {
	kind, app := w.base.dice.IntN(26), pod.Labels["app"]
	if w.only < 4 && !w.base.dice.OneIn(3) {
		kind = []int{0, 6, 9, 13}[w.only] // zones, others' pods, affinity, anti-affinity
	}
	switch kind {
	case 0, 1:
		return []PodOption{Spread(corev1.LabelTopologyZone, w.spreading(app)...)}
	case 2:
		return []PodOption{Spread(corev1.LabelHostname, w.spreading(app)...)}
	case 3:
		return []PodOption{Spread(offerings.CapacityTypeLabel, w.spreading(app)...)}
	case 4:
		return []PodOption{Spread(corev1.LabelTopologyZone, w.spreading(app)...), Spread(w.place(), w.spreading(app)...)}
	case 5:
		return []PodOption{Spread(w.place(), append(w.spreading(app), Soft())...), Spread(corev1.LabelHostname, Skew(int32(w.base.dice.Between(1, 3))))}
	case 6:
		return []PodOption{Spread(w.place(), append(w.spreading(app), w.others(pod))...)}
	case 7:
		return []PodOption{Near(corev1.LabelTopologyZone, Of("app", app))}
	case 8:
		return []PodOption{Near(w.place(), append(w.scope(), Of("app", app))...)}
	case 9, 10:
		return []PodOption{Near(w.place(), append(w.scope(), w.others(pod))...)}
	case 11:
		return []PodOption{Apart(corev1.LabelHostname, Of("app", app))}
	case 12:
		return []PodOption{Apart(corev1.LabelTopologyZone, Of("app", app))}
	case 13, 14:
		return []PodOption{Apart(w.place(), append(w.scope(), w.others(pod))...)}
	case 15:
		return []PodOption{
			Spread(corev1.LabelTopologyZone, w.spreading(app)...), Apart(corev1.LabelHostname, Of("app", app)),
		}
	case 16:
		return []PodOption{
			Near(w.place(), w.others(pod), Weight(int32(w.base.dice.Between(1, 100)))), Apart(w.place(), w.others(pod), Weight(int32(w.base.dice.Between(1, 100)))),
		}
	case 17:
		return []PodOption{Near(corev1.LabelTopologyZone, w.others(pod)), Apart(corev1.LabelHostname, w.others(pod))}
	}
	return nil
}

// place draws a topology key.
func (w *relations) place() string {
	switch w.base.dice.IntN(16) {
	case 0, 1, 2, 3, 4:
		return corev1.LabelHostname
	case 5:
		return offerings.CapacityTypeLabel
	case 6:
		return corev1.LabelArchStable
	case 7:
		return dice.Pick(w.base.dice, w.base.keys...).key
	}
	return corev1.LabelTopologyZone
}

// others draws a selector of pods: of another workload, of the pod's own, or of several.
func (w *relations) others(pod *corev1.Pod) TermOption {
	switch w.base.dice.IntN(12) {
	case 0:
		return Of("tier", dice.Pick(w.base.dice, "front", "back"))
	case 1:
		return OfAll(In("app", dice.Some(w.base.dice, w.apps...)...))
	case 2:
		return OfAll(NotIn("app", dice.Pick(w.base.dice, w.apps...)), Exists("tier"))
	case 3:
		return Of("app", "old")
	case 4:
		return dice.Pick(w.base.dice, OfAll(), ofNone(), Of("app", "nobody"))
	case 5:
		return OfAll(DoesNotExist("version"), In("app", pod.Labels["app"]))
	}
	return Of("app", dice.Pick(w.base.dice, w.apps...))
}

// spreading draws the details of a spread constraint, with this workload's own pods
// most often.
func (w *relations) spreading(app string) []SpreadOption {
	opts := []SpreadOption{Skew(int32(dice.Pick(w.base.dice, 1, 1, 1, 2, 3))), Of("app", app)}
	switch w.base.dice.IntN(14) {
	case 0:
		opts = append(opts, MinDomains(int32(w.base.dice.Between(1, 3))))
	case 1, 2:
		opts = append(opts, Soft())
	case 3:
		opts = append(opts, affinityPolicy(dice.Pick(w.base.dice, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)))
	case 4:
		opts = append(opts, taintsPolicy(dice.Pick(w.base.dice, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)))
	case 5, 6:
		opts = append(opts, Same("version"))
	case 7:
		opts = append(opts, Of("tier", dice.Pick(w.base.dice, "front", "back")))
	}
	return opts
}

// scope draws in which namespaces the pods are, and of which versions.
func (w *relations) scope() []AffinityOption {
	switch w.base.dice.IntN(14) {
	case 0:
		return []AffinityOption{InNamespaces("shop", corev1.NamespaceDefault)}
	case 1:
		return []AffinityOption{InNamespacesOf()}
	case 2:
		return []AffinityOption{InNamespacesOf(In("team", "red"))}
	case 3:
		return []AffinityOption{InNamespaces(corev1.NamespaceDefault), InNamespacesOf(In(corev1.LabelMetadataName, "shop"))}
	case 4:
		return []AffinityOption{Same("version")}
	case 5:
		return []AffinityOption{Other("version")}
	}
	return nil
}

// tidy removes fields that the API server would refuse: a second constraint on the same key, minDomains of a soft
// constraint, and label keys that are in the selector already, or that have no selector.
func tidy(pod *corev1.Pod) {
	seen := map[string]bool{}
	spec := &pod.Spec
	spec.TopologySpreadConstraints = slices.DeleteFunc(spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
		again := seen[c.TopologyKey]
		seen[c.TopologyKey] = true
		return again
	})
	for i := range spec.TopologySpreadConstraints {
		c := &spec.TopologySpreadConstraints[i]
		if c.WhenUnsatisfiable == corev1.ScheduleAnyway {
			c.MinDomains = nil
		}
		c.MatchLabelKeys = without(c.MatchLabelKeys, c.LabelSelector)
	}
	if spec.Affinity == nil {
		return
	}
	terms := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range required {
			tidyTerm(&required[i])
		}
		for i := range preferred {
			tidyTerm(&preferred[i].PodAffinityTerm)
		}
	}
	if a := spec.Affinity.PodAffinity; a != nil {
		terms(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a := spec.Affinity.PodAntiAffinity; a != nil {
		terms(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

// tidyTerm leaves every namespace to terms only that do not select every pod there: see
// placeDaemons.
func tidyTerm(t *corev1.PodAffinityTerm) {
	if s := t.LabelSelector; t.NamespaceSelector != nil && s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		t.NamespaceSelector = nil
	}
	t.MatchLabelKeys = without(t.MatchLabelKeys, t.LabelSelector)
	t.MismatchLabelKeys = without(t.MismatchLabelKeys, t.LabelSelector)
}

// without are the keys that the selector does not name; none if there is no selector.
func without(keys []string, s *metav1.LabelSelector) []string {
	if s == nil {
		return nil
	}
	return slices.DeleteFunc(keys, func(key string) bool {
		_, named := s.MatchLabels[key]
		return named || slices.ContainsFunc(s.MatchExpressions, func(e metav1.LabelSelectorRequirement) bool { return e.Key == key })
	})
}

// owners draws services and controllers, and default constraints for pods without constraints.
func (w *relations) owners(p *scheduling.Problem, groups [][]*corev1.Pod) {
	if !w.base.dice.OneIn(5) {
		return
	}
	p.DefaultSpread = append(p.DefaultSpread, DefaultSpread(corev1.LabelTopologyZone, Skew(int32(w.base.dice.Between(1, 3)))))
	if w.base.dice.OneIn(2) {
		p.DefaultSpread[0].WhenUnsatisfiable = corev1.ScheduleAnyway
	}
	if w.base.dice.OneIn(2) {
		p.DefaultSpread = append(p.DefaultSpread, DefaultSpread(corev1.LabelHostname, Skew(int32(w.base.dice.Between(2, 5)))))
	}
	for i, g := range groups {
		app := g[0].Labels["app"]
		labels := map[string]string{"app": app}
		if tier, ok := g[0].Labels["tier"]; ok && w.base.dice.OneIn(3) {
			labels = map[string]string{"tier": tier}
		}
		namespace := g[0].Namespace
		name := app
		switch w.base.dice.IntN(7) {
		case 0, 1:
			p.Services = append(p.Services, Service(namespace, name, labels))
		case 2:
			p.Services = append(p.Services, Service(namespace, name, nil))
		case 3:
			apply(g, OwnedBy("ReplicaSet", name))
			p.Owners.ReplicaSets = append(p.Owners.ReplicaSets, replicaSet(namespace, name, selecting(labels, nil)))
		case 4:
			apply(g, OwnedBy("StatefulSet", name))
			p.Owners.StatefulSets = append(p.Owners.StatefulSets, statefulSet(namespace, name, selecting(labels, []requirements.Selector{In("app", app)})))
		case 5:
			apply(g, OwnedBy("ReplicationController", name))
			p.Owners.ReplicationControllers = append(p.Owners.ReplicationControllers, replicationController(namespace, name, maps.Clone(labels)))
			if i%2 == 0 {
				p.Services = append(p.Services, Service(namespace, name, map[string]string{"app": app}))
			}
		}
	}
}
