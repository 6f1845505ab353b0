package verify_test

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

const hostOf = corev1.LabelHostname

// change changes a pod in a way for which schedulingtest has no option.
type change func(*corev1.Pod)

// with applies changes to a pod.
func with(pod *corev1.Pod, changes ...change) *corev1.Pod {
	for _, c := range changes {
		c(pod)
	}
	return pod
}

// apps returns n pods of an app, named app-1 to app-n, that request one core each.
func apps(n int, app string, changes ...change) []*corev1.Pod {
	pods := st.Pods(n, app, st.Label("app", app), st.Requests(st.Cores(1)))
	for _, p := range pods {
		with(p, changes...)
	}
	return pods
}

// app returns a pod of an app that runs on a node.
func app(name, app, node string, changes ...change) *corev1.Pod {
	return with(st.Pod(name, st.Label("app", app), st.OnNode(node)), changes...)
}

// of selects pods of an app.
func of(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

// spread adds a topology spread constraint.
func spread(key string, skew int32, selector *metav1.LabelSelector, more ...func(*corev1.TopologySpreadConstraint)) change {
	return func(p *corev1.Pod) {
		c := corev1.TopologySpreadConstraint{TopologyKey: key, MaxSkew: skew, LabelSelector: selector, WhenUnsatisfiable: corev1.DoNotSchedule}
		for _, m := range more {
			m(&c)
		}
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c)
	}
}

func minDomains(n int32) func(*corev1.TopologySpreadConstraint) {
	return func(c *corev1.TopologySpreadConstraint) { c.MinDomains = &n }
}

func policies(affinity, taints corev1.NodeInclusionPolicy) func(*corev1.TopologySpreadConstraint) {
	return func(c *corev1.TopologySpreadConstraint) {
		c.NodeAffinityPolicy, c.NodeTaintsPolicy = &affinity, &taints
	}
}

func anyway(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = corev1.ScheduleAnyway }

func sameOf(keys ...string) func(*corev1.TopologySpreadConstraint) {
	return func(c *corev1.TopologySpreadConstraint) { c.MatchLabelKeys = keys }
}

// near adds a required term of pod affinity.
func near(key string, selector *metav1.LabelSelector, more ...func(*corev1.PodAffinityTerm)) change {
	return func(p *corev1.Pod) {
		a := affinityOf(p)
		if a.PodAffinity == nil {
			a.PodAffinity = &corev1.PodAffinity{}
		}
		a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, podTerm(key, selector, more))
	}
}

// apart adds a required term of pod anti-affinity.
func apart(key string, selector *metav1.LabelSelector, more ...func(*corev1.PodAffinityTerm)) change {
	return func(p *corev1.Pod) {
		a := affinityOf(p)
		if a.PodAntiAffinity == nil {
			a.PodAntiAffinity = &corev1.PodAntiAffinity{}
		}
		a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, podTerm(key, selector, more))
	}
}

func podTerm(key string, selector *metav1.LabelSelector, more []func(*corev1.PodAffinityTerm)) corev1.PodAffinityTerm {
	t := corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: selector}
	for _, m := range more {
		m(&t)
	}
	return t
}

func affinityOf(p *corev1.Pod) *corev1.Affinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	return p.Spec.Affinity
}

// preferring turns the required terms of pod affinity and anti-affinity into preferences.
func preferring(p *corev1.Pod) {
	wish := func(terms []corev1.PodAffinityTerm) (out []corev1.WeightedPodAffinityTerm) {
		for _, t := range terms {
			out = append(out, corev1.WeightedPodAffinityTerm{Weight: 100, PodAffinityTerm: t})
		}
		return out
	}
	if a := affinityOf(p).PodAffinity; a != nil {
		a.PreferredDuringSchedulingIgnoredDuringExecution = wish(a.RequiredDuringSchedulingIgnoredDuringExecution)
		a.RequiredDuringSchedulingIgnoredDuringExecution = nil
	}
	if a := affinityOf(p).PodAntiAffinity; a != nil {
		a.PreferredDuringSchedulingIgnoredDuringExecution = wish(a.RequiredDuringSchedulingIgnoredDuringExecution)
		a.RequiredDuringSchedulingIgnoredDuringExecution = nil
	}
}

func labelled(key, value string) change {
	return func(p *corev1.Pod) { p.Labels[key] = value }
}

func inSpace(namespace string) change {
	return func(p *corev1.Pod) { p.Namespace = namespace }
}

func priority(n int32) change {
	return func(p *corev1.Pod) { p.Spec.Priority = &n }
}

func terminating(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }

func inZone(zone string) change {
	return func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{zoneOf: zone} }
}

// zoned returns a node of 100 cores in a zone, without the label of the zone for "".
func zoned(name, zone string, opts ...st.NodeOption) *corev1.Node {
	n := st.Node(name, append([]st.NodeOption{st.Allocatable(st.Cores(100), st.GiB(100))}, opts...)...)
	if zone != "" {
		n.Labels[zoneOf] = zone
	}
	return n
}

// draft is a plan in short form: launches, and pods by existing node.
type draft struct {
	p     scheduling.Problem
	buys  []buy
	nodes map[string]string // names, with blanks between them
}

// plan returns the plan; pods that are in no launch and on no node are refused.
func (d *draft) plan() *fixture {
	f := buying(d.p, d.buys...)
	placed := map[string]bool{}
	for _, b := range d.buys {
		for _, name := range strings.Fields(b.pods) {
			placed[name] = true
		}
	}
	names := make([]string, 0, len(d.nodes))
	for node := range d.nodes {
		names = append(names, node)
	}
	slices.Sort(names)
	for _, node := range names {
		pods := strings.Fields(d.nodes[node])
		if len(pods) == 0 {
			continue
		}
		f.onto(node, pods...)
		for _, name := range pods {
			placed[name] = true
		}
	}
	for _, pod := range d.p.Pods {
		if !placed[pod.Name] {
			f.refusing(pod.Name)
		}
	}
	for i := range f.plan.Launches {
		f.rename(f.plan.Launches[i].Pods)
	}
	for i := range f.plan.Existing {
		f.rename(f.plan.Existing[i].Pods)
	}
	for i := range f.plan.Unschedulable {
		u := &f.plan.Unschedulable[i]
		name := []string{u.Pod}
		f.rename(name)
		u.Pod = name[0]
	}
	return f
}

// rename adds the namespaces to the names of pods, and sorts the names.
func (f *fixture) rename(names []string) {
	for i, name := range names {
		pod := f.pod(name[strings.Index(name, "/")+1:])
		names[i] = pod.Namespace + "/" + pod.Name
	}
	slices.Sort(names)
}

// move moves a pod to a node, by its name, or to a launch, by its index.
func (d *draft) move(pod string, to any) {
	take := func(list string) string {
		return strings.Join(slices.DeleteFunc(strings.Fields(list), func(name string) bool { return name == pod }), " ")
	}
	for i := range d.buys {
		d.buys[i].pods = take(d.buys[i].pods)
	}
	for node, list := range d.nodes {
		d.nodes[node] = take(list)
	}
	switch to := to.(type) {
	case int:
		d.buys[to].pods += " " + pod
	case string:
		if to != "" {
			d.nodes[to] += " " + pod
		}
	default:
		panic(fmt.Sprintf("no place %v", to))
	}
}

// pod returns a pending pod by its name.
func (d *draft) pod(name string) *corev1.Pod {
	return find(d.p.Pods, name, func(p *corev1.Pod) string { return p.Name })
}

func (d *draft) running(name string) *corev1.Pod {
	return find(d.p.Running, name, func(p *corev1.Pod) string { return p.Name })
}

func (d *draft) node(name string) *corev1.Node {
	return find(d.p.Nodes, name, func(n *corev1.Node) string { return n.Name })
}

// using adds a volume with the claim to a pod.
func using(claim string) change {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, st.Pod("x", st.UseClaim(claim)).Spec.Volumes...)
	}
}

// store adds claims, volumes, classes and CSI nodes to the problem.
func (d *draft) store(objects ...any) {
	for _, o := range objects {
		switch o := o.(type) {
		case *corev1.PersistentVolumeClaim:
			d.p.Claims = append(d.p.Claims, o)
		case *corev1.PersistentVolume:
			d.p.Volumes = append(d.p.Volumes, o)
		case *storagev1.StorageClass:
			d.p.StorageClasses = append(d.p.StorageClasses, o)
		case *storagev1.CSINode:
			d.p.CSINodes = append(d.p.CSINodes, o)
		default:
			panic(fmt.Sprintf("%T is not about storage", o))
		}
	}
}

// termMutation is a mutation of a draft.
type termMutation struct {
	name   string
	change func(d *draft)
	breaks []verify.Code
}
