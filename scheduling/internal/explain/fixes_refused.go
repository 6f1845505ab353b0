package explain

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// remedies proposes changes for pods that are not planned at all, e.g. because a claim does not exist. Each cause for which
// package podspec refuses a pod needs one here.
func remedies(x *podspec.VolumeIndex, class *podspec.PodClass) []scheduling.Change {
	pod := class.Pods[0]
	if class.Code == scheduling.ReasonVolume {
		return []scheduling.Change{remedy(x, pod)}
	}
	if gates := pod.Spec.SchedulingGates; len(gates) > 0 {
		name := gates[0].Name
		return []scheduling.Change{{Kind: scheduling.ChangeGate, Object: name, Text: "remove the scheduling gate " + name + ", or have its controller do so"}}
	}
	if claims := pod.Spec.ResourceClaims; len(claims) > 0 {
		name := claims[0].Name
		return []scheduling.Change{{
			Kind: scheduling.ChangeResourceClaim, Object: name,
			Text: "drop the resource claim " + name + ", or ask for the device as an extended resource",
		}}
	}
	return nil
}

// remedy proposes a change for a pod that is not planned because of its volumes.
func remedy(x *podspec.VolumeIndex, pod *corev1.Pod) scheduling.Change {
	for _, c := range x.ClaimsOf(pod) {
		if c.Fault != "" {
			return scheduling.Change{Kind: scheduling.ChangeClaim, Object: cmp.Or(c.Remedy.Object, "PersistentVolumeClaim/"+c.Name), Text: c.Remedy.Text}
		}
	}
	for _, c := range x.ClaimsOf(pod) {
		if c.Holder != nil && c.Holder != pod {
			return scheduling.Change{
				Kind: scheduling.ChangeClaim, Object: "PersistentVolumeClaim/" + c.Name,
				Text: "wait until pod " + podspec.PodName(c.Holder) + " is done with " + c.Text() + ", or give the claim another access mode than ReadWriteOncePod",
			}
		}
	}
	return scheduling.Change{Kind: scheduling.ChangeClaim, Text: "repair the volumes of the pod"}
}

// applyGate removes a scheduling gate.
func applyGate(t *Trial, c *scheduling.Change) bool {
	return drop(&t.Pod.Spec.SchedulingGates, func(g corev1.PodSchedulingGate) bool { return g.Name == c.Object })
}

// applyResourceClaim drops a resource claim.
func applyResourceClaim(t *Trial, c *scheduling.Change) bool {
	return drop(&t.Pod.Spec.ResourceClaims, func(r corev1.PodResourceClaim) bool { return r.Name == c.Object })
}
