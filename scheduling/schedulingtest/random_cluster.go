package schedulingtest

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/dice"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// RandomCluster returns a small valid cluster with every obstacle to the removal of nodes: the problem of [Random] of
// that seed, half of them with topology terms, with its plan carried out and some pods removed at random; then budgets
// of every form, PodDisruptionBudgets that block or overlap, pods and nodes with do-not-disrupt, nodes of pools that
// were deleted or of types that no catalog has, nodes that start, are being removed, have drifted, expired or are
// interrupted, and clocks that disagree.
func RandomCluster(seed uint64) disruption.Cluster {
	p := Random(seed, Size{Pods: 30, Types: 10, Pools: 3, Nodes: 4, TopologyTerms: seed%2 == 1})
	r := &clusterGenerator{dice: dice.New(seed ^ 0x636c7573746572)}
	r.calm = r.dice.OneIn(3)
	c := disruption.Cluster{Problem: p}
	plan, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Plan(context.Background(), p)
	if err != nil {
		panic(fmt.Sprintf("schedulingtest: no cluster for seed %d: %v", seed, err))
	}
	r.carryOut(&c, plan)
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

// clusterGenerator has the facts that all parts of one random cluster share.
type clusterGenerator struct {
	dice dice.Dice
	// calm clusters have few obstacles.
	calm bool
}

// carryOut carries the plan out, and takes pods away.
func (r *clusterGenerator) carryOut(c *disruption.Cluster, plan *scheduling.Plan) {
	pods := make(map[string]*corev1.Pod, len(c.Pods))
	for _, pod := range c.Pods {
		pods[scheduling.PodName(pod)] = pod
	}
	gone := float64(r.dice.Between(0, 8)) / 10
	place := func(node *corev1.Node, names []string) {
		for _, name := range names {
			pod := pods[name]
			delete(pods, name)
			if r.dice.Float64() < gone {
				continue
			}
			c.Running = append(c.Running, runs(pod, node.Name, c.Now.Add(-time.Duration(r.dice.Between(1, 5000))*time.Minute)))
			r.makeVolumes(c, pod, node)
		}
	}
	used := make(map[string]int64)
	for i := range plan.Launches {
		l := &plan.Launches[i]
		node := mustNode(c, l, fmt.Sprintf("machine-%02d", i+1))
		if id, amount := instancetypes.Draws(c.CatalogOf(l.NodePool), l.Options[0].Key()); id != "" {
			used[id] += amount
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
		if pods[scheduling.PodName(pod)] != nil && r.dice.OneIn(2) {
			c.Pods = append(c.Pods, pod)
		}
	}
	reserve(c, used)
}

// makeVolumes makes the volumes of a pod's unbound claims, in the zone of its node.
func (r *clusterGenerator) makeVolumes(c *disruption.Cluster, pod *corev1.Pod, node *corev1.Node) {
	for i := range pod.Spec.Volumes {
		if pod.Spec.Volumes[i].Ephemeral != nil {
			makeEphemeral(c, pod, node, pod.Name+"-"+pod.Spec.Volumes[i].Name)
		}
		source := pod.Spec.Volumes[i].PersistentVolumeClaim
		if source == nil {
			continue
		}
		for k, claim := range c.Claims {
			if claim.Name != source.ClaimName || scheduling.PodName(pod) != namespaceOr(claim.Namespace)+"/"+pod.Name || claim.Spec.VolumeName != "" {
				continue
			}
			opts := []VolumeOption{}
			if zone := node.Labels[corev1.LabelTopologyZone]; zone != "" && !r.dice.OneIn(4) {
				opts = append(opts, Where(In(corev1.LabelTopologyZone, zone)))
			}
			name := "made-for-" + claim.Name
			made := claim.DeepCopy()
			BoundTo(name).Apply(made)
			c.Claims[k] = made
			c.Volumes = append(c.Volumes, Volume(name, opts...))
		}
	}
}

// makeEphemeral makes the claim of an ephemeral volume of a pod and its volume, in the zone of the node.
func makeEphemeral(c *disruption.Cluster, pod *corev1.Pod, node *corev1.Node, name string) {
	var where []VolumeOption
	if zone := node.Labels[corev1.LabelTopologyZone]; zone != "" {
		where = append(where, Where(In(corev1.LabelTopologyZone, zone)))
	}
	c.Claims = append(c.Claims, Claim(name, Namespace(namespaceOr(pod.Namespace)), OwnedByPod(pod.Name), BoundTo("made-for-"+name)))
	c.Volumes = append(c.Volumes, Volume("made-for-"+name, where...))
}

func namespaceOr(namespace string) string {
	if namespace == "" {
		return metav1.NamespaceDefault
	}
	return namespace
}

// poolDisruption says when nodes of the pool may go.
func (r *clusterGenerator) poolDisruption(pool *scheduling.NodePool) {
	d := &pool.Spec.Disruption
	d.ConsolidationPolicy = dice.Pick(r.dice, "", scheduling.WhenEmptyOrUnderutilized, scheduling.WhenEmptyOrUnderutilized,
		scheduling.WhenEmptyOrUnderutilized, scheduling.WhenEmpty, scheduling.Balanced)
	switch r.dice.IntN(6) {
	case 0:
		d.ConsolidateAfter = &scheduling.NillableDuration{}
	case 1, 2, 3:
		d.ConsolidateAfter = lasting(time.Duration(dice.Pick(r.dice, 0, 1, 30, 600)) * time.Minute)
	}
	if r.dice.OneIn(4) {
		pool.Spec.Template.Spec.ExpireAfter = dice.Pick(r.dice, &scheduling.NillableDuration{}, lasting(24*time.Hour), lasting(2000*time.Hour), lasting(0))
	}
	if r.dice.OneIn(6) {
		pool.Spec.Template.Spec.TerminationGracePeriod = &metav1.Duration{Duration: time.Duration(r.dice.Between(0, 60)) * time.Minute}
	}
	if r.dice.OneIn(6) {
		pool.Annotations = map[string]string{"karpenter.sh/nodepool-hash": "1", "karpenter.sh/nodepool-hash-version": "v3"}
	}
	if r.calm {
		d.Budgets = []scheduling.Budget{{Nodes: "100%"}}
		return
	}
	for range r.dice.Few(4) {
		d.Budgets = append(d.Budgets, r.nodeBudget())
	}
}

func lasting(d time.Duration) *scheduling.NillableDuration {
	return &scheduling.NillableDuration{Duration: &d}
}

// nodeBudget is a valid budget of a NodePool.
func (r *clusterGenerator) nodeBudget() scheduling.Budget {
	b := scheduling.Budget{Nodes: dice.Pick(r.dice, "0", "1", "2", "5", "0%", "1%", "10%", "34%", "50%", "100%", "100%", "100%")}
	if r.dice.OneIn(3) {
		b.Reasons = dice.Some(r.dice, "Underutilized", "Empty", "Drifted")
	}
	if r.dice.OneIn(3) {
		schedule := dice.Pick(r.dice, "@daily", "@hourly", "@yearly", "* * * * *", "0 9 * * *", "30 11 * * mon-fri", "*/7 10-13 1,2,3 * *",
			"0 12 1 3 *", "59 11 31 2 *", "0 0 15 * sun", "15/20 */3 * jan-mar 0-6/2", "1 12 ? * ?")
		b.Schedule = &schedule
		b.Duration = &metav1.Duration{Duration: time.Duration(dice.Pick(r.dice, 0, 1, 5, 60, 180, 60*24, 60*24*40)) * time.Minute}
	}
	return b
}

const doNotDisrupt = "karpenter.sh/do-not-disrupt"

// machines sets the age of each node, and marks some nodes that must be removed.
func (r *clusterGenerator) machines(c *disruption.Cluster) {
	ago := func(most int) time.Time { return c.Now.Add(-time.Duration(r.dice.Between(0, most)) * time.Minute) }
	for _, node := range c.Nodes {
		created := ago(60 * 1000)
		node.CreationTimestamp = metav1.NewTime(created)
		if r.dice.OneIn(8) {
			continue // all that is known of it is its object
		}
		m := disruption.Machine{Node: node.Name, Created: created, Initialized: created.Add(time.Minute), LastPodEvent: ago(120)}
		if !r.calm {
			r.troubleMachine(c, &m)
		}
		c.Machines = append(c.Machines, m)
	}
	r.dice.Shuffle(len(c.Machines), func(i, j int) { c.Machines[i], c.Machines[j] = c.Machines[j], c.Machines[i] })
}

func (r *clusterGenerator) troubleMachine(c *disruption.Cluster, m *disruption.Machine) {
	ago := func(most int) time.Time { return c.Now.Add(-time.Duration(r.dice.Between(0, most)) * time.Minute) }
	switch r.dice.IntN(20) {
	case 0:
		m.Drift, m.DriftedAt = dice.Pick(r.dice, "AMIDrift", "NodeClassDrift"), ago(600)
	case 1:
		m.Interruption = &disruption.Interruption{At: c.Now.Add(2 * time.Minute), Kind: "spot"}
	case 2:
		m.Interruption = &disruption.Interruption{}
	case 3:
		m.NominatedUntil = c.Now.Add(time.Duration(r.dice.Between(-30, 30)) * time.Second)
	case 4:
		m.Terminating = true
	case 5:
		m.ExpireAfter = lasting(time.Duration(r.dice.Between(0, 2000)) * time.Hour)
	case 6:
		m.ExpireAfter = &scheduling.NillableDuration{}
	case 7:
		m.Annotations = map[string]string{"karpenter.sh/nodepool-hash": dice.Pick(r.dice, "1", "2"), "karpenter.sh/nodepool-hash-version": dice.Pick(r.dice, "v3", "v2")}
	case 8: // its clock is ahead of ours
		ahead := time.Duration(r.dice.Between(1, 300)) * time.Minute
		m.Created, m.Initialized, m.LastPodEvent = c.Now.Add(ahead), c.Now.Add(ahead), c.Now.Add(ahead)
	case 9:
		m.Created, m.Initialized, m.LastPodEvent = time.Time{}, time.Time{}, time.Time{}
	case 10:
		m.Initialized, m.LastPodEvent = time.Time{}, time.Time{}
	case 11:
		m.TerminationGracePeriod = &metav1.Duration{Duration: time.Duration(r.dice.Between(0, 10)) * time.Minute}
		m.Drift, m.DriftedAt = "AMIDrift", ago(600)
	case 12:
		m.LastPodEvent = time.Time{}
	}
}

// troubleNodes gives nodes unusual labels, taints and states.
func (r *clusterGenerator) troubleNodes(c *disruption.Cluster) {
	for _, node := range c.Nodes {
		switch r.dice.IntN(24) {
		case 0:
			annotate(&node.ObjectMeta, doNotDisrupt, dice.Pick(r.dice, "true", "true", "false", "True", "10m"))
		case 1:
			Deleting().Apply(node)
		case 2:
			Disrupted().Apply(node)
		case 3:
			node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: dice.Pick(r.dice, corev1.ConditionFalse, corev1.ConditionUnknown)}}
		case 4:
			delete(node.Labels, dice.Pick(r.dice, corev1.LabelInstanceTypeStable, corev1.LabelTopologyZone, offerings.CapacityTypeLabel, scheduling.NodePoolLabel, scheduling.InitializedLabel))
		case 5:
			node.Labels[corev1.LabelInstanceTypeStable] = "gone.large"
		case 6:
			node.Labels[scheduling.NodePoolLabel] = "gone"
		case 7: // nobody sells it so, or asks another price
			node.Labels[offerings.CapacityTypeLabel] = dice.Pick(r.dice, "spot", "on-demand", "reserved", "capacity-block")
		case 8:
			Cordoned().Apply(node)
		case 9:
			Taint("example.com/quarantine", "", corev1.TaintEffectNoSchedule).Apply(node)
		}
	}
}

// troublePods makes pods hard or impossible to move.
func (r *clusterGenerator) troublePods(c *disruption.Cluster) {
	for _, pod := range c.Running {
		switch r.dice.IntN(30) {
		case 0:
			annotate(&pod.ObjectMeta, doNotDisrupt, dice.Pick(r.dice, "true", "false", "10m", "48h", "0s", "-5m", "soon"))
		case 1:
			annotate(&pod.ObjectMeta, doNotDisrupt, dice.Pick(r.dice, "10m", "48h"))
			pod.Status.StartTime = nil
		case 2:
			annotate(&pod.ObjectMeta, corev1.PodDeletionCost, dice.Pick(r.dice, "100", "-2147483648", "2147483647", "dear", "1e9"))
		case 3:
			Deleting().Apply(pod)
		case 4:
			OwnedBy("StatefulSet", "old").Apply(pod)
			Deleting().Apply(pod)
		case 5:
			annotate(&pod.ObjectMeta, corev1.MirrorPodAnnotationKey, "a file")
		case 6:
			pod.Status.Conditions = nil
		case 7:
			PodPhase(dice.Pick(r.dice, corev1.PodSucceeded, corev1.PodFailed)).Apply(pod)
		case 8:
			TolerateKey(scheduling.DisruptedTaint, "").Apply(pod)
		case 9:
			Priority(dice.Pick[int32](r.dice, -100, 1000, 2_000_000_000)).Apply(pod)
		}
	}
}

func annotate(m *metav1.ObjectMeta, key, value string) {
	if m.Annotations == nil {
		m.Annotations = make(map[string]string)
	}
	m.Annotations[key] = value
}

// disruptionBudgets draws PodDisruptionBudgets, some of which block, overlap or select no pod.
func (r *clusterGenerator) disruptionBudgets(c *disruption.Cluster) {
	if len(c.Running) == 0 || r.dice.OneIn(4) {
		return
	}
	for i := range r.dice.Few(5) {
		pod := dice.Pick(r.dice, c.Running...)
		labels := pod.Labels
		if r.dice.OneIn(6) {
			labels = nil // everything in the namespace
		}
		b := DisruptionBudget("budget-"+strings.Repeat("x", i+1), labels, dice.Pick(r.dice, intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromString("50%"), intstr.FromString("100%")))
		b.Namespace = pod.Namespace
		if !r.calm {
			r.troubleBudget(b)
		}
		c.PodDisruptionBudgets = append(c.PodDisruptionBudgets, b)
	}
	countBudgets(c)
	for _, b := range c.PodDisruptionBudgets {
		if r.dice.OneIn(4) {
			b.Status = policyv1.PodDisruptionBudgetStatus{} // its controller has not seen it
		}
	}
}

func (r *clusterGenerator) troubleBudget(b *podBudget) {
	switch r.dice.IntN(10) {
	case 0:
		*b.Spec.MaxUnavailable = dice.Pick(r.dice, intstr.FromInt32(0), intstr.FromString("0%"))
	case 1:
		least := dice.Pick(r.dice, intstr.FromString("100%"), intstr.FromString("50%"), intstr.FromInt32(1), intstr.FromInt32(100))
		b.Spec.MaxUnavailable, b.Spec.MinAvailable = nil, &least
	case 2:
		b.Namespace = "elsewhere"
	case 3:
		b.Spec.Selector = nil // matches no pod
	case 4:
		always := policyv1.AlwaysAllow
		b.Spec.UnhealthyPodEvictionPolicy = &always
	case 5:
		b.Spec.MaxUnavailable = nil // neither: nothing may go
	case 6:
		b.Generation = 7 // changed since
	}
}
