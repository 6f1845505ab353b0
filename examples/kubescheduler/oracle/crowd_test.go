package oracle_test

import (
	"fmt"
	"math/rand/v2"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// crowd draws clusters in which most pods may choose among many nodes, and have preferences of all kinds.
type crowd struct {
	spice
	apps int
}

// crowded is a cluster of some nodes, half empty, with pending pods.
func crowded(seed uint64, nodes int) scheduling.Problem {
	p := scheduling.Problem{}
	c := crowd{spice: spice{Rand: rand.New(rand.NewPCG(seed, 0xc20d)), problem: &p}, apps: 12} //nolint:gosec // a test
	for i := range nodes {
		c.node(i)
	}
	if c.oneIn(3) {
		p.DefaultSpread = []corev1.TopologySpreadConstraint{st.DefaultSpread(corev1.LabelTopologyZone, st.Skew(2))}
		p.DefaultSpread[0].WhenUnsatisfiable = corev1.ScheduleAnyway
	}
	for i := range c.apps {
		opts := c.options(i)
		pods := st.Pods(1+c.IntN(8), fmt.Sprintf("app-%02d", i), opts...)
		if c.oneIn(2) {
			c.owner(i, pods)
		}
		p.Pods = append(p.Pods, pods...)
	}
	return onlyAdmitted(p)
}

// node adds a node with pods on it.
func (c crowd) node(i int) {
	cores := choose(c.spice, 2, 4, 8, 16)
	name := fmt.Sprintf("node-%03d", i)
	opts := []st.NodeOption{
		st.Allocatable(st.MilliCPU(int64(1000*cores-c.IntN(300))), st.MiB(int64(cores*choose(c.spice, 1900, 3800, 7700)-c.IntN(400))), st.Count(corev1.ResourcePods, 110)),
	}
	if !c.oneIn(12) {
		opts = append(opts, st.Label(corev1.LabelTopologyZone, choose(c.spice, "zone-a", "zone-b", "zone-b", "zone-c")))
	}
	if c.oneIn(2) {
		opts = append(opts, st.Label("disk", choose(c.spice, "ssd", "hdd")))
	}
	for range c.IntN(3) {
		if c.oneIn(3) {
			opts = append(opts, st.Taint(choose(c.spice, "busy", "old"), choose(c.spice, "", "very"), corev1.TaintEffectPreferNoSchedule))
		}
	}
	c.problem.Nodes = append(c.problem.Nodes, st.Node(name, opts...))
	for k := range c.IntN(5) {
		app := c.IntN(c.apps)
		more := []st.PodOption{st.OnNode(name)}
		if c.oneIn(2) {
			more = append(more, st.Requests(st.MilliCPU(int64(10*c.IntN(30))), st.MiB(int64(c.IntN(700)))))
		}
		pod := st.Pod(fmt.Sprintf("%s-pod-%d", name, k), append(c.options(app), more...)...)
		if !c.oneIn(4) { // most have no terms that have to hold, so that others may come
			pod.Spec.Affinity = nil
		}
		c.problem.Running = append(c.problem.Running, pod)
	}
}

// options are the options of an app's pods.
func (c crowd) options(app int) []st.PodOption {
	name := fmt.Sprintf("app-%02d", app)
	of := func() st.TermOption { return st.Of("app", fmt.Sprintf("app-%02d", c.IntN(c.apps))) }
	key := func() string {
		return choose(c.spice, corev1.LabelTopologyZone, corev1.LabelHostname, "disk")
	}
	opts := []st.PodOption{st.Label("app", name)}
	switch c.IntN(8) {
	case 0: // nothing at all
	case 1:
		opts = append(opts, st.Requests(st.MilliCPU(int64(10+c.IntN(900)))))
	case 2:
		opts = append(opts, st.Requests(st.MiB(int64(10+c.IntN(1900)))))
	case 3:
		opts = append(opts, st.Requests(st.MilliCPU(int64(10+c.IntN(900))), st.MiB(int64(10+c.IntN(1900)))), st.Sidecar(st.MilliCPU(50)), st.Init(st.MiB(1500)))
	default:
		opts = append(opts, st.Requests(st.MilliCPU(int64(10+c.IntN(900))), st.MiB(int64(10+c.IntN(1900)))))
	}
	if c.oneIn(5) {
		opts = append(opts, st.TolerateKey("busy", choose(c.spice, corev1.TaintEffectPreferNoSchedule, "")))
	}
	for range c.IntN(3) {
		switch c.IntN(9) {
		case 0:
			opts = append(opts, st.Spread(corev1.LabelTopologyZone, st.Of("app", name), st.Skew(int32(1+c.IntN(2)))))
		case 1, 2:
			opts = append(opts, st.Spread(key(), st.Of("app", name), st.Soft(), st.Skew(int32(1+c.IntN(4)))))
		case 3:
			opts = append(opts, st.Near(key(), of(), st.Weight(int32(1+c.IntN(100)))))
		case 4:
			opts = append(opts, st.Apart(key(), of(), st.Weight(int32(1+c.IntN(100)))))
		case 5:
			opts = append(opts, st.Apart(corev1.LabelHostname, st.Of("app", name)))
		case 6:
			opts = append(opts, st.Near(corev1.LabelTopologyZone, st.Of("app", name)))
		case 7, 8:
			opts = append(opts, st.Prefer(int32(1+c.IntN(100)), choose(c.spice,
				st.In("disk", "ssd"), st.Exists("disk"), st.NotIn(corev1.LabelTopologyZone, "zone-a"), st.In(corev1.LabelTopologyZone, "zone-b"))))
		}
	}
	return opts
}

// owner gives pods a ReplicaSet, and sometimes a Service.
func (c crowd) owner(app int, pods []*corev1.Pod) {
	name := fmt.Sprintf("app-%02d", app)
	selector := map[string]string{"app": name}
	owned := st.Pod("", st.OwnedBy("ReplicaSet", name))
	for _, pod := range pods {
		pod.OwnerReferences = owned.OwnerReferences
	}
	c.problem.Owners.ReplicaSets = append(c.problem.Owners.ReplicaSets, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault},
		Spec:       appsv1.ReplicaSetSpec{Selector: &metav1.LabelSelector{MatchLabels: selector}},
	})
	if c.oneIn(2) {
		c.problem.Services = append(c.problem.Services, st.Service(metav1.NamespaceDefault, name, selector))
	}
}
