package explain

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// volumeFix proposes other places for volumes: a StorageClass that provisions them elsewhere, too, a new volume in place of
// one whose node is gone, or other volumes.
func volumeFix(s *subject, n *nearest, out *ChangeList) {
	if !n.elsewhere {
		return
	}
	const most = 5
	c := scheduling.Change{Kind: scheduling.ChangeVolume, Key: offerings.ZoneLabel, Values: slices.Sorted(maps.Keys(n.zones))[:min(len(n.zones), most)]}
	others := false
	for _, claim := range s.in.Classes.Volumes.ClaimsOf(s.class.Pods[0]) {
		switch node := goneWith(s.in.Facts.Problem, claim); {
		case len(claim.Places) == 0:
		case claim.Object == nil && claim.Class != nil && len(claim.Class.AllowedTopologies) > 0 && len(c.Values) > 0:
			out.Add(scheduling.Change{
				Kind: scheduling.ChangeVolume, Object: "StorageClass/" + claim.Class.Name, Key: c.Key, Values: c.Values,
				Text: fmt.Sprintf("let storage class %s make volumes elsewhere as well (allowedTopologies), such as in %s", claim.Class.Name, strings.Join(c.Values, ", ")),
			})
		case node != "":
			text := "bring node " + node + " back, which has gone with volume " + claim.Object.Name + ", or give " + claim.Text() + " a volume elsewhere"
			if podspec.MakesVolumes(s.in.Classes.Volumes.Classes[claim.Object.Spec.StorageClassName]) {
				text = "delete " + claim.Text() + ", so that it is made again: node " + node + " has gone with its volume " + claim.Object.Name
			}
			out.Add(scheduling.Change{Kind: scheduling.ChangeVolume, Object: "PersistentVolumeClaim/" + claim.Name, Text: text})
		default:
			others = true
		}
	}
	if !others || len(c.Values) == 0 {
		return
	}
	c.Text = fmt.Sprintf("use volumes that are elsewhere, such as in %s: these can be used %s, and nothing there takes the pod",
		strings.Join(c.Values, ", "), podspec.PlacesText(s.needs.group))
	out.Add(c)
}

// goneWith is the name of the node on which the volume of a claim lies, if the problem has no such node; "" otherwise.
func goneWith(p *scheduling.Problem, c *podspec.Claim) string {
	if c.Object == nil {
		return ""
	}
	names := podspec.HostsOf(c.Object)
	if slices.ContainsFunc(p.Nodes, func(n *corev1.Node) bool {
		return slices.Contains(names, n.Name) || slices.Contains(names, n.Labels[corev1.LabelHostname])
	}) {
		return ""
	}
	return strings.Join(names, ", ")
}

// applyVolume lets a class make volumes elsewhere, has a claim made again or bound, or takes volumes from the pod.
func applyVolume(t *Trial, c *scheduling.Change) bool {
	kind, name, _ := strings.Cut(c.Object, "/")
	if kind == "StorageClass" && c.Kind == scheduling.ChangeVolume {
		return allowTopology(t, name, c)
	}
	if claim := claimOf(t.Problem, name); kind == "PersistentVolumeClaim" && c.Kind == scheduling.ChangeVolume && claim != nil && remakeClaim(t, claim) {
		return true
	}
	if claim := claimOf(t.Problem, name); kind == "PersistentVolumeClaim" && claim != nil && claim.Spec.VolumeName != "" && claim.Status.Phase == corev1.ClaimPending {
		bound := claim.DeepCopy()
		bound.Status.Phase = corev1.ClaimBound
		return t.Update(scheduling.Delta{Claims: []*corev1.PersistentVolumeClaim{bound}}) == nil
	}
	spec := &t.Pod.Spec
	found := dropVolumes(t, c)
	if len(c.Values) > 0 {
		spec.NodeSelector = maps.Clone(spec.NodeSelector)
		if spec.NodeSelector == nil {
			spec.NodeSelector = map[string]string{}
		}
		spec.NodeSelector[c.Key] = c.Values[0]
	}
	return found
}

// dropVolumes takes volumes from the pod: those of the claim that the change names as its object; all beyond the first To
// claims of a driver that it names as its key; else all that have claims. It reports whether there were any.
func dropVolumes(t *Trial, c *scheduling.Change) bool {
	kind, name, _ := strings.Cut(c.Object, "/")
	alone := *t.Problem
	alone.Pods = []*corev1.Pod{t.Pod}
	x := podspec.NewVolumeIndex(&alone, nil, nil)
	if x == nil {
		return false
	}
	most, _ := strconv.Atoi(c.To)
	kept := map[*podspec.Claim]bool{}
	return drop(&t.Pod.Spec.Volumes, func(v corev1.Volume) bool {
		claim := x.ClaimOf(t.Pod, &v)
		switch {
		case claim == nil || kept[claim]:
			return false
		case kind == "PersistentVolumeClaim":
			return claim.Name == name
		case len(c.Values) == 0 && c.Key != "" && claim.Driver != c.Key:
			return false
		case len(kept) < most:
			kept[claim] = true
			return false
		default:
			return true
		}
	})
}

// allowTopology lets a storage class make volumes in one more zone.
func allowTopology(t *Trial, name string, c *scheduling.Change) bool {
	i := slices.IndexFunc(t.Problem.StorageClasses, func(s *storagev1.StorageClass) bool { return s.Name == name })
	if i < 0 || len(c.Values) == 0 {
		return false
	}
	class := t.Problem.StorageClasses[i].DeepCopy()
	class.AllowedTopologies = append(class.AllowedTopologies, corev1.TopologySelectorTerm{
		MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: c.Key, Values: c.Values[:1]}},
	})
	return t.Update(scheduling.Delta{StorageClasses: []*storagev1.StorageClass{class}}) == nil
}

// remakeClaim lets a claim be made again whose class makes a volume where the pod goes. It reports false for others.
func remakeClaim(t *Trial, claim *corev1.PersistentVolumeClaim) bool {
	name := podspec.ClassName(claim)
	i := slices.IndexFunc(t.Problem.StorageClasses, func(s *storagev1.StorageClass) bool { return name != nil && s.Name == *name })
	if i < 0 || !podspec.MakesVolumes(t.Problem.StorageClasses[i]) {
		return false
	}
	again := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: claim.Name, Namespace: claim.Namespace}, Spec: *claim.Spec.DeepCopy()}
	again.Spec.VolumeName, again.Status.Phase = "", corev1.ClaimPending
	return t.Update(scheduling.Delta{Claims: []*corev1.PersistentVolumeClaim{again}}) == nil
}

// claimOf returns the claim of a namespace/name; nil if there is none.
func claimOf(p *scheduling.Problem, name string) *corev1.PersistentVolumeClaim {
	for _, claim := range p.Claims {
		if podspec.OrDefault(claim.Namespace)+"/"+claim.Name == name {
			return claim
		}
	}
	return nil
}
