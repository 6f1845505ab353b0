package provisioning_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// In random problems every pod is placed where all of its volumes can be used, no node takes more volumes than its
// limit, no claim with ReadWriteOncePod has two pods, and pods are refused for their volumes only where these have a
// fault. The judge reads the raw objects, and shares no code with the planner.
func TestRandomVolumes(t *testing.T) {
	faults := 0
	for seed := range soak.Cases(100) {
		p := onlyVolumes(st.Random(seed, st.Size{TopologyTerms: true, Pods: 30}), seed)
		plan, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Plan(t.Context(), p)
		if err != nil {
			require.ErrorIs(t, err, scheduling.ErrInvalid, "seed %d", seed)
			continue
		}
		j := &volumeJudge{p: p, plan: plan, users: map[string]string{}}
		j.judge()
		for _, f := range j.faults {
			faults++
			t.Errorf("seed %d: %s", seed, f)
		}
		if faults > 20 {
			t.FailNow()
		}
	}
}

// onlyVolumes removes topology terms, and lets some types state how many volumes their nodes take.
func onlyVolumes(p scheduling.Problem, seed uint64) scheduling.Problem {
	p.DefaultSpread = nil
	for _, pods := range [][]*corev1.Pod{p.Pods, p.Running} {
		for _, pod := range pods {
			pod.Spec.TopologySpreadConstraints = nil
			if a := pod.Spec.Affinity; a != nil {
				a.PodAffinity, a.PodAntiAffinity = nil, nil
			}
		}
	}
	return withTypes(p, func(types []*instancetypes.InstanceType) []*instancetypes.InstanceType {
		for i, it := range types {
			if n := seed + uint64(i); n%3 == 0 {
				limit := st.Count(attachable, int64(n%5))
				it.Capacity[limit.Name] = limit.Quantity
			}
		}
		return types
	})
}

// volumeJudge checks one plan.
type volumeJudge struct {
	p      scheduling.Problem
	plan   *scheduling.Plan
	users  map[string]string // of claims for one pod
	faults []string
}

func (j *volumeJudge) complain(format string, args ...any) {
	j.faults = append(j.faults, fmt.Sprintf(format, args...))
}

func (j *volumeJudge) judge() {
	pods := map[string]*corev1.Pod{}
	for _, pod := range j.p.Pods {
		pods[pod.Namespace+"/"+pod.Name] = pod
	}
	on := map[string][]*corev1.Pod{}
	for _, pod := range j.p.Running {
		if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			on[pod.Spec.NodeName] = append(on[pod.Spec.NodeName], pod)
			j.use(pod, false)
		}
	}
	for _, a := range j.plan.Existing {
		node := j.p.Nodes[slices.IndexFunc(j.p.Nodes, func(n *corev1.Node) bool { return n.Name == a.Node })]
		flying := node.Labels[scheduling.NodePoolLabel] != "" && node.Labels[scheduling.InitializedLabel] != "true"
		all := on[a.Node]
		for _, name := range a.Pods {
			j.place(pods[name], a.Node, func(key string) (string, bool) {
				value, ok := node.Labels[key]
				if !ok && flying {
					value, ok = node.Labels[requirements.NormalizeKey(key)]
				}
				return value, ok
			})
			all = append(all, pods[name])
		}
		if limit, ok := j.limit(a.Node); ok && j.attached(all) > max(limit, j.attached(on[a.Node])) {
			j.complain("node %s has %d volumes attached, the limit is %d", a.Node, j.attached(all), limit)
		}
	}
	for i := range j.plan.Launches {
		l := &j.plan.Launches[i]
		var all []*corev1.Pod
		for _, name := range l.Pods {
			all = append(all, pods[name])
		}
		for _, o := range l.Options {
			for _, pod := range all {
				j.place(pod, l.Name, func(key string) (string, bool) {
					if key = requirements.NormalizeKey(key); key == zoneKey {
						return o.Zone, true
					}
					value, ok := l.Labels[key]
					return value, ok
				})
			}
			catalog, own := j.p.PoolCatalogs[l.NodePool]
			if !own {
				catalog = j.p.Catalog
			}
			it, _ := catalog.Get(o.InstanceType)
			if q, stated := it.Capacity[attachable]; stated && int64(j.attached(all)) > q.Value() {
				j.complain("%s as %s has %d volumes attached, the limit is %s", l.Name, o.InstanceType, j.attached(all), q.String())
			}
		}
	}
	for pod := range j.plan.Placements() {
		j.use(pods[pod.String()], true)
	}
	for _, u := range j.plan.Unschedulable {
		r := u.Reasons[0]
		if r.Code != scheduling.ReasonVolume || !strings.HasPrefix(r.Detail, "persistent volume") && !strings.HasPrefix(r.Detail, "storage class") {
			continue
		}
		wrong := false
		for i := range pods[u.Pod].Spec.Volumes {
			v := &pods[u.Pod].Spec.Volumes[i]
			_, bad := j.terms(pods[u.Pod], v)
			wrong = wrong || bad || j.users[j.claimName(pods[u.Pod], v)] != "" || j.precedes(pods[u.Pod], v)
		}
		if !wrong {
			j.complain("pod %s is refused for nothing: %s", u.Pod, r.Detail)
		}
	}
}

// precedes reports whether another pod of the problem uses a claim for one pod, too.
func (j *volumeJudge) precedes(pod *corev1.Pod, v *corev1.Volume) bool {
	c := j.claimOf(pod, v)
	return c != nil && slices.Contains(c.Spec.AccessModes, corev1.ReadWriteOncePod) && slices.ContainsFunc(j.p.Pods, func(o *corev1.Pod) bool {
		return o != pod && o.Namespace == pod.Namespace && slices.ContainsFunc(o.Spec.Volumes, func(w corev1.Volume) bool {
			return w.PersistentVolumeClaim != nil && w.PersistentVolumeClaim.ClaimName == c.Name
		})
	})
}

func (j *volumeJudge) claimName(pod *corev1.Pod, v *corev1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return pod.Namespace + "/" + v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return pod.Namespace + "/" + pod.Name + "-" + v.Name
	}
	return ""
}

func (j *volumeJudge) claimOf(pod *corev1.Pod, v *corev1.Volume) *corev1.PersistentVolumeClaim {
	for _, c := range j.p.Claims {
		if c.Namespace+"/"+c.Name == j.claimName(pod, v) {
			return c
		}
	}
	return nil
}

func (j *volumeJudge) volumeOf(c *corev1.PersistentVolumeClaim) *corev1.PersistentVolume {
	for _, v := range j.p.Volumes {
		if c != nil && v.Name == c.Spec.VolumeName {
			return v
		}
	}
	return nil
}

// classOf is the class that would make the volume.
func (j *volumeJudge) classOf(c *corev1.PersistentVolumeClaim, v *corev1.Volume) *storagev1.StorageClass {
	name := "usual" // the only default class of random problems
	switch {
	case c != nil && c.Spec.StorageClassName == nil:
		return nil
	case c != nil:
		name = *c.Spec.StorageClassName
	case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate.Spec.StorageClassName != nil:
		name = *v.Ephemeral.VolumeClaimTemplate.Spec.StorageClassName
	}
	for _, class := range j.p.StorageClasses {
		if class.Name == name {
			return class
		}
	}
	return nil
}

// terms are conjunctions of which a node has to fulfil one; nil for any node. bad says
// that no pod can use the volume.
func (j *volumeJudge) terms(pod *corev1.Pod, v *corev1.Volume) (terms [][]corev1.NodeSelectorRequirement, bad bool) {
	if v.PersistentVolumeClaim == nil && v.Ephemeral == nil {
		return nil, false
	}
	c := j.claimOf(pod, v)
	if c == nil && v.PersistentVolumeClaim != nil ||
		c != nil && (c.DeletionTimestamp != nil || c.Status.Phase == corev1.ClaimLost) ||
		c != nil && v.Ephemeral != nil && !slices.ContainsFunc(c.OwnerReferences, func(r metav1.OwnerReference) bool { return r.Name == pod.Name }) {
		return nil, true
	}
	if c != nil && c.Spec.VolumeName != "" {
		volume := j.volumeOf(c)
		if volume == nil || volume.DeletionTimestamp != nil || c.Annotations["pv.kubernetes.io/bind-completed"] == "" {
			return nil, true
		}
		if volume.Spec.NodeAffinity != nil {
			for _, t := range volume.Spec.NodeAffinity.Required.NodeSelectorTerms {
				terms = append(terms, t.MatchExpressions)
			}
		}
		return terms, false
	}
	class := j.classOf(c, v)
	if class == nil || *class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer {
		return nil, true
	}
	for _, t := range class.AllowedTopologies {
		var term []corev1.NodeSelectorRequirement
		for _, e := range t.MatchLabelExpressions {
			term = append(term, corev1.NodeSelectorRequirement{Key: e.Key, Operator: corev1.NodeSelectorOpIn, Values: e.Values})
		}
		terms = append(terms, term)
	}
	return terms, false
}

// place checks that a pod's volumes can be used on a machine with these labels. All
// expressions of random problems are of the form In.
func (j *volumeJudge) place(pod *corev1.Pod, where string, label func(string) (string, bool)) {
	for i := range pod.Spec.Volumes {
		terms, bad := j.terms(pod, &pod.Spec.Volumes[i])
		if bad {
			j.complain("pod %s is placed on %s, and there is something wrong with volume %s", pod.Name, where, pod.Spec.Volumes[i].Name)
		}
		if terms != nil && !slices.ContainsFunc(terms, func(term []corev1.NodeSelectorRequirement) bool {
			return !slices.ContainsFunc(term, func(e corev1.NodeSelectorRequirement) bool {
				value, ok := label(e.Key)
				return !ok || !slices.Contains(e.Values, value)
			})
		}) {
			j.complain("pod %s is placed on %s, where volume %s cannot be used", pod.Name, where, pod.Spec.Volumes[i].Name)
		}
	}
}

// use notes who uses claims that one pod may use.
func (j *volumeJudge) use(pod *corev1.Pod, planned bool) {
	for i := range pod.Spec.Volumes {
		name := j.claimName(pod, &pod.Spec.Volumes[i])
		c := j.claimOf(pod, &pod.Spec.Volumes[i])
		if c == nil || !slices.Contains(c.Spec.AccessModes, corev1.ReadWriteOncePod) {
			continue
		}
		if other := j.users[name]; planned && other != "" {
			j.complain("pods %s and %s use claim %s, which is for one", other, pod.Name, name)
		}
		j.users[name] = pod.Name
	}
}

func (j *volumeJudge) limit(node string) (int, bool) {
	for _, n := range j.p.CSINodes {
		for _, d := range n.Spec.Drivers {
			if n.Name == node && d.Name == ebs && d.Allocatable != nil {
				return int(*d.Allocatable.Count), true
			}
		}
	}
	return 0, false
}

// attached counts the distinct volumes of the driver ebs.csi.aws.com.
func (j *volumeJudge) attached(pods []*corev1.Pod) int {
	seen := map[string]bool{}
	for _, pod := range pods {
		for i := range pod.Spec.Volumes {
			v := &pod.Spec.Volumes[i]
			c := j.claimOf(pod, v)
			if volume := j.volumeOf(c); volume != nil {
				if s := volume.Spec; s.AWSElasticBlockStore != nil || s.CSI != nil && s.CSI.Driver == ebs {
					seen["volume "+volume.Name] = true
				}
				continue
			}
			if c == nil && v.Ephemeral == nil || j.claimName(pod, v) == "" {
				continue
			}
			if class := j.classOf(c, v); class != nil && class.Provisioner == ebs {
				seen["claim "+j.claimName(pod, v)] = true
			}
		}
	}
	return len(seen)
}
