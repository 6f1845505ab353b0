package oracle_test

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	coreconversion "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/apis/core/validation"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

func quantity(s string) resource.Quantity { return resource.MustParse(s) }

// apiFaults returns the faults for which the API server would refuse the pod.
func apiFaults(pod *corev1.Pod) field.ErrorList {
	p := pod.DeepCopy()
	for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			list[i].Image = "registry.example.com/app"
		}
	}
	coreconversion.SetObjectDefaults_Pod(p)
	var internal core.Pod
	if err := coreconversion.Convert_v1_Pod_To_core_Pod(p, &internal, nil); err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	opts := podutil.GetValidationOptionsFromPodSpecAndMeta(&internal.Spec, nil, &internal.ObjectMeta, nil)
	return slices.DeleteFunc(validation.ValidatePodCreate(&internal, opts), func(e *field.Error) bool {
		// Random pods ask for devices without a limit. It makes no difference here.
		return strings.HasPrefix(e.Detail, "Limit must be set for non overcommitable")
	})
}

// onlyAdmitted leaves out of a problem the pods that the API server would refuse.
func onlyAdmitted(p scheduling.Problem) scheduling.Problem {
	var pods []*corev1.Pod
	for _, pod := range p.Pods {
		if len(apiFaults(pod)) == 0 {
			pods = append(pods, pod)
		}
	}
	p.Pods = pods
	return p
}
