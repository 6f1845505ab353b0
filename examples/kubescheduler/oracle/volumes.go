package oracle

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
)

// Volumes reach the volume plugins through caches of their own a moment after the
// informers have synchronised, without an event, so waiting must poll.
const (
	volumePoll    = time.Millisecond
	volumeTimeout = 10 * time.Second
	volumeSettle  = 50 * time.Millisecond
)

// unknownClaim begins the volume plugins' message while their informers lack a claim.
const unknownClaim = "error getting PVC"

// waitForVolumes waits until the volume plugins know the claims and volumes.
func (s *Scheduler) waitForVolumes(ctx context.Context, objects []runtime.Object) error {
	var claims []*corev1.PersistentVolumeClaim
	volumes := map[string]bool{}
	for _, object := range objects {
		switch x := object.(type) {
		case *corev1.PersistentVolumeClaim:
			claims = append(claims, x)
		case *corev1.PersistentVolume:
			volumes[x.Name] = true
		}
	}
	if len(claims) > 0 {
		probe := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "probe"}}
		probe.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}
		if err := s.AddNode(probe); err != nil {
			return err
		}
		for _, claim := range claims {
			if err := s.waitForClaim(ctx, claim, probe.Name, volumes[claim.Spec.VolumeName]); err != nil {
				return fmt.Errorf("kube-scheduler does not learn of claim %s/%s: %w", claim.Namespace, claim.Name, err)
			}
			delete(volumes, claim.Spec.VolumeName)
		}
		if err := s.RemoveNode(probe.Name); err != nil {
			return err
		}
	}
	if len(volumes) > 0 {
		// Without a claim there is no pod by which to ask the plugins about volumes.
		time.Sleep(volumeSettle)
	}
	return nil
}

// waitForClaim asks about a pod with the claim until the answer no longer is that the
// claim, or the volume that it is bound to, is unknown.
func (s *Scheduler) waitForClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim, node string, bound bool) error {
	pod := podWithClaim(claim)
	return wait.PollUntilContextTimeout(ctx, volumePoll, volumeTimeout, true, func(ctx context.Context) (bool, error) {
		refusal, err := s.Admit(ctx, pod, node)
		if err != nil {
			return false, err
		}
		unknown := refusal != nil && (strings.Contains(refusal.Reason, unknownClaim) ||
			bound && strings.Contains(refusal.Reason, volumebinding.ErrReasonPVNotExist))
		return !unknown, nil
	})
}

// podWithClaim is a pod that uses the claim and requests no resources.
func podWithClaim(claim *corev1.PersistentVolumeClaim) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "probe", Namespace: claim.Namespace, UID: "probe"},
		Spec: corev1.PodSpec{
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name},
			}}},
		},
	}
}
