package schedulingtest

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// surroundings writes what a problem says about volumes, namespaces and owners.
func (w *writer) surroundings(p *scheduling.Problem) {
	section(w, "classes", p.StorageClasses, classWords)
	section(w, "volumes", p.Volumes, volumeWords)
	section(w, "claims", p.Claims, claimWords)
	section(w, "csi-nodes", p.CSINodes, csiNodeWords)
	section(w, "namespaces", p.Namespaces, namespaceWords)
	section(w, "services", p.Services, func(s *corev1.Service) []string {
		var selector *metav1.LabelSelector
		if s.Spec.Selector != nil {
			selector = &metav1.LabelSelector{MatchLabels: s.Spec.Selector}
		}
		return ownerWords(s.Name, s.Namespace, selector)
	})
	var owners [][]string
	for _, o := range p.Owners.ReplicaSets {
		owners = append(owners, ownerWords("replicaset/"+o.Name, o.Namespace, o.Spec.Selector))
	}
	for _, o := range p.Owners.StatefulSets {
		owners = append(owners, ownerWords("statefulset/"+o.Name, o.Namespace, o.Spec.Selector))
	}
	for _, o := range p.Owners.ReplicationControllers {
		owners = append(owners, ownerWords("controller/"+o.Name, o.Namespace, &metav1.LabelSelector{MatchLabels: o.Spec.Selector}))
	}
	section(w, "owners", owners, func(words []string) []string { return words })
	section(w, "default-spread", p.DefaultSpread, func(c corev1.TopologySpreadConstraint) []string {
		return append([]string{shortKey(c.TopologyKey)}, defaultSpreadWords(&c)...)
	})
}

// section writes a command with a line for each object, if there are any.
func section[T any](w *writer, name string, list []T, words func(T) []string) {
	if len(list) == 0 {
		return
	}
	w.command(name, "", func() {
		for _, x := range list {
			w.line(words(x))
		}
	})
}

func claimWords(c *corev1.PersistentVolumeClaim) []string {
	words := []string{c.Name}
	if c.Namespace != metav1.NamespaceDefault {
		words = append(words, "ns="+c.Namespace)
	}
	words = append(words, claimSpecWords(&c.Spec)...)
	if v := c.Spec.VolumeName; v != "" {
		name := "half-bound="
		if _, ok := c.Annotations[bindCompleted]; ok {
			name = "volume="
		}
		words = append(words, name+v)
	}
	for _, o := range c.OwnerReferences {
		words = append(words, "of-pod="+o.Name)
	}
	if c.Status.Phase == corev1.ClaimLost {
		words = append(words, "lost")
	}
	if c.DeletionTimestamp != nil {
		words = append(words, "deleting")
	}
	return words
}

// claimSpecWords are the words that claims and ephemeral volumes have in common.
func claimSpecWords(s *corev1.PersistentVolumeClaimSpec) []string {
	var words []string
	if s.StorageClassName != nil {
		words = append(words, "class="+*s.StorageClassName)
	}
	for short, mode := range accessModes() {
		if len(s.AccessModes) == 1 && s.AccessModes[0] == mode && short != "rwo" {
			words = append(words, "mode="+short)
		}
	}
	return words
}

func volumeWords(v *corev1.PersistentVolume) []string {
	words := []string{v.Name}
	if v.Spec.NodeAffinity != nil && v.Spec.NodeAffinity.Required != nil {
		for _, t := range v.Spec.NodeAffinity.Required.NodeSelectorTerms {
			words = append(words, "where=("+exprWords(t.MatchExpressions)+")")
		}
	}
	if d := driverOf(&v.Spec.PersistentVolumeSource); d != diskDriver {
		words = append(words, "driver="+shortDriver(d))
	}
	if v.Spec.StorageClassName != "" {
		words = append(words, "class="+v.Spec.StorageClassName)
	}
	if v.DeletionTimestamp != nil {
		words = append(words, "deleting")
	}
	return words
}

func classWords(c *storagev1.StorageClass) []string {
	words := []string{c.Name}
	for _, t := range c.AllowedTopologies {
		var parts []string
		for _, e := range t.MatchLabelExpressions {
			parts = append(parts, strings.Join(append([]string{shortKey(e.Key), "in"}, e.Values...), " "))
		}
		words = append(words, "where=("+strings.Join(parts, ", ")+")")
	}
	if c.Provisioner != diskDriver {
		words = append(words, "driver="+shortDriver(c.Provisioner))
	}
	if c.VolumeBindingMode == nil || *c.VolumeBindingMode == storagev1.VolumeBindingImmediate {
		words = append(words, "immediate")
	}
	if c.Annotations[defaultClass] == "true" {
		words = append(words, fmt.Sprintf("default=%d", int(c.CreationTimestamp.Sub(yearBegan()).Minutes())))
	}
	return words
}

func csiNodeWords(n *storagev1.CSINode) []string {
	words := []string{n.Name}
	for _, d := range n.Spec.Drivers {
		text := shortDriver(d.Name)
		if d.Allocatable != nil && d.Allocatable.Count != nil {
			text += fmt.Sprintf("=%d", *d.Allocatable.Count)
		}
		words = append(words, text)
	}
	return words
}

func namespaceWords(n *corev1.Namespace) []string {
	labels := map[string]string{}
	for key, value := range n.Labels {
		if key != corev1.LabelMetadataName {
			labels[key] = value
		}
	}
	if len(labels) == 0 {
		return []string{n.Name}
	}
	return []string{n.Name, pairs("label", labels)}
}

func ownerWords(name, namespace string, selector *metav1.LabelSelector) []string {
	words := []string{name}
	if namespace != metav1.NamespaceDefault {
		words = append(words, "ns="+namespace)
	}
	if selector != nil {
		words = append(words, "of=("+selectorWords(selector)+")")
	}
	return words
}

// ownerWord is the inverse of cutOwner.
func ownerWord(o metav1.OwnerReference) string {
	for short, kind := range ownerKinds() {
		if kind == o.Kind {
			return short + "/" + o.Name
		}
	}
	return o.Kind + "/" + o.Name
}

// podVolumeWords are the words about a pod's volumes; those that have nothing to do
// with where the pod goes are left out.
func podVolumeWords(spec *corev1.PodSpec) []string {
	var words []string
	for _, v := range spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			words = append(words, "claim="+v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil:
			words = append(words, "ephemeral=("+strings.Join(append([]string{v.Name}, claimSpecWords(&v.Ephemeral.VolumeClaimTemplate.Spec)...), " ")+")")
		}
	}
	return words
}
