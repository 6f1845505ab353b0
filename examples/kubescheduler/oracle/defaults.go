package oracle

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	appsdefaults "k8s.io/kubernetes/pkg/apis/apps/v1"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"
)

// admittedPod is a copy of the pod as the API server would store it: with a namespace,
// a UID and its defaults, such as requests taken from limits.
func admittedPod(pod *corev1.Pod) *corev1.Pod {
	out := pod.DeepCopy()
	out.Namespace = namespaceOf(out.Namespace)
	if out.UID == "" {
		out.UID = types.UID(podKey(out))
	}
	coredefaults.SetObjectDefaults_Pod(out)
	mergeLabelKeys(out)
	return out
}

// mergeLabelKeys adds matchLabelKeys and mismatchLabelKeys to the selectors of pod
// affinity and anti-affinity. kube-scheduler relies on the API server for that.
func mergeLabelKeys(pod *corev1.Pod) {
	merge := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range required {
			mergeTerm(&required[i], pod.Labels)
		}
		for i := range preferred {
			mergeTerm(&preferred[i].PodAffinityTerm, pod.Labels)
		}
	}
	a := pod.Spec.Affinity
	if a == nil {
		return
	}
	if t := a.PodAffinity; t != nil {
		merge(t.RequiredDuringSchedulingIgnoredDuringExecution, t.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if t := a.PodAntiAffinity; t != nil {
		merge(t.RequiredDuringSchedulingIgnoredDuringExecution, t.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

func mergeTerm(t *corev1.PodAffinityTerm, labels map[string]string) {
	if t.LabelSelector == nil {
		return
	}
	add := func(keys []string, op metav1.LabelSelectorOperator) {
		for _, key := range keys {
			if value, ok := labels[key]; ok {
				t.LabelSelector.MatchExpressions = append(t.LabelSelector.MatchExpressions,
					metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: []string{value}})
			}
		}
	}
	add(t.MatchLabelKeys, metav1.LabelSelectorOpIn)
	add(t.MismatchLabelKeys, metav1.LabelSelectorOpNotIn)
	t.MatchLabelKeys, t.MismatchLabelKeys = nil, nil
}

// admittedDaemonSet is a copy of the DaemonSet as the API server would store it.
func admittedDaemonSet(set *appsv1.DaemonSet) *appsv1.DaemonSet {
	out := set.DeepCopy()
	out.Namespace = namespaceOf(out.Namespace)
	appsdefaults.SetObjectDefaults_DaemonSet(out)
	return out
}
