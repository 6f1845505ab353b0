package volumes

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// give chooses, for each claim of several pods, the existing volume that it binds to where volumes do not reach all
// nodes. As soon as the first pod binds, the claim is bound, and the other pods must go where its volume is. It prefers
// the volume where most of the pods are in the best plan; another is chosen where fewer pods are left unplaced.
func (t *settling) give(ctx context.Context) error {
	sharers := Sharers(t.facts.Volumes(t.choice), t.facts.Problem.Pods)
	for _, c := range inNameOrder(sharers) {
		users := map[string]bool{}
		for _, pod := range sharers[c] {
			users[podspec.PodName(pod)] = true
		}
		machines, left := machinesOf(t.best, users)
		split := machines > 1
		if !split && left == 0 {
			continue
		}
		free := t.couldHave(c, users)
		if len(free) == 0 || podspec.Everywhere(free[0]) {
			continue
		}
		for _, v := range free[:min(len(free), mostRounds)] {
			if ctx.Err() != nil {
				break
			}
			choice := t.choice.Clone()
			choice.Given[c.Name] = v.Name
			plan, err := t.under(ctx, choice)
			if err != nil {
				return err
			}
			if split || compareFacts(t.facts, plan, t.best) < 0 {
				t.best, t.choice, split = plan, choice, false // a further choice must be better
			}
		}
	}
	return nil
}

// machinesOf is the number of nodes with one of the pods, and of the pods that a plan leaves unplaced.
func machinesOf(p *scheduling.Plan, pods map[string]bool) (machines, left int) {
	some := func(list []string) bool { return slices.ContainsFunc(list, func(pod string) bool { return pods[pod] }) }
	for i := range p.Launches {
		if some(p.Launches[i].Pods) {
			machines++
		}
	}
	for i := range p.Existing {
		if some(p.Existing[i].Pods) {
			machines++
		}
	}
	for i := range p.Unschedulable {
		if pods[p.Unschedulable[i].Pod] {
			left++
		}
	}
	return machines, left
}

// couldHave lists the free volumes to which a claim could bind: a volume that reaches every node alone, else by the
// number of the claim's pods that they reach, the most first. Of volumes with equal node affinity only the first is
// listed.
func (t *settling) couldHave(c *podspec.Claim, users map[string]bool) []*corev1.PersistentVolume {
	if c.Class == nil || !podspec.IsStatic(c.Class) || c.Object != nil || c.Fault != "" {
		return nil
	}
	x := t.facts.Volumes(t.choice)
	namespace, name, _ := strings.Cut(c.Name, "/")
	object := x.Claims[types.NamespacedName{Namespace: namespace, Name: name}]
	if object == nil {
		return nil
	}
	type candidate struct {
		volume *corev1.PersistentVolume
		pods   int
	}
	var found []candidate
	seen := map[*podspec.Place]bool{}
	for _, v := range x.FreeVolumes(c.Class.Name) {
		if !podspec.SuitsClaim(v, object) {
			continue
		}
		if podspec.Everywhere(v) {
			return []*corev1.PersistentVolume{v}
		}
		at := x.Place(podspec.AffinityTerms(v.Spec.NodeAffinity.Required))
		if seen[at] {
			continue
		}
		seen[at] = true
		found = append(found, candidate{v, t.reached(x, v, users)})
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.pods, a.pods) })
	var out []*corev1.PersistentVolume
	for _, f := range found {
		out = append(out, f.volume)
	}
	return out
}

// reached is the number of users that the best plan puts on nodes which a volume reaches.
func (t *settling) reached(x *podspec.VolumeIndex, v *corev1.PersistentVolume, users map[string]bool) (n int) {
	count := func(pods []string, node string, has map[string]string) {
		if x.Reaches(v, node, has) {
			for _, pod := range pods {
				if users[pod] {
					n++
				}
			}
		}
	}
	for i := range t.best.Launches {
		l := &t.best.Launches[i]
		count(l.Pods, "", map[string]string{corev1.LabelTopologyZone: l.Options[0].Zone})
	}
	for _, a := range t.best.Existing {
		for _, h := range t.facts.Cluster.Hosts {
			if h.Name == a.Node && h.Node != nil {
				count(a.Pods, a.Node, h.Node.Labels)
			}
		}
	}
	return n
}
