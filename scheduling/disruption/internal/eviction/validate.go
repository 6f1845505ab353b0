package eviction

import (
	"strconv"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/faults"
)

// CheckBudgets notes the faults of PodDisruptionBudgets, by the rules of the API server. A path begins with the name of the
// budget, as podDisruptionBudgets[shop/web], or with its index if it has none.
func CheckBudgets(f *faults.Collector, list []*policyv1.PodDisruptionBudget) {
	first := map[string]int{}
	for i, b := range list {
		at := "podDisruptionBudgets[" + strconv.Itoa(i) + "]"
		if b == nil {
			f.Add("", "is missing", at)
			continue
		}
		if b.Name == "" {
			f.Add("", "is missing", at+".metadata.name")
		} else {
			name := BudgetName(b)
			at = "podDisruptionBudgets[" + name + "]"
			f.Once(first, name, i, at)
		}
		checkBudget(f, at+".spec", &b.Spec)
	}
}

// checkBudget checks the specification of a PodDisruptionBudget.
func checkBudget(f *faults.Collector, at string, s *policyv1.PodDisruptionBudgetSpec) {
	if _, err := metav1.LabelSelectorAsSelector(s.Selector); err != nil {
		f.Add("", strings.Join(strings.Fields(err.Error()), " "), at+".selector")
	}
	if s.MinAvailable != nil && s.MaxUnavailable != nil {
		f.Add(s.MaxUnavailable.String(), "must not be there together with minAvailable", at+".maxUnavailable")
	}
	checkAmount(f, at+".minAvailable", s.MinAvailable)
	checkAmount(f, at+".maxUnavailable", s.MaxUnavailable)
	if p := s.UnhealthyPodEvictionPolicy; p != nil && *p != policyv1.IfHealthyBudget && *p != policyv1.AlwaysAllow {
		f.Add(string(*p), "must be one of IfHealthyBudget, AlwaysAllow", at+".unhealthyPodEvictionPolicy")
	}
}

// checkAmount checks a number or percentage of pods.
func checkAmount(f *faults.Collector, path string, v *intstr.IntOrString) {
	if v == nil {
		return
	}
	if _, ok := Scaled(v, 100); !ok {
		f.Add(v.String(), "must be a number of pods or a percentage, and not negative", path)
		return
	}
	if n, _ := Scaled(v, 100); v.Type == intstr.String && n > 100 {
		f.Add(v.String(), "must not be more than 100%", path)
	}
}
