package explain

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// remedies says what would let pods be planned that are refused outright.
func (e *Explainer) remedies(class *podspec.PodClass) []scheduling.Change {
	pod := class.Pods[0]
	if class.Code == scheduling.ReasonVolume {
		return []scheduling.Change{remedy(e.Classes.Volumes, pod)}
	}
	if gates := pod.Spec.SchedulingGates; len(gates) > 0 {
		name := gates[0].Name
		return []scheduling.Change{{Kind: scheduling.ChangeGate, Object: name, Text: "remove the scheduling gate " + name + ", or have its controller do so"}}
	}
	name := ""
	if claims := pod.Spec.ResourceClaims; len(claims) > 0 {
		name = claims[0].Name
	}
	return []scheduling.Change{{
		Kind: scheduling.ChangeResourceClaim, Object: name,
		Text: "drop the resource claim " + name + ", or ask for the device as an extended resource",
	}}
}

// remedy says what would let a pod be planned whose volumes keep it from being so.
func remedy(x *podspec.VolumeIndex, pod *corev1.Pod) scheduling.Change {
	claims := x.ClaimsOf(pod)
	if i := slices.IndexFunc(claims, func(c *podspec.Claim) bool { return c.Fault != "" }); i >= 0 {
		return repair(x, claims[i], pod)
	}
	for _, c := range claims {
		if c.Holder != nil && c.Holder != pod {
			return scheduling.Change{
				Kind: scheduling.ChangeClaim, Object: "PersistentVolumeClaim/" + c.Name,
				Text: "wait until pod " + podspec.PodName(c.Holder) + " is done with " + c.Text() + ", or give the claim another access mode than ReadWriteOncePod",
			}
		}
	}
	return scheduling.Change{Kind: scheduling.ChangeClaim, Text: "repair the volumes of the pod"}
}

// repair says what is to be done about a claim that is at fault.
func repair(x *podspec.VolumeIndex, c *podspec.Claim, pod *corev1.Pod) scheduling.Change {
	change := scheduling.Change{Kind: scheduling.ChangeClaim, Object: "PersistentVolumeClaim/" + c.Name}
	object := claimNamed(x, c.Name)
	if object == nil {
		class := ephemeralClass(x, c, pod)
		switch {
		case class == nil:
			change.Text = "create " + c.Text()
		case *class == "":
			change.Text = "name a storage class in the template of " + c.Text() + ", or mark one as the default"
		default:
			change = repairClass(x, change, *class)
		}
		return change
	}
	volume := x.Volumes[object.Spec.VolumeName]
	switch {
	case ephemeralClass(x, c, pod) != nil && !podspec.OwnedBy(object, pod):
		change.Text = "rename the volume, or delete " + c.Text() + ", which was not made for the pod"
	case object.Spec.VolumeName != "" && !podspec.IsBound(object) && object.DeletionTimestamp == nil && object.Status.Phase != corev1.ClaimLost:
		change.Text = "wait until " + c.Text() + " is bound to volume " + object.Spec.VolumeName
	case object.Status.Phase == corev1.ClaimLost && object.DeletionTimestamp == nil:
		change.Text = "restore the volume of " + c.Text() + ", or delete the claim and create it anew"
	case object.DeletionTimestamp != nil:
		change.Text = "create " + c.Text() + " anew once it is gone"
	case volume != nil && volume.DeletionTimestamp != nil:
		change.Object, change.Text = "PersistentVolume/"+volume.Name, "create "+c.Text()+" anew: its volume "+volume.Name+" is being deleted"
	case object.Spec.VolumeName != "" && volume == nil:
		change.Object = "PersistentVolume/" + object.Spec.VolumeName
		change.Text = "add persistent volume " + object.Spec.VolumeName + " to the input, or create the claim anew"
	default:
		change = repairUnbound(x, change, c, object)
	}
	return change
}

// repairUnbound says what a claim without a volume waits for.
func repairUnbound(x *podspec.VolumeIndex, change scheduling.Change, c *podspec.Claim, object *corev1.PersistentVolumeClaim) scheduling.Change {
	class := object.Spec.StorageClassName
	if beta, ok := object.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		class = &beta
	}
	if class == nil || *class == "" {
		change.Text = "bind " + c.Text() + " to a volume, or name a storage class in it"
		return change
	}
	return repairClass(x, change, *class)
}

// repairClass says what is to be done about a storage class.
func repairClass(x *podspec.VolumeIndex, change scheduling.Change, name string) scheduling.Change {
	if x.Classes[name] == nil {
		change.Object, change.Text = "StorageClass/"+name, "create storage class "+name
		return change
	}
	change.Text = "wait until the claim has its volume, or use a storage class whose volumeBindingMode is WaitForFirstConsumer"
	return change
}

// claimNamed returns the object of a claim, nil where it does not exist.
func claimNamed(x *podspec.VolumeIndex, name string) *corev1.PersistentVolumeClaim {
	for key, object := range x.Claims {
		if key.Namespace+"/"+key.Name == name {
			return object
		}
	}
	return nil
}

// ephemeralClass returns the storage class that an ephemeral volume would have, "" for
// none; nil where the claim is not that of an ephemeral volume of the pod.
func ephemeralClass(x *podspec.VolumeIndex, c *podspec.Claim, pod *corev1.Pod) *string {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.Ephemeral == nil || podspec.NamespaceOf(pod)+"/"+pod.Name+"-"+v.Name != c.Name {
			continue
		}
		var class *string
		if t := v.Ephemeral.VolumeClaimTemplate; t != nil {
			class = t.Spec.StorageClassName
			if name, ok := t.Annotations[corev1.BetaStorageClassAnnotation]; ok {
				class = &name
			}
		}
		if class == nil && x.Standard != nil {
			class = &x.Standard.Name
		}
		if class == nil {
			class = new(string)
		}
		return class
	}
	return nil
}
