package schedulingtest

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// tie ties the pods of a problem that is drawn already to each other, to volumes and
// to wishes. All that it draws comes after the problem itself, so that the problem
// without ties stays what it is.
func (w *world) tie(p *scheduling.Problem) {
	w.houseDaemons(p)
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
	// Some problems are about one kind of tie alone: what it does shows better there.
	w.only = w.IntN(9)
	for _, g := range groups {
		for _, o := range w.ties(g[0]) {
			apply(g, o)
		}
		if w.oneIn(6) {
			apply(g, Prefer(int32(w.between(1, 100)), w.expr()))
		}
	}
	w.holders(p.Running)
	for _, pod := range slices.Concat(p.Pods, p.Running) {
		tidy(pod)
	}
	w.volumes(p, groups)
	w.owners(p, groups)
	if w.oneIn(2) {
		p.Namespaces = []*corev1.Namespace{
			NamespaceObject("shop", map[string]string{"team": "red"}), NamespaceObject(corev1.NamespaceDefault, nil),
		}
	}
}

// houseDaemons puts daemons into a namespace of their own. A plan counts those that run,
// but not those that machines get which are yet to be bought; so nobody's ties are to be
// about them.
func (w *world) houseDaemons(p *scheduling.Problem) {
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
		o.applyPod(pod)
	}
}

// label gives a workload labels that it shares with others, and now and then two
// versions.
func (w *world) label(pods []*corev1.Pod) {
	if !w.oneIn(4) {
		apply(pods, Label("tier", pick(w.dice, "front", "back")))
	}
	if w.oneIn(3) {
		half := w.IntN(len(pods) + 1)
		apply(pods[:half], Label("version", "v1"))
		apply(pods[half:], Label("version", "v2"))
	}
}

// labelRunning makes a running pod one of a workload, or just gives it a tier.
func (w *world) labelRunning(pod *corev1.Pod) {
	if w.oneIn(2) {
		Label("app", pick(w.dice, w.apps...)).applyPod(pod)
	}
	if w.oneIn(2) {
		Label("tier", pick(w.dice, "front", "back")).applyPod(pod)
	}
	if w.oneIn(4) {
		Label("version", pick(w.dice, "v1", "v2")).applyPod(pod)
	}
	if w.oneIn(12) {
		Namespace("shop").applyPod(pod)
	}
	if w.oneIn(20) {
		Deleting().applyPod(pod)
	}
}

// holders makes some running pods keep others away, or ask for others that may long
// have gone.
func (w *world) holders(running []*corev1.Pod) {
	for _, pod := range running {
		switch w.IntN(10) {
		case 0:
			Apart(corev1.LabelHostname, w.others(pod)).applyPod(pod)
		case 1:
			Apart(w.place(), Of("tier", pick(w.dice, "front", "back"))).applyPod(pod)
		case 2:
			Near(w.place(), w.others(pod), Weight(20)).applyPod(pod)
		}
	}
}

// ties draws the ties of a workload.
func (w *world) ties(pod *corev1.Pod) []PodOption {
	kind, app := w.IntN(26), pod.Labels["app"]
	if w.only < 4 && !w.oneIn(3) {
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
		return []PodOption{Spread(w.place(), append(w.spreading(app), Soft())...), Spread(corev1.LabelHostname, Skew(int32(w.between(1, 3))))}
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
			Near(w.place(), w.others(pod), Weight(int32(w.between(1, 100)))), Apart(w.place(), w.others(pod), Weight(int32(w.between(1, 100)))),
		}
	case 17:
		return []PodOption{Near(corev1.LabelTopologyZone, w.others(pod)), Apart(corev1.LabelHostname, w.others(pod))}
	}
	return nil
}

// place is a key over which pods are tied.
func (w *world) place() string {
	switch w.IntN(16) {
	case 0, 1, 2, 3, 4:
		return corev1.LabelHostname
	case 5:
		return offerings.CapacityTypeLabel
	case 6:
		return corev1.LabelArchStable
	case 7:
		return pick(w.dice, w.keys...).key
	}
	return corev1.LabelTopologyZone
}

// others selects pods of some workload, of this one or of several.
func (w *world) others(pod *corev1.Pod) TieOption {
	switch w.IntN(12) {
	case 0:
		return Of("tier", pick(w.dice, "front", "back"))
	case 1:
		return OfAll(In("app", some(w.dice, w.apps...)...))
	case 2:
		return OfAll(NotIn("app", pick(w.dice, w.apps...)), Exists("tier"))
	case 3:
		return Of("app", "old")
	case 4:
		return pick(w.dice, OfAll(), OfNone(), Of("app", "nobody"))
	case 5:
		return OfAll(DoesNotExist("version"), In("app", pod.Labels["app"]))
	}
	return Of("app", pick(w.dice, w.apps...))
}

// spreading draws the details of a spread constraint, with this workload's own pods
// most often.
func (w *world) spreading(app string) []TieOption {
	opts := []TieOption{Skew(int32(pick(w.dice, 1, 1, 1, 2, 3))), Of("app", app)}
	switch w.IntN(14) {
	case 0:
		opts = append(opts, MinDomains(int32(w.between(1, 3))))
	case 1, 2:
		opts = append(opts, Soft())
	case 3:
		opts = append(opts, AffinityPolicy(pick(w.dice, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)))
	case 4:
		opts = append(opts, TaintsPolicy(pick(w.dice, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)))
	case 5, 6:
		opts = append(opts, Same("version"))
	case 7:
		opts = append(opts, Of("tier", pick(w.dice, "front", "back")))
	}
	return opts
}

// scope draws in which namespaces the pods are, and of which versions.
func (w *world) scope() []TieOption {
	switch w.IntN(14) {
	case 0:
		return []TieOption{InNamespaces("shop", corev1.NamespaceDefault)}
	case 1:
		return []TieOption{InNamespacesOf()}
	case 2:
		return []TieOption{InNamespacesOf(In("team", "red"))}
	case 3:
		return []TieOption{InNamespaces(corev1.NamespaceDefault), InNamespacesOf(In(corev1.LabelMetadataName, "shop"))}
	case 4:
		return []TieOption{Same("version")}
	case 5:
		return []TieOption{Other("version")}
	}
	return nil
}
