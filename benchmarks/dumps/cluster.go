package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// cluster holds the objects of one dump and the random source from which they are drawn.
type cluster struct {
	*rand.Rand
	*vendor
	now       time.Time
	zones     []string
	hosts     []*host
	workloads []*workload
	items     []any
	err       error // of items that could not be written as JSON
}

// host is a node with the amounts that its pods leave free.
type host struct {
	*corev1.Node
	group       *group
	zone        string
	cpu, memory int64 // free, in thousandths of a core and bytes
	pods, disks int64
	all         [2]int64 // cpu and memory, of the node
	has         map[*workload]int
}

// placed is a pod that runs on a host.
type placed struct {
	*host
	ordinal int
}

func newCluster(v *vendor, seed uint64, now time.Time) *cluster {
	h := fnv.New64a()
	h.Write([]byte(v.kind))
	c := &cluster{Rand: rand.New(rand.NewPCG(seed, h.Sum64())), vendor: v, now: now} //nolint:gosec // the same seed gives the same cluster
	for t := range v.catalog.All() {
		for _, o := range t.Offerings {
			if !slices.Contains(c.zones, o.Zone) {
				c.zones = append(c.zones, o.Zone)
			}
		}
	}
	slices.Sort(c.zones)
	c.zones = c.zones[:3]
	return c
}

// buildNodes makes n nodes, but at least one of each group. It fails if a group names an instance type that is not on sale in
// any zone of the cluster.
func (c *cluster) buildNodes(n int) error {
	have := make([]int, len(c.groups))
	for i := range n {
		most := 0
		for g := range c.groups {
			if i < len(c.groups) {
				most = i
			} else if c.groups[g].share*(i+1)-100*have[g] > c.groups[most].share*(i+1)-100*have[most] {
				most = g
			}
		}
		g := &c.groups[most]
		// Zones take turns; not every type is sold in each.
		for try := have[most]; ; try++ {
			t, o, err := c.offer(g, pick(c.Rand, g.types...), c.zones[try%len(c.zones)])
			if err == nil {
				c.hosts = append(c.hosts, c.newHost(i, g, st.Node(c.nodeName(i), st.OfType(t, o)), o.Zone))
				break
			}
			if try > have[most]+100 {
				return fmt.Errorf("-kind %s: group %s: %w", c.kind, g.name, err)
			}
		}
		have[most]++
	}
	for _, h := range c.hosts {
		if c.mirror != "" {
			h.take(&c.mirrorPod(h).Spec, 1)
		}
	}
	for _, ds := range c.daemons {
		template := &corev1.Pod{Spec: ds.Spec.Template.Spec}
		for _, h := range c.hosts {
			if suits(&template.Spec, h) {
				h.take(&template.Spec, 1)
			}
		}
	}
	return nil
}

func (c *cluster) nodeName(i int) string {
	switch c.kind {
	case "gke":
		return fmt.Sprintf("gke-prod-%08x-%04x", 0x51e2d000+i/9, i*7919%65536)
	case "aks":
		return fmt.Sprintf("aks-prod-%08d-vmss%06x", 31415926, i)
	case "eks-auto":
		return fmt.Sprintf("i-%017x", uint64(i+1)*0x9e3779b97f4a7)
	}
	return fmt.Sprintf("ip-10-0-%d-%d.%s.compute.internal", i%3*64+i/100, 10+i*37%230, c.zones[0][:len(c.zones[0])-1])
}

// take has pods of a spec run on a host, or leave it.
func (h *host) take(spec *corev1.PodSpec, n int64) {
	cpu, memory := asked(spec)
	h.cpu, h.memory, h.pods = h.cpu-n*cpu, h.memory-n*memory, h.pods-n
	for i := range spec.Volumes {
		if spec.Volumes[i].PersistentVolumeClaim != nil {
			h.disks -= n
		}
	}
}

// asked returns the sum of the requests of a pod's containers and sidecars. Init containers that end do not count, because
// here none requests more than the containers together.
func asked(spec *corev1.PodSpec) (cpu, memory int64) {
	for _, list := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		for i := range list {
			if i > 0 && list[i].RestartPolicy == nil || list[i].Name == "init-0" {
				continue
			}
			r := list[i].Resources.Requests
			cpu, memory = cpu+r.Cpu().MilliValue(), memory+r.Memory().Value()
		}
	}
	return cpu, memory
}

// suits reports whether a host has the labels that a pod selects, and only taints that it tolerates.
func suits(spec *corev1.PodSpec, h *host) bool {
	for key, value := range spec.NodeSelector {
		if h.Labels[key] != value {
			return false
		}
	}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil && h.group.pool != nil {
		return false // the controller of the pools keeps off their nodes
	}
	return h.group.taint == nil || slices.ContainsFunc(spec.Tolerations, func(t corev1.Toleration) bool {
		return t.Key == "" || t.Key == h.group.taint.Key && (t.Operator == corev1.TolerationOpExists || t.Value == h.group.taint.Value)
	})
}

// fill has workloads run as at the peak: until a good nine in ten of cpu or memory is requested.
func (c *cluster) fill() {
	for _, w := range c.system {
		c.run(w)
	}
	for i := 1; c.requested() < 0.86 && i < 100*len(c.hosts); i++ {
		w := draw(c.Rand, c.vendor, i)
		if c.run(w); len(w.pods) == 0 {
			c.workloads = c.workloads[:len(c.workloads)-1]
		}
	}
}

// run starts the pods of a workload, as many as have a place.
func (c *cluster) run(w *workload) {
	opts := append([]st.PodOption{st.Namespace(w.namespace), st.Label("app", w.name), st.Label("team", w.namespace)}, w.options...)
	if w.disk {
		opts = append(opts, st.UseClaim("data"))
	}
	w.template = st.Pod(w.name, opts...)
	c.workloads = append(c.workloads, w)
	for i := range w.replicas {
		if h := c.hostFor(w); h != nil {
			h.take(&w.template.Spec, 1)
			h.has[w]++
			w.pods = append(w.pods, &placed{h, i})
		}
	}
}

// hostFor draws five hosts that a pod of a workload may use and returns the least requested one, nil if there is none.
func (c *cluster) hostFor(w *workload) *host {
	cpu, memory := asked(&w.template.Spec)
	per := map[string]int{}
	for _, zone := range c.zones {
		per[zone] = 0
	}
	for _, p := range w.pods {
		per[p.zone]++
	}
	least := len(w.pods)
	for _, n := range per {
		least = min(least, n)
	}
	var fit []*host
	for _, h := range c.hosts {
		if h.cpu < cpu || h.memory < memory || h.pods < 1 || w.disk && h.disks < 1 || w.exclusive && h.has[w] > 0 || !suits(&w.template.Spec, h) {
			continue
		}
		if w.spread > 0 && per[h.zone]+1-least > int(w.spread) {
			continue
		}
		fit = append(fit, h)
	}
	c.Shuffle(len(fit), func(i, k int) { fit[i], fit[k] = fit[k], fit[i] })
	if len(fit) == 0 {
		return nil
	}
	return slices.MinFunc(fit[:min(5, len(fit))], func(a, b *host) int { return a.share() - b.share() })
}

// share is how much of a host is requested, in thousandths of its cpu and memory together.
func (h *host) share() int { return int(1000 - 500*h.cpu/h.all[0] - 500*h.memory/h.all[1]) }

// requested is how much of the cluster is, by the scarcer of cpu and memory.
func (c *cluster) requested() float64 {
	var free, all [2]int64
	for _, h := range c.hosts {
		free[0], free[1], all[0], all[1] = free[0]+h.cpu, free[1]+h.memory, all[0]+h.all[0], all[1]+h.all[1]
	}
	return 1 - min(float64(free[0])/float64(all[0]), float64(free[1])/float64(all[1]))
}

// scaleDown takes pods away until 45 to 65 % are requested.
func (c *cluster) scaleDown() {
	target := 0.45 + 0.2*c.Float64()
	for c.requested() > target {
		w := pick(c.Rand, c.workloads...)
		if w.namespace == "kube-system" || len(w.pods) == 0 || len(w.pods) == 1 && c.IntN(4) > 0 || w.disk && c.IntN(3) > 0 {
			continue
		}
		i := len(w.pods) - 1 // StatefulSets lose the last
		if w.kind != "StatefulSet" {
			i = c.IntN(len(w.pods))
		}
		p := w.pods[i]
		p.take(&w.template.Spec, -1)
		p.has[w]--
		w.pods = slices.Delete(w.pods, i, i+1)
	}
}

// ago is the time so long before the dump.
func (c *cluster) ago(d time.Duration) metav1.Time {
	return metav1.NewTime(c.now.Add(-d).Truncate(time.Second))
}

// between returns a random time between from and to hours ago.
func (c *cluster) between(from, to int) metav1.Time {
	return c.ago(time.Duration(from*60+c.IntN((to-from)*60)) * time.Minute)
}
