package oracle

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	volumehelpers "k8s.io/component-helpers/storage/volume"
)

// What stands in for the volume controller and for the drivers that make volumes.
var (
	claimsResource  = corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims")
	volumesResource = corev1.SchemeGroupVersion.WithResource("persistentvolumes")
	nodesResource   = corev1.SchemeGroupVersion.WithResource("nodes")
	classesResource = storagev1.SchemeGroupVersion.WithResource("storageclasses")
)

// provision does what drivers do once kube-scheduler has chosen a node for a claim: the
// claim is bound to a new volume in the zone of the node.
func (a *fakeAPI) provision(action clienttesting.Action) (handled bool, result runtime.Object, err error) {
	update, ok := action.(clienttesting.UpdateAction)
	if !ok {
		return false, nil, nil
	}
	claim, ok := update.GetObject().(*corev1.PersistentVolumeClaim)
	if !ok || claim.Spec.VolumeName != "" || claim.Annotations[volumehelpers.AnnSelectedNode] == "" {
		return false, nil, nil
	}
	volume, err := a.newVolume(claim)
	if err != nil {
		return true, nil, err
	}
	if err := a.client.Tracker().Create(volumesResource, volume, ""); err != nil {
		return true, nil, err
	}
	bound := boundTo(claim, volume.Name)
	return true, bound, a.client.Tracker().Update(claimsResource, bound, bound.Namespace)
}

// newVolume is the volume that a driver makes for a claim.
func (a *fakeAPI) newVolume(claim *corev1.PersistentVolumeClaim) (*corev1.PersistentVolume, error) {
	object, err := a.client.Tracker().Get(nodesResource, "", claim.Annotations[volumehelpers.AnnSelectedNode])
	if err != nil {
		return nil, err
	}
	node, ok := object.(*corev1.Node)
	if !ok {
		return nil, fmt.Errorf("expected a node, got %T", object)
	}
	object, err = a.client.Tracker().Get(classesResource, "", volumehelpers.GetPersistentVolumeClaimClass(claim))
	if err != nil {
		return nil, err
	}
	class, ok := object.(*storagev1.StorageClass)
	if !ok {
		return nil, fmt.Errorf("expected a storage class, got %T", object)
	}
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "made-for-" + claim.Namespace + "-" + claim.Name}}
	v.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}
	v.Spec.StorageClassName = class.Name
	v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: class.Provisioner, VolumeHandle: v.Name}
	v.Status.Phase = corev1.VolumeBound
	if zone, ok := node.Labels[corev1.LabelTopologyZone]; ok {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone},
			}},
		}}}}
	}
	return v, nil
}

// complete does what the volume controller does once kube-scheduler has chosen a volume
// for a claim.
func (a *fakeAPI) complete(action clienttesting.Action) (handled bool, result runtime.Object, err error) {
	update, ok := action.(clienttesting.UpdateAction)
	if !ok {
		return false, nil, nil
	}
	volume, ok := update.GetObject().(*corev1.PersistentVolume)
	if !ok || volume.Spec.ClaimRef == nil {
		return false, nil, nil
	}
	object, err := a.client.Tracker().Get(claimsResource, volume.Spec.ClaimRef.Namespace, volume.Spec.ClaimRef.Name)
	if err != nil {
		return false, nil, nil //nolint:nilerr // nobody's volume
	}
	claim, ok := object.(*corev1.PersistentVolumeClaim)
	if !ok || claim.Spec.VolumeName != "" {
		return false, nil, nil
	}
	volume = volume.DeepCopy()
	volume.Status.Phase = corev1.VolumeBound
	if err := a.client.Tracker().Update(volumesResource, volume, ""); err != nil {
		return true, nil, err
	}
	bound := boundTo(claim, volume.Name)
	return true, volume, a.client.Tracker().Update(claimsResource, bound, bound.Namespace)
}

// boundTo is the claim once it is bound to the volume.
func boundTo(claim *corev1.PersistentVolumeClaim, volume string) *corev1.PersistentVolumeClaim {
	c := claim.DeepCopy()
	c.Spec.VolumeName = volume
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[volumehelpers.AnnBindCompleted] = "yes"
	c.Status.Phase = corev1.ClaimBound
	// kube-scheduler believes what it has assumed of a claim until it sees a later version.
	version, err := strconv.Atoi(c.ResourceVersion)
	if err != nil {
		version = 0
	}
	c.ResourceVersion = strconv.Itoa(version + 1)
	return c
}
