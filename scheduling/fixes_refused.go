package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// remedies says what would let pods be planned that are refused outright.
func (e *explainer) remedies(class *podClass) []Change {
	pod := class.pods[0]
	if class.code == ReasonVolume {
		return []Change{e.classes.volumes.remedy(pod)}
	}
	if gates := pod.Spec.SchedulingGates; len(gates) > 0 {
		name := gates[0].Name
		return []Change{{Kind: ChangeGate, Object: name, Text: "remove the scheduling gate " + name + ", or have its controller do so"}}
	}
	name := ""
	if claims := pod.Spec.ResourceClaims; len(claims) > 0 {
		name = claims[0].Name
	}
	return []Change{{
		Kind: ChangeResourceClaim, Object: name,
		Text: "drop the resource claim " + name + ", or ask for the device as an extended resource",
	}}
}

// remedy says what would let a pod be planned whose volumes keep it from being so.
func (x *volumeIndex) remedy(pod *corev1.Pod) Change {
	claims := x.claimsOf(pod)
	if i := slices.IndexFunc(claims, func(c *claim) bool { return c.fault != "" }); i >= 0 {
		return x.repair(claims[i], pod)
	}
	for _, c := range claims {
		if c.holder != nil && c.holder != pod {
			return Change{
				Kind: ChangeClaim, Object: "PersistentVolumeClaim/" + c.name,
				Text: "wait until pod " + podName(c.holder) + " is done with " + c.text() + ", or give the claim another access mode than ReadWriteOncePod",
			}
		}
	}
	return Change{Kind: ChangeClaim, Text: "repair the volumes of the pod"}
}

// repair says what is to be done about a claim that is at fault.
func (x *volumeIndex) repair(c *claim, pod *corev1.Pod) Change {
	change := Change{Kind: ChangeClaim, Object: "PersistentVolumeClaim/" + c.name}
	object := x.claimNamed(c.name)
	if object == nil {
		class := x.ephemeralClass(c, pod)
		switch {
		case class == nil:
			change.Text = "create " + c.text()
		case *class == "":
			change.Text = "name a storage class in the template of " + c.text() + ", or mark one as the default"
		default:
			change = x.repairClass(change, *class)
		}
		return change
	}
	volume := x.volumes[object.Spec.VolumeName]
	switch {
	case x.ephemeralClass(c, pod) != nil && !ownedBy(object, pod):
		change.Text = "rename the volume, or delete " + c.text() + ", which was not made for the pod"
	case object.Spec.VolumeName != "" && !isBound(object) && object.DeletionTimestamp == nil && object.Status.Phase != corev1.ClaimLost:
		change.Text = "wait until " + c.text() + " is bound to volume " + object.Spec.VolumeName
	case object.Status.Phase == corev1.ClaimLost && object.DeletionTimestamp == nil:
		change.Text = "restore the volume of " + c.text() + ", or delete the claim and create it anew"
	case object.DeletionTimestamp != nil:
		change.Text = "create " + c.text() + " anew once it is gone"
	case volume != nil && volume.DeletionTimestamp != nil:
		change.Object, change.Text = "PersistentVolume/"+volume.Name, "create "+c.text()+" anew: its volume "+volume.Name+" is being deleted"
	case object.Spec.VolumeName != "" && volume == nil:
		change.Object = "PersistentVolume/" + object.Spec.VolumeName
		change.Text = "add persistent volume " + object.Spec.VolumeName + " to the input, or create the claim anew"
	default:
		change = x.repairUnbound(change, c, object)
	}
	return change
}

// repairUnbound says what a claim without a volume waits for.
func (x *volumeIndex) repairUnbound(change Change, c *claim, object *corev1.PersistentVolumeClaim) Change {
	class := object.Spec.StorageClassName
	if beta, ok := object.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		class = &beta
	}
	if class == nil || *class == "" {
		change.Text = "bind " + c.text() + " to a volume, or name a storage class in it"
		return change
	}
	return x.repairClass(change, *class)
}

// repairClass says what is to be done about a storage class.
func (x *volumeIndex) repairClass(change Change, name string) Change {
	if x.classes[name] == nil {
		change.Object, change.Text = "StorageClass/"+name, "create storage class "+name
		return change
	}
	change.Text = "wait until the claim has its volume, or use a storage class whose volumeBindingMode is WaitForFirstConsumer"
	return change
}

// claimNamed returns the object of a claim, nil where it does not exist.
func (x *volumeIndex) claimNamed(name string) *corev1.PersistentVolumeClaim {
	for key, object := range x.claims {
		if key.namespace+"/"+key.name == name {
			return object
		}
	}
	return nil
}

// ephemeralClass returns the storage class that an ephemeral volume would have, "" for
// none; nil where the claim is not that of an ephemeral volume of the pod.
func (x *volumeIndex) ephemeralClass(c *claim, pod *corev1.Pod) *string {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.Ephemeral == nil || namespaceOf(pod)+"/"+pod.Name+"-"+v.Name != c.name {
			continue
		}
		var class *string
		if t := v.Ephemeral.VolumeClaimTemplate; t != nil {
			class = t.Spec.StorageClassName
			if name, ok := t.Annotations[corev1.BetaStorageClassAnnotation]; ok {
				class = &name
			}
		}
		if class == nil && x.standard != nil {
			class = &x.standard.Name
		}
		if class == nil {
			class = new(string)
		}
		return class
	}
	return nil
}
