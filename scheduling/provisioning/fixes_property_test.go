package provisioning_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/explain"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Every fix of every refusal holds: once the plan has been carried out and the change
// made, nothing else changed, the pod is placed. Of a fix of several parts none is needless: without it the pod
// is not placed.
func TestEveryFixHolds(t *testing.T) {
	t.Parallel()
	_, wanted := soak.Window(40)
	tried, byKind := 0, map[scheduling.ChangeKind]int{}
	for seed := uint64(0); tried < wanted; seed++ {
		p := schedulingtest.Random(seed, schedulingtest.Size{TopologyTerms: seed%3 > 0, Pods: 20})
		solver := solverOf(seed)
		plan, err := provisioning.Planner{Policy: solver}.Plan(t.Context(), p)
		require.NoError(t, err, "seed %d", seed)
		seen := map[string]bool{}
		for i := range plan.Unschedulable {
			u := &plan.Unschedulable[i]
			if seen[u.Message] {
				continue
			}
			seen[u.Message] = true
			tried++
			fixesHold(t, fmt.Sprint("seed ", seed), p, solver, plan, u, byKind)
		}
	}
	t.Log(tried, byKind)
}

// fixesHold requires that some changes are proposed for a pod, that each of them places it, and that none has a part that
// is needless. It counts them by kind.
func fixesHold(t *testing.T, name string, p scheduling.Problem, solver scheduling.Policy, plan *scheduling.Plan, u *scheduling.Unschedulable, byKind map[scheduling.ChangeKind]int) {
	t.Helper()
	assert.NotEmpty(t, u.Changes, "%s, %s: %s", name, u.Pod, u.Message)
	for i, c := range u.Changes {
		byKind[c.Kind]++
		w := carriedOut(t, p, plan, solver, u.Pod)
		w.make(t, c)
		done, err := provisioning.Planner{Policy: w.solver}.Plan(t.Context(), w.problem)
		if err != nil || len(done.Unschedulable) > 0 {
			t.Errorf("%s, %s, fix %d of %v: %v %v", name, u.Pod, i, u.Fixes, err, messageOf(done, u.Pod))
		}
		for _, less := range withoutOne(c) {
			w := carriedOut(t, p, plan, solver, u.Pod)
			w.fill()
			w.make(t, less)
			done, err := provisioning.Planner{Policy: w.solver}.Plan(t.Context(), w.problem)
			if err == nil && len(done.Unschedulable) == 0 {
				t.Errorf("%s, %s, fix %d of %v: %+v would do", name, u.Pod, i, u.Fixes, less)
			}
		}
	}
}

// fill leaves no room on nodes that the plan has launched, on which no further pod can count: another type may
// have been launched.
func (w *world) fill() {
	for i, node := range w.problem.Nodes {
		if !strings.HasPrefix(node.Name, "new-") {
			continue
		}
		pods := int64(0)
		for _, pod := range w.problem.Running {
			if pod.Spec.NodeName == node.Name {
				pods++
			}
		}
		node = node.DeepCopy()
		node.Status.Allocatable[corev1.ResourcePods] = *resource.NewQuantity(pods, resource.DecimalSI)
		w.problem.Nodes[i] = node
	}
}

// withoutOne are a change of several parts without each of them.
func withoutOne(c scheduling.Change) (out []scheduling.Change) {
	if len(c.And) == 0 {
		return nil
	}
	first := explain.CopyChanges(c.And)
	head := first[0]
	head.And = append(head.And, first[1:]...)
	out = append(out, head)
	for i := range c.And {
		less := c
		less.And = slices.Delete(explain.CopyChanges(c.And), i, i+1)
		out = append(out, less)
	}
	return out
}

// solverOf is a solver whose settings refuse pods, too, now and then.
func solverOf(seed uint64) scheduling.Policy {
	s := scheduling.Policy{Effort: scheduling.EffortFast}
	switch seed % 8 {
	case 0:
		s.NoSpot = true
	case 1:
		s.Size.Largest = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
	case 2:
		s.Size.Smallest = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("16Gi")}
	case 3:
		s.Flexibility.Types = 3
	case 4:
		s.WorkloadShare = 30
	}
	return s
}

// world is the problem in which a change is made: a pending pod, and all other objects.
type world struct {
	problem scheduling.Problem
	solver  scheduling.Policy
	pod     *corev1.Pod
}

// carriedOut carries out a plan, and leaves one pod waiting.
func carriedOut(t *testing.T, p scheduling.Problem, plan *scheduling.Plan, solver scheduling.Policy, waits string) *world {
	t.Helper()
	w := &world{problem: p, solver: solver}
	w.problem.Pods, w.problem.Nodes, w.problem.Running = nil, slices.Clone(p.Nodes), slices.Clone(p.Running)
	nodeOf := map[string]string{}
	for i := range plan.Launches {
		l := &plan.Launches[i]
		catalog := p.PoolCatalogs[l.NodePool]
		if catalog == nil {
			catalog = p.Catalog
		}
		node, err := l.Node("new-"+l.Name, &l.Options[0], catalog)
		require.NoError(t, err)
		w.problem.Nodes = append(w.problem.Nodes, node)
		if id, amount := instancetypes.Draws(catalog, l.Options[0].Key()); id != "" {
			w.offerings(func(_ string, o *offerings.Offering) bool {
				if o.ReservationID == id {
					o.ReservationCount -= amount
				}
				return o.ReservationID == id
			})
		}
	}
	for pod, at := range plan.Placements() {
		if nodeOf[pod.String()] = at.Node; at.Launch != nil {
			nodeOf[pod.String()] = "new-" + at.Launch.Name
		}
	}
	for _, pod := range p.Pods {
		pod = pod.DeepCopy()
		if node := nodeOf[full(pod)]; node != "" {
			pod.Spec.NodeName = node
			w.bindClaims(pod, node)
			w.problem.Running = append(w.problem.Running, pod)
		} else if full(pod) == waits {
			w.pod = pod
			w.problem.Pods = append(w.problem.Pods, pod)
		}
	}
	return w
}

// bindClaims gives the claims of a pod that has a node the volumes that are made for them.
func (w *world) bindClaims(pod *corev1.Pod, node string) {
	at := slices.IndexFunc(w.problem.Nodes, func(n *corev1.Node) bool { return n.Name == node })
	zone := w.problem.Nodes[at].Labels[corev1.LabelTopologyZone]
	w.problem.Claims = slices.Clone(w.problem.Claims)
	for _, v := range pod.Spec.Volumes {
		for i, c := range w.problem.Claims {
			if v.PersistentVolumeClaim == nil || c.Name != v.PersistentVolumeClaim.ClaimName || c.Namespace != pod.Namespace || c.Spec.VolumeName != "" || c.Spec.StorageClassName == nil {
				continue
			}
			for _, class := range w.problem.StorageClasses {
				if class.Name != *c.Spec.StorageClassName || zone == "" || class.Provisioner == "" || strings.HasSuffix(class.Provisioner, "/no-provisioner") {
					continue
				}
				c = c.DeepCopy()
				c.Spec.VolumeName, c.Status.Phase = "volume-of-"+pod.Namespace+"-"+c.Name, corev1.ClaimBound
				w.problem.Claims[i] = c
				volume := &corev1.PersistentVolume{}
				volume.Name, volume.Labels = c.Spec.VolumeName, map[string]string{corev1.LabelTopologyZone: zone}
				volume.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: class.Provisioner, VolumeHandle: volume.Name}
				w.problem.Volumes = append(slices.Clone(w.problem.Volumes), volume)
			}
		}
	}
}

// offerings changes the offerings of the catalog.
func (w *world) offerings(change func(name string, o *offerings.Offering) bool) {
	renew := func(c *instancetypes.Catalog) *instancetypes.Catalog {
		var changes []instancetypes.OfferingChange
		for t := range c.All() {
			for _, o := range t.Offerings {
				if change(t.Name, &o) {
					changes = append(changes, instancetypes.OfferingChange{InstanceType: t.Name, Offering: o})
				}
			}
		}
		c, err := c.WithOfferings(changes...)
		if err != nil {
			panic(err)
		}
		return c
	}
	w.problem.Catalog = renew(w.problem.Catalog)
	catalogs := map[string]*instancetypes.Catalog{}
	for name, c := range w.problem.PoolCatalogs {
		catalogs[name] = renew(c)
	}
	w.problem.PoolCatalogs = catalogs
}

// make makes a change, and the changes of other objects that belong to it.
func (w *world) make(t *testing.T, c scheduling.Change) {
	t.Helper()
	spec := &w.pod.Spec
	kind, name, _ := strings.Cut(c.Object, "/")
	switch c.Kind {
	case scheduling.ChangeRequest, scheduling.ChangeUnit:
		w.request(t, c)
	case scheduling.ChangeToleration:
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{Key: c.Key, Value: c.To, Effect: corev1.TaintEffect(c.Effect), Operator: corev1.TolerationOpEqual})
	case scheduling.ChangeSelector:
		value := spec.NodeSelector[c.Key]
		delete(spec.NodeSelector, c.Key)
		if c.To != "" {
			spec.NodeSelector[c.To] = value
		} else if len(c.Values) > 0 {
			spec.NodeSelector[c.Key] = c.Values[0]
		}
	case scheduling.ChangeNodeAffinity:
		widen(spec.Affinity.NodeAffinity, c)
	case scheduling.ChangeMaxSkew, scheduling.ChangeMinDomains, scheduling.ChangeNodeInclusion, scheduling.ChangeScheduleAnyway:
		require.True(t, relaxSpread(w, c))
	case scheduling.ChangePodAffinity:
		dropTerms(&spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, c.Key)
	case scheduling.ChangePodAntiAffinity:
		if c.Object == "" {
			name = full(w.pod)
		}
		w.anti(name, c.Key)
	case scheduling.ChangePods:
		w.addAffinePods(c.Key)
	case scheduling.ChangeHostPort:
		for i := range spec.Containers {
			spec.Containers[i].Ports = slices.DeleteFunc(spec.Containers[i].Ports, func(p corev1.ContainerPort) bool {
				protocol := p.Protocol
				if protocol == "" {
					protocol = corev1.ProtocolTCP
				}
				return fmt.Sprintf("%d/%s", max(p.HostPort, 0), protocol) == c.From || spec.HostNetwork && fmt.Sprintf("%d/%s", p.ContainerPort, protocol) == c.From
			})
		}
	case scheduling.ChangeGate:
		spec.SchedulingGates = slices.DeleteFunc(spec.SchedulingGates, func(g corev1.PodSchedulingGate) bool { return g.Name == c.Object })
	case scheduling.ChangeResourceClaim:
		spec.ResourceClaims = slices.DeleteFunc(spec.ResourceClaims, func(r corev1.PodResourceClaim) bool { return r.Name == c.Object })
	case scheduling.ChangeVolume, scheduling.ChangeClaim:
		w.volume(kind, name, c)
	case scheduling.ChangeTaint:
		w.problem.Nodes = slices.Clone(w.problem.Nodes)
		i := slices.IndexFunc(w.problem.Nodes, func(n *corev1.Node) bool { return n.Name == name })
		n := w.problem.Nodes[i].DeepCopy()
		n.Spec.Unschedulable = n.Spec.Unschedulable && c.Key != corev1.TaintNodeUnschedulable
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == c.Key })
		w.problem.Nodes[i] = n
	case scheduling.ChangeLimit, scheduling.ChangeReplicas, scheduling.ChangeMinValues, scheduling.ChangeNodePool:
		w.pool(name, c)
	case scheduling.ChangeReservation:
		w.offerings(func(_ string, o *offerings.Offering) bool {
			if o.ReservationID == c.Object {
				more, _ := strconv.ParseInt(cmp.Or(c.To, "1"), 10, 64)
				o.ReservationCount += more
			}
			return o.ReservationID == c.Object
		})
	case scheduling.ChangeOffering:
		w.forget(c.Object)
		w.offerings(func(name string, o *offerings.Offering) bool {
			o.Unavailable = o.Unavailable && fmt.Sprintf("%s/%s/%s", name, o.Zone, o.CapacityType) != c.Object
			return true
		})
	case scheduling.ChangeRoom:
		w.problem.Nodes = slices.Clone(w.problem.Nodes)
		i := slices.IndexFunc(w.problem.Nodes, func(n *corev1.Node) bool { return "Node/"+n.Name == c.Object })
		n := w.problem.Nodes[i].DeepCopy()
		q := n.Status.Allocatable[corev1.ResourceName(c.Key)]
		q.Add(resource.MustParse(c.To))
		if n.Status.Allocatable == nil {
			n.Status.Allocatable = corev1.ResourceList{}
		}
		n.Status.Allocatable[corev1.ResourceName(c.Key)] = q
		w.problem.Nodes[i] = n
	case scheduling.ChangeEffort:
	case scheduling.ChangeDaemonSet:
		for i, pod := range w.problem.Running {
			if len(pod.OwnerReferences) > 0 && pod.OwnerReferences[0].Kind == "DaemonSet" {
				pod = pod.DeepCopy()
				pod.Spec.Containers, pod.Spec.InitContainers, pod.Spec.Overhead = []corev1.Container{{Name: "c", Ports: pod.Spec.Containers[0].Ports}}, nil, nil
				w.problem.Running[i] = pod
			}
		}
		w.problem.DaemonSets = slices.Clone(w.problem.DaemonSets)
		for i, d := range w.problem.DaemonSets {
			d = d.DeepCopy()
			bare := []corev1.Container{{Name: "c", Ports: d.Spec.Template.Spec.Containers[0].Ports}}
			d.Spec.Template.Spec.Containers, d.Spec.Template.Spec.InitContainers, d.Spec.Template.Spec.Overhead = bare, nil, nil
			w.problem.DaemonSets[i] = d
		}
	case scheduling.ChangeDomain:
		w.room(c)
	case scheduling.ChangeSpot:
		w.solver.NoSpot = false
	case scheduling.ChangeFlexibility:
		w.solver.Flexibility = scheduling.Flexibility{}
	case scheduling.ChangeFilter:
		w.solver.Filters = slices.Clone(w.solver.Filters)
		for i, keep := range w.solver.Filters {
			w.solver.Filters[i] = func(t *instancetypes.InstanceType, o offerings.Offering) bool {
				return keep(t, o) || fmt.Sprintf("%s/%s/%s", t.Name, o.Zone, o.CapacityType) == c.Object
			}
		}
	case scheduling.ChangeWorkloadShare:
		w.solver.WorkloadShare = 0
	case scheduling.ChangeNodeSize:
		key, q := corev1.ResourceName(c.Key), resource.MustParse(c.To)
		if least, ok := w.solver.Size.Smallest[key]; ok && least.Cmp(q) > 0 {
			w.solver.Size.Smallest = corev1.ResourceList{key: q}
		} else {
			w.solver.Size.Largest = corev1.ResourceList{key: q}
		}
	default:
		t.Fatalf("no change that can be made: %+v", c)
	}
	for _, also := range c.And {
		w.make(t, also)
	}
}

// forget removes an offering, as type/zone/capacity type, from the record of failed offerings.
func (w *world) forget(offering string) {
	parts, left := strings.Split(offering, "/"), &offerings.Unavailable{}
	for key, until := range w.problem.Unavailable.All() {
		covers := (key.InstanceType == "" || key.InstanceType == parts[0]) && (key.Zone == "" || key.Zone == parts[1]) && (key.CapacityType == "" || string(key.CapacityType) == parts[2])
		if !covers {
			left.Mark(key, w.problem.Now, until.Sub(w.problem.Now))
		}
	}
	w.problem.Unavailable = left
}

// request makes the pod ask for so much of a resource.
func (w *world) request(t *testing.T, c scheduling.Change) {
	t.Helper()
	p := w.problem
	p.Pods = []*corev1.Pod{w.pod}
	x, err := provisioning.Planner{}.Explain(p, &scheduling.Plan{})
	require.NoError(t, err)
	told, err := x.Pod(full(w.pod))
	require.NoError(t, err)
	requests := told.Requests.DeepCopy()
	delete(requests, corev1.ResourcePods)
	requests[corev1.ResourceName(c.Key)] = resource.MustParse(c.To)
	spec := &w.pod.Spec
	var ports []corev1.ContainerPort
	for _, one := range append(slices.Clone(spec.Containers), spec.InitContainers...) {
		ports = append(ports, one.Ports...)
	}
	spec.Containers = []corev1.Container{{Name: "c", Ports: ports, Resources: corev1.ResourceRequirements{Requests: requests}}}
	spec.InitContainers, spec.Resources, spec.Overhead = nil, nil, nil
}

// widen changes a required node affinity.
func widen(a *corev1.NodeAffinity, c scheduling.Change) {
	if c.Key == "" || a.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		a.RequiredDuringSchedulingIgnoredDuringExecution = nil // or a change that this one belongs to has
		return
	}
	terms := a.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	for i := range terms {
		var out []corev1.NodeSelectorRequirement
		for _, r := range terms[i].MatchExpressions {
			switch {
			case r.Key != c.Key:
			case c.To != "":
				r.Key = c.To
			case len(c.Values) == 0:
				continue
			default:
				r.Operator, r.Values = corev1.NodeSelectorOpIn, c.Values[:1]
			}
			out = append(out, r)
		}
		terms[i].MatchExpressions = out
		if len(out)+len(terms[i].MatchFields) == 0 {
			a.RequiredDuringSchedulingIgnoredDuringExecution = nil
			return
		}
	}
}

// relaxSpread changes the pod's own spread constraints over a key, or the default ones.
func relaxSpread(w *world, x scheduling.Change) bool {
	constraints := w.pod.Spec.TopologySpreadConstraints
	if len(constraints) == 0 {
		w.problem.DefaultSpread = slices.Clone(w.problem.DefaultSpread)
		constraints = w.problem.DefaultSpread
	}
	found := false
	for i := range constraints {
		c := &constraints[i]
		if c.TopologyKey != x.Key || c.WhenUnsatisfiable != corev1.DoNotSchedule {
			continue
		}
		n, _ := strconv.ParseInt(x.To, 10, 32)
		found = true
		switch x.Kind {
		case scheduling.ChangeMaxSkew:
			c.MaxSkew = max(c.MaxSkew, int32(n))
		case scheduling.ChangeMinDomains:
			c.MinDomains = nil
		case scheduling.ChangeNodeInclusion:
			honor := corev1.NodeInclusionPolicyHonor
			if x.To == "nodeTaintsPolicy" {
				c.NodeTaintsPolicy = &honor
			} else {
				c.NodeAffinityPolicy = &honor
			}
		default:
			c.WhenUnsatisfiable, c.MinDomains = corev1.ScheduleAnyway, nil
		}
	}
	return found
}

func dropTerms(terms *[]corev1.PodAffinityTerm, key string) {
	*terms = slices.DeleteFunc(*terms, func(t corev1.PodAffinityTerm) bool { return t.TopologyKey == key })
}

// anti removes the anti-affinity over a key from a pod and from the pods of its namespace that have the same.
func (w *world) anti(name, key string) {
	terms := func(pod *corev1.Pod) *[]corev1.PodAffinityTerm {
		if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
			return &[]corev1.PodAffinityTerm{}
		}
		return &pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	all := append(slices.Clone(w.problem.Running), w.problem.Pods...)
	at := slices.IndexFunc(all, func(pod *corev1.Pod) bool { return full(pod) == name })
	asked := fmt.Sprint(*terms(all[at]))
	w.problem.Running = slices.Clone(w.problem.Running)
	for _, list := range [][]*corev1.Pod{w.problem.Running, w.problem.Pods} {
		for i, pod := range list {
			if pod != w.pod && pod.Namespace == all[at].Namespace && fmt.Sprint(*terms(pod)) == asked {
				list[i] = pod.DeepCopy()
				dropTerms(terms(list[i]), key)
			}
		}
	}
	if name == full(w.pod) {
		dropTerms(terms(w.pod), key)
	}
}

// addAffinePods adds a pod that the pod's affinity is about.
func (w *world) addAffinePods(key string) {
	mate := &corev1.Pod{}
	mate.Name, mate.Namespace, mate.Labels = "mate-"+strings.NewReplacer("/", "-", ".", "-").Replace(key), w.pod.Namespace, map[string]string{}
	for _, term := range w.pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		if len(term.Namespaces) > 0 && !slices.Contains(term.Namespaces, mate.Namespace) {
			mate.Namespace = term.Namespaces[0]
		}
		if term.LabelSelector == nil {
			continue
		}
		for k, v := range term.LabelSelector.MatchLabels {
			mate.Labels[k] = v
		}
		for _, e := range term.LabelSelector.MatchExpressions {
			switch e.Operator {
			case "In":
				mate.Labels[e.Key] = slices.Min(e.Values)
			case "Exists":
				mate.Labels[e.Key] = ""
			}
		}
		for _, k := range term.MatchLabelKeys {
			mate.Labels[k] = w.pod.Labels[k]
		}
	}
	mate.Spec.Containers = []corev1.Container{{Name: "c"}}
	mate.Spec.NodeSelector, mate.Spec.Tolerations, mate.Spec.Priority = w.pod.Spec.NodeSelector, w.pod.Spec.Tolerations, w.pod.Spec.Priority
	if w.pod.Spec.Affinity.NodeAffinity != nil {
		mate.Spec.Affinity = &corev1.Affinity{NodeAffinity: w.pod.Spec.Affinity.NodeAffinity}
	}
	w.problem.Pods = append(slices.Clone(w.problem.Pods), mate)
}

// volume takes volumes from the pod, or repairs a claim.
func (w *world) volume(kind, name string, c scheduling.Change) {
	spec := &w.pod.Spec
	for i, class := range w.problem.StorageClasses {
		if kind != "StorageClass" || class.Name != name || c.Kind != scheduling.ChangeVolume {
			continue
		}
		w.problem.StorageClasses = slices.Clone(w.problem.StorageClasses)
		w.problem.StorageClasses[i] = class.DeepCopy()
		w.problem.StorageClasses[i].AllowedTopologies = append(w.problem.StorageClasses[i].AllowedTopologies, corev1.TopologySelectorTerm{
			MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: c.Key, Values: c.Values[:1]}},
		})
		return
	}
	for i, claim := range w.problem.Claims {
		if !strings.HasPrefix(c.Text, "delete ") || kind != "PersistentVolumeClaim" || claim.Namespace+"/"+claim.Name != name {
			continue
		}
		w.problem.Claims = slices.Clone(w.problem.Claims)
		again := &corev1.PersistentVolumeClaim{Spec: claim.Spec}
		again.Name, again.Namespace, again.Spec.VolumeName, again.Status.Phase = claim.Name, claim.Namespace, "", corev1.ClaimPending
		w.problem.Claims[i] = again
		return
	}
	for i, claim := range w.problem.Claims {
		if kind != "PersistentVolumeClaim" || claim.Namespace+"/"+claim.Name != name || claim.Spec.VolumeName == "" || claim.Status.Phase != corev1.ClaimPending {
			continue
		}
		w.problem.Claims = slices.Clone(w.problem.Claims)
		w.problem.Claims[i] = claim.DeepCopy()
		w.problem.Claims[i].Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
		w.problem.Claims[i].Status.Phase = corev1.ClaimBound
		return
	}
	keep, _ := strconv.Atoi(c.To)
	spec.Volumes = slices.DeleteFunc(spec.Volumes, func(v corev1.Volume) bool {
		claim := ""
		switch {
		case v.PersistentVolumeClaim != nil:
			claim = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			claim = w.pod.Name + "-" + v.Name
		default:
			return false
		}
		if kind == "PersistentVolumeClaim" {
			return strings.Split(full(w.pod), "/")[0]+"/"+claim == name
		}
		if len(c.Values) == 0 && c.Key != "" && w.driverOf(v, claim) != c.Key {
			return false
		}
		keep--
		return keep < 0
	})
	if len(c.Values) > 0 {
		if spec.NodeSelector == nil {
			spec.NodeSelector = map[string]string{}
		}
		spec.NodeSelector[c.Key] = c.Values[0]
	}
}

// driverOf is the driver that attaches a volume of the pod, by the volume of its claim or else by its storage class.
func (w *world) driverOf(v corev1.Volume, claim string) string {
	var spec corev1.PersistentVolumeClaimSpec
	if v.Ephemeral != nil {
		spec = v.Ephemeral.VolumeClaimTemplate.Spec
	}
	for _, c := range w.problem.Claims {
		if c.Namespace == w.pod.Namespace && c.Name == claim {
			spec = c.Spec
		}
	}
	for _, x := range w.problem.Volumes {
		if x.Name == spec.VolumeName && x.Spec.CSI != nil {
			return x.Spec.CSI.Driver
		}
	}
	for _, class := range w.problem.StorageClasses {
		switch {
		case spec.StorageClassName == nil || class.Name != *spec.StorageClassName:
		case class.Provisioner == "" || class.Provisioner == "kubernetes.io/no-provisioner":
			return "storage class " + class.Name
		default:
			return class.Provisioner
		}
	}
	return ""
}

// pool changes a node pool, or adds one.
func (w *world) pool(name string, c scheduling.Change) {
	w.problem.NodePools = slices.Clone(w.problem.NodePools)
	if c.Object == "" {
		name := cmp.Or(w.pod.Spec.NodeSelector[scheduling.NodePoolLabel], "default")
		w.problem.NodePools = slices.DeleteFunc(w.problem.NodePools, func(p *scheduling.NodePool) bool { return p.Name == name })
		w.problem.NodePools = append(w.problem.NodePools, schedulingtest.NodePool(name))
		return
	}
	for i, pool := range w.problem.NodePools {
		if pool.Name != name {
			continue
		}
		pool = pool.DeepCopy()
		w.problem.NodePools[i] = pool
		asked := pool.Spec.Template.Spec.Requirements
		switch c.Kind {
		case scheduling.ChangeLimit:
			pool.Spec.Limits[corev1.ResourceName(c.Key)] = resource.MustParse(c.To)
		case scheduling.ChangeReplicas:
			pool.Spec.Replicas, pool.Spec.Limits = nil, corev1.ResourceList{scheduling.NodesResource: resource.MustParse(c.To)} // as many as there are to be
		case scheduling.ChangeMinValues:
			for j := range asked {
				asked[j].MinValues = nil
			}
		default:
			if _, err := pool.Allow(c.Key, c.Values[0]); err != nil {
				panic(err)
			}
		}
	}
}

// room adds a node in a domain that is as large as can be.
func (w *world) room(c scheduling.Change) {
	n := &corev1.Node{}
	n.Name, n.Labels = "room", map[string]string{}
	if a := w.pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, r := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions {
			if r.Operator == corev1.NodeSelectorOpIn {
				n.Labels[r.Key] = r.Values[0]
			}
		}
	}
	for k, v := range w.pod.Spec.NodeSelector {
		n.Labels[k] = v
	}
	n.Labels[c.Key], n.Labels[corev1.LabelHostname] = c.Values[0], "room"
	n.Status.Allocatable = corev1.ResourceList{}
	for _, one := range append(slices.Clone(w.pod.Spec.Containers), w.pod.Spec.InitContainers...) {
		for name := range one.Resources.Requests {
			n.Status.Allocatable[name] = resource.MustParse("1Pi")
		}
		for name := range one.Resources.Limits {
			n.Status.Allocatable[name] = resource.MustParse("1Pi")
		}
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods} {
		n.Status.Allocatable[name] = resource.MustParse("1Pi")
	}
	w.problem.Nodes = append(slices.Clone(w.problem.Nodes), n)
}

func messageOf(plan *scheduling.Plan, pod string) string {
	if plan == nil {
		return ""
	}
	for _, u := range plan.Unschedulable {
		if u.Pod == pod {
			return u.Message
		}
	}
	return ""
}
