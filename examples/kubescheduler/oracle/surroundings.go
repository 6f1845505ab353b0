package oracle

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// NewSchedulerFor starts a scheduler for a problem: its fake API server holds the
// problem's [Objects], and its plugin PodTopologySpread has the problem's default
// constraints.
func NewSchedulerFor(ctx context.Context, p *scheduling.Problem) (*Scheduler, error) {
	return newScheduler(ctx, p.DefaultSpread, Objects(p))
}

// Objects are what an API server holds of a problem beside nodes and pods: namespaces,
// volumes, claims, also those that are made for the ephemeral volumes of pods, storage
// classes, CSI nodes, services and controllers.
func Objects(p *scheduling.Problem) []runtime.Object {
	var out []runtime.Object
	add(&out, p.Volumes)
	add(&out, p.StorageClasses)
	add(&out, p.CSINodes)
	add(&out, p.Services)
	add(&out, p.Owners.ReplicationControllers)
	add(&out, p.Owners.ReplicaSets)
	add(&out, p.Owners.StatefulSets)
	add(&out, namespacesOf(p))
	add(&out, slices.Concat(p.Claims, ephemeralClaims(p)))
	return out
}

// add adds copies.
func add[T runtime.Object](out *[]runtime.Object, list []T) {
	for _, object := range list {
		*out = append(*out, object.DeepCopyObject())
	}
}

// namespacesOf are the namespaces of the problem, and those in which there are pods.
// Each has the label that the API server gives it.
func namespacesOf(p *scheduling.Problem) []*corev1.Namespace {
	known := map[string]bool{}
	var out []*corev1.Namespace
	put := func(n *corev1.Namespace) {
		if known[n.Name] {
			return
		}
		known[n.Name] = true
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		n.Labels[corev1.LabelMetadataName] = n.Name
		out = append(out, n)
	}
	for _, n := range p.Namespaces {
		put(n.DeepCopy())
	}
	for _, pod := range slices.Concat(p.Pods, p.Running) {
		put(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceOf(pod.Namespace)}})
	}
	return out
}

// ephemeralClaims are the claims that the ephemeral volume controller makes for pods
// which wait. Admission gives those without a class the default one.
func ephemeralClaims(p *scheduling.Problem) []*corev1.PersistentVolumeClaim {
	known := map[string]bool{}
	for _, c := range p.Claims {
		known[c.Namespace+"/"+c.Name] = true
	}
	var out []*corev1.PersistentVolumeClaim
	for _, pod := range p.Pods {
		pod = admittedPod(pod)
		for i := range pod.Spec.Volumes {
			v := &pod.Spec.Volumes[i]
			name := pod.Name + "-" + v.Name
			if v.Ephemeral == nil || v.Ephemeral.VolumeClaimTemplate == nil || known[pod.Namespace+"/"+name] {
				continue
			}
			known[pod.Namespace+"/"+name] = true
			controller := true
			c := &corev1.PersistentVolumeClaim{
				ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: name, OwnerReferences: []metav1.OwnerReference{{
					APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: &controller,
				}}},
				Spec:   *v.Ephemeral.VolumeClaimTemplate.Spec.DeepCopy(),
				Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
			}
			if class := defaultClass(p.StorageClasses); c.Spec.StorageClassName == nil && class != nil {
				c.Spec.StorageClassName = &class.Name
			}
			out = append(out, c)
		}
	}
	return out
}

// defaultClass is the newest default class.
func defaultClass(classes []*storagev1.StorageClass) *storagev1.StorageClass {
	var newest *storagev1.StorageClass
	for _, c := range classes {
		if c.Annotations["storageclass.kubernetes.io/is-default-class"] != "true" {
			continue
		}
		if newest == nil || newest.CreationTimestamp.Before(&c.CreationTimestamp) {
			newest = c
		}
	}
	return newest
}

// profilesWith is kube-scheduler's default configuration, with default constraints.
func profilesWith(spread []corev1.TopologySpreadConstraint) ([]config.KubeSchedulerProfile, error) {
	cfg, err := latest.Default()
	if err != nil {
		return nil, fmt.Errorf("reading kube-scheduler's default configuration: %w", err)
	}
	if len(spread) == 0 {
		return cfg.Profiles, nil
	}
	for _, plugin := range cfg.Profiles[0].PluginConfig {
		args, ok := plugin.Args.(*config.PodTopologySpreadArgs)
		if ok && plugin.Name == names.PodTopologySpread {
			args.DefaultConstraints, args.DefaultingType = spread, config.ListDefaulting
			return cfg.Profiles, nil
		}
	}
	return nil, fmt.Errorf("the default configuration has no arguments for %s", names.PodTopologySpread)
}
