package disruption

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// machineKind are the properties of a machine that pods depend on without a rule, "" where its labels do not say.
type machineKind struct{ arch, capacity string }

func kindOf(labels map[string]string) machineKind {
	return machineKind{labels[corev1.LabelArchStable], labels[offerings.CapacityTypeLabel]}
}

// risksOf are the changes for the worse of a pod that moves from this kind to one of others, by risk, in words.
func (was machineKind) risksOf(will []machineKind) map[RiskCode]string {
	out := map[RiskCode]string{}
	for _, k := range will {
		if was.arch != "" && k.arch != "" && k.arch != was.arch {
			out[RiskArchitecture] = "from " + was.arch + " to " + k.arch
		}
		if spot := string(offerings.Spot); was.capacity != "" && was.capacity != spot && k.capacity == spot {
			out[RiskSpot] = "from " + was.capacity + " to spot"
		}
	}
	return out
}

// risksOfStep are the risks of a step that is about to be carried out, by code and object.
func risksOfStep(f *state, step *Step) []Risk {
	bought := map[string][]machineKind{}
	for i := range step.Launches {
		l := &step.Launches[i]
		for j := range l.Options {
			bought[l.Name] = append(bought[l.Name], kindOf(f.prices().Labels(l, &l.Options[j])))
		}
	}
	out := replicaRisks(f, step)
	worse := map[Risk]int{} // the number of pods at that risk
	for i := range step.Evictions {
		e := &step.Evictions[i]
		pod, from := f.pods[e.Pod], f.byName[e.From]
		if pod == nil || from == nil || from.node == nil || scheduling.IsVirtual(pod) {
			continue
		}
		object := cmp.Or(eviction.ControllerOf(pod), "pod/"+e.Pod)
		if eviction.Bare(pod) {
			out = append(out, Risk{RiskUnmanagedPod, object, "has no controller, and would not be recreated after its eviction"})
		}
		if eviction.Protected(pod, f.rules.now) {
			out = append(out, Risk{RiskDoNotDisrupt, object, "asks not to be disrupted: " + protectedWait(f.rules.now, step.Reason, from, eviction.ProtectedUntil(pod))})
		} else if f.rules.podBudgetCause(pod) != nil {
			out = append(out, Risk{RiskPodBudget, object, "blocked by a PodDisruptionBudget now: " + protectedWait(f.rules.now, step.Reason, from, time.Time{})})
		}
		for j := range pod.Spec.Volumes {
			if claim := pod.Spec.Volumes[j].PersistentVolumeClaim; claim != nil {
				out = append(out, Risk{RiskVolume, "persistentvolumeclaim/" + podspec.OrDefault(pod.Namespace) + "/" + claim.ClaimName, "is detached, and reattached where pod " + e.Pod + " lands"})
			}
		}
		will := bought[e.To]
		if to := f.byName[e.To]; to != nil && to.node != nil {
			will = []machineKind{kindOf(to.node.Labels)}
		}
		for code, how := range kindOf(from.node.Labels).risksOf(will) {
			worse[Risk{code, object, how}]++
		}
	}
	for r, n := range worse {
		out = append(out, Risk{r.Code, r.Object, fmt.Sprintf("%d of %d pods may move %s", n, max(n, f.replicas[r.Object]), r.Detail)})
	}
	slices.SortFunc(out, func(a, b Risk) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Detail, b.Detail))
	})
	return slices.Compact(out)
}

// protectedWait says how long Karpenter waits for a pod that may not be evicted when its node is removed for a
// reason. until is when the pod may be evicted, zero if that is not known.
func protectedWait(now time.Time, reason Reason, s *candidate, until time.Time) string {
	grace := s.grace()
	switch {
	case reason == Interrupted:
		return "it is lost with its node"
	case !until.IsZero() && (grace == nil || now.Add(*grace).After(until)):
		return "Karpenter waits for it until " + until.UTC().Format(time.RFC3339)
	case grace == nil:
		return "Karpenter waits for it indefinitely (no terminationGracePeriod)"
	}
	return fmt.Sprintf("Karpenter waits for it at most %s (terminationGracePeriod), then deletes it", scheduling.NillableDuration{Duration: grace})
}

// replicaRisks are the controllers of which a step evicts the only pod, or several pods at the same time, without a
// PodDisruptionBudget.
func replicaRisks(f *state, step *Step) (out []Risk) {
	type turn struct {
		controller string
		wave       int
	}
	away, most := map[turn]int{}, map[string]int{}
	for i := range step.Evictions {
		e := &step.Evictions[i]
		pod := f.pods[e.Pod]
		if pod == nil || eviction.Bare(pod) || scheduling.IsVirtual(pod) || step.Reason != Interrupted && len(f.rules.podBudgets.Charges(pod)) > 0 {
			continue
		}
		t := turn{eviction.ControllerOf(pod), e.Wave}
		away[t]++
		most[t.controller] = max(most[t.controller], away[t])
	}
	for controller, n := range most {
		switch all := f.replicas[controller]; {
		case all == 1:
			out = append(out, Risk{RiskSingleReplica, controller, "its only pod is down until it is rescheduled, and has no PodDisruptionBudget"})
		case n > 1:
			out = append(out, Risk{RiskReplicas, controller, fmt.Sprintf("%d of %d pods are down at the same time, and have no PodDisruptionBudget", n, all)})
		}
	}
	return out
}
