package schedulingtest

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// RandomCluster is a small valid cluster with everything in it that can keep nodes from
// being removed, or make that hard: the problem of [Random] of that seed, half of them with
// ties, with the plan for it carried out, pods gone at random, and then what goes wrong in
// clusters: budgets of every form, blocked and overlapping PodDisruptionBudgets, pods and
// nodes that ask to be left alone, nodes of pools that are gone or of types nobody sells,
// nodes that start, leave, drift, expire or are interrupted, clocks that disagree.
func RandomCluster(seed uint64) disruption.Cluster {
	p := Random(seed, Size{Pods: 30, Types: 10, Pools: 3, Nodes: 4, Ties: seed%2 == 1})
	r := &clusterWorld{dice: newDice(seed ^ 0x636c7573746572)}
	r.calm = r.oneIn(3)
	c := disruption.Cluster{Problem: p}
	plan, err := scheduling.Solver{Effort: scheduling.EffortFast}.Solve(context.Background(), p)
	if err != nil {
		panic(fmt.Sprintf("schedulingtest: no cluster for seed %d: %v", seed, err))
	}
	r.settle(&c, plan)
	for _, pool := range c.NodePools {
		r.poolDisruption(pool)
	}
	r.machines(&c)
	if !r.calm {
		r.troubleNodes(&c)
		r.troublePods(&c)
	}
	r.disruptionBudgets(&c)
	return c
}

// clusterWorld is what the parts of one random cluster have in common.
type clusterWorld struct {
	dice
	// calm clusters have little in them that stands in the way.
	calm bool
}

// settle carries the plan out, and takes pods away.
func (r *clusterWorld) settle(c *disruption.Cluster, plan *scheduling.Plan) {
	pods := make(map[string]*corev1.Pod, len(c.Pods))
	for _, pod := range c.Pods {
		pods[podKey(pod)] = pod
	}
	gone := float64(r.between(0, 8)) / 10
	place := func(node *corev1.Node, names []string) {
		for _, name := range names {
			pod := pods[name]
			delete(pods, name)
			if r.Float64() < gone {
				continue
			}
			c.Running = append(c.Running, runs(pod, node.Name, c.Now.Add(-time.Duration(r.between(1, 5000))*time.Minute)))
			r.makeVolumes(c, pod, node)
		}
	}
	used := make(map[string]int)
	for i := range plan.Launches {
		l := &plan.Launches[i]
		node := mustNode(c, l, fmt.Sprintf("machine-%02d", i+1))
		if id := l.Options[0].ReservationID; id != "" {
			used[id]++
		}
		c.Nodes = append(c.Nodes, node)
		place(node, l.Pods)
	}
	nodes := make(map[string]*corev1.Node, len(c.Nodes))
	for _, node := range c.Nodes {
		nodes[node.Name] = node
	}
	for _, a := range plan.Existing {
		place(nodes[a.Node], a.Pods)
	}
	waiting := c.Pods
	c.Pods = nil
	for _, pod := range waiting {
		if pods[podKey(pod)] != nil && r.oneIn(2) {
			c.Pods = append(c.Pods, pod)
		}
	}
	reserve(c, used)
}

// makeVolumes makes what the claims of a pod wait for, in the zone of its node.
func (r *clusterWorld) makeVolumes(c *disruption.Cluster, pod *corev1.Pod, node *corev1.Node) {
	for i := range pod.Spec.Volumes {
		source := pod.Spec.Volumes[i].PersistentVolumeClaim
		if source == nil {
			continue
		}
		for k, claim := range c.Claims {
			if claim.Name != source.ClaimName || podKey(pod) != namespaceOr(claim.Namespace)+"/"+pod.Name || claim.Spec.VolumeName != "" {
				continue
			}
			opts := []VolumeOption{}
			if zone := node.Labels[corev1.LabelTopologyZone]; zone != "" && !r.oneIn(4) {
				opts = append(opts, Where(In(corev1.LabelTopologyZone, zone)))
			}
			name := "made-for-" + claim.Name
			made := claim.DeepCopy()
			BoundTo(name).applyClaim(made)
			c.Claims[k] = made
			c.Volumes = append(c.Volumes, Volume(name, opts...))
		}
	}
}

func namespaceOr(namespace string) string {
	if namespace == "" {
		return metav1.NamespaceDefault
	}
	return namespace
}

// poolDisruption says when nodes of the pool may go.
func (r *clusterWorld) poolDisruption(pool *scheduling.NodePool) {
	d := &pool.Spec.Disruption
	d.ConsolidationPolicy = pick(r.dice, "", scheduling.WhenEmptyOrUnderutilized, scheduling.WhenEmptyOrUnderutilized,
		scheduling.WhenEmptyOrUnderutilized, scheduling.WhenEmpty, scheduling.Balanced)
	switch r.IntN(6) {
	case 0:
		d.ConsolidateAfter = &scheduling.NillableDuration{}
	case 1, 2, 3:
		d.ConsolidateAfter = lasting(time.Duration(pick(r.dice, 0, 1, 30, 600)) * time.Minute)
	}
	if r.oneIn(4) {
		pool.Spec.Template.Spec.ExpireAfter = pick(r.dice, &scheduling.NillableDuration{}, lasting(24*time.Hour), lasting(2000*time.Hour), lasting(0))
	}
	if r.oneIn(6) {
		pool.Spec.Template.Spec.TerminationGracePeriod = &metav1.Duration{Duration: time.Duration(r.between(0, 60)) * time.Minute}
	}
	if r.oneIn(6) {
		pool.Annotations = map[string]string{"karpenter.sh/nodepool-hash": "1", "karpenter.sh/nodepool-hash-version": "v3"}
	}
	if r.calm {
		d.Budgets = []scheduling.Budget{{Nodes: "100%"}}
		return
	}
	for range r.few(4) {
		d.Budgets = append(d.Budgets, r.nodeBudget())
	}
}

func lasting(d time.Duration) *scheduling.NillableDuration {
	return &scheduling.NillableDuration{Duration: &d}
}

// nodeBudget is a valid budget of a NodePool.
func (r *clusterWorld) nodeBudget() scheduling.Budget {
	b := scheduling.Budget{Nodes: pick(r.dice, "0", "1", "2", "5", "0%", "1%", "10%", "34%", "50%", "100%", "100%", "100%")}
	if r.oneIn(3) {
		b.Reasons = some(r.dice, "Underutilized", "Empty", "Drifted")
	}
	if r.oneIn(3) {
		schedule := pick(r.dice, "@daily", "@hourly", "@yearly", "* * * * *", "0 9 * * *", "30 11 * * mon-fri", "*/7 10-13 1,2,3 * *",
			"0 12 1 3 *", "59 11 31 2 *", "0 0 15 * sun", "15/20 */3 * jan-mar 0-6/2", "1 12 ? * ?")
		b.Schedule = &schedule
		b.Duration = &metav1.Duration{Duration: time.Duration(pick(r.dice, 0, 1, 5, 60, 180, 60*24, 60*24*40)) * time.Minute}
	}
	return b
}
