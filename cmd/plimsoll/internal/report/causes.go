package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/lint"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// BlockedSaving is something that keeps the cluster from costing less after the steps.
type BlockedSaving struct {
	// Code is the code of the cause, as in plans, or of the finding, as lint prints it; "types" is the
	// price difference of a rebuilt cluster between the types of the node groups and all current types.
	Code string `json:"code"`
	// Cents is the saving per month if it alone is lifted. AtMost says that the saving may be anything from 0 to Cents:
	// no full plan was made without the cause or, for a finding of lint, no lower bound proves the saving. Nodes is the number of nodes that it keeps; 0 for requests and NodePools.
	Cents  int64 `json:"centsPerMonth"`
	AtMost bool  `json:"atMost,omitempty"`
	Nodes  int   `json:"nodes"`
	// Objects are the objects that cause it, as kind/namespace/name; none where the nodes themselves do.
	Objects []string `json:"objects,omitempty"`
	// Meaning describes it in a few words, Fix the change that would lift it.
	Meaning string `json:"meaning"`
	Fix     string `json:"fix"`
}

// blockedSavings are the causes that keep the cluster from costing less after the steps.
func blockedSavings(plan *disruption.ConsolidationPlan, changes []lint.Finding) []BlockedSaving {
	objects := map[disruption.CauseCode][]string{}
	for i := range plan.Nodes {
		v := &plan.Nodes[i]
		if v.Decision != disruption.Keep || len(v.Reasons) == 0 {
			continue
		}
		if c := &v.Reasons[0]; c.Object != "" && !slices.Contains(objects[c.Code], c.Object) {
			objects[c.Code] = append(objects[c.Code], c.Object)
		}
	}
	out := []BlockedSaving{}
	for i := range plan.Summary.Blocked {
		b := &plan.Summary.Blocked[i]
		s := BlockedSaving{Code: string(b.Code), Cents: figures.Cents(b.PerHour), AtMost: b.AtMost(), Nodes: b.Nodes, Objects: objects[b.Code], Meaning: Meaning(b.Code), Fix: Fix(b, mostObjects, true)}
		if len(b.Changes) > 0 {
			s.Objects = lo.Map(b.Changes, func(c disruption.ObjectChange, _ int) string { return c.Object })
		}
		out = append(out, s)
	}
	if own, free := plan.Summary.Rebuilt, plan.Summary.Alternative; own != nil && free != nil && len(free.LeftOut) <= len(own.LeftOut) {
		if more := cmp.Or(own.ExpectedPerHour, own.PricePerHour) - cmp.Or(free.ExpectedPerHour, free.PricePerHour); more > 0 {
			out = append(out, BlockedSaving{Code: fixedTypes, Cents: figures.Cents(more), Nodes: own.Nodes, Meaning: "instance types fixed by node groups", Fix: "let node groups (or NodePools) launch any current instance type"})
		}
	}
	for i := range changes {
		f := &changes[i]
		out = append(out, BlockedSaving{Code: string(f.Code), Cents: figures.Cents(f.SavingPerHour), AtMost: !f.SavingProven, Objects: []string{f.Object}, Meaning: Meaning(disruption.CauseCode(f.Code)) + ": " + f.Value, Fix: f.Advice})
	}
	slices.SortStableFunc(out, func(a, b BlockedSaving) int {
		if a.AtMost != b.AtMost {
			return lo.Ternary(b.AtMost, -1, 1) // upper bounds come last, because they may be far above the saving
		}
		return cmp.Compare(b.Cents, a.Cents)
	})
	return out
}

// Fix describes the changes that would lift a cause: the changes that were tried, grouped by their new value, with
// no more objects of a group named than most. If the objects are listed beside it, it names them only where their
// changes differ.
func Fix(b *disruption.Blocked, most int, listed bool) string {
	if len(b.Changes) == 0 {
		return causes()[b.Code].lift
	}
	alike := lo.GroupBy(b.Changes, func(c disruption.ObjectChange) string { return c.To })
	if listed && len(alike) == 1 {
		return b.Changes[0].To
	}
	return strings.Join(lo.Map(slices.Sorted(maps.Keys(alike)), func(to string, _ int) string {
		return to + " (" + figures.Names(lo.Map(alike[to], func(c disruption.ObjectChange, _ int) string { return c.Object }), most) + ")"
	}), "; ")
}

// fixedTypes is the code of the price difference between the groups' own types and all current types, in
// a cluster built anew.
const fixedTypes = "types"

// Meaning describes a cause in a few words.
func Meaning(code disruption.CauseCode) string { return causes()[code].meaning }

// cause is the description of a cause, and of the change that would lift it.
type cause struct{ meaning, lift string }

func causes() map[disruption.CauseCode]cause {
	return map[disruption.CauseCode]cause{
		disruption.CauseNoNodePool:                 {"owned by no NodePool", "move its pods to a NodePool"},
		disruption.CauseNoTypes:                    {"its NodePool matches no instance types", "change the NodePool's requirements so that they match instance types"},
		disruption.CauseNotReady:                   {"not ready yet", "plan again when it is ready"},
		disruption.CauseBeingRemoved:               {"being removed already", "plan again when it is removed"},
		disruption.CauseNominated:                  {"pending pods are about to start on it", "plan again when they run"},
		disruption.CauseDoNotDisrupt:               {"set to do-not-disrupt", "remove the annotation karpenter.sh/do-not-disrupt, or wait until the pod completes"},
		disruption.CauseUnmanagedPod:               {"unmanaged pod (would not be recreated)", "create the pod by a Deployment or Job, or allow its eviction (--evict-bare-pods)"},
		disruption.CauseSearch:                     {"no cheaper alternative found", "apply the steps and plan again, or search longer (--effort thorough)"},
		disruption.CauseBudget:                     {"blocked by a PodDisruptionBudget", "let each PodDisruptionBudget allow one disruption: plimsoll lint names the change"},
		disruption.CausePoolBudget:                 {"blocked by the NodePool's disruption budgets", "raise spec.disruption.budgets of the NodePool, or apply the steps and plan again"},
		disruption.CausePolicy:                     {"consolidationPolicy is WhenEmpty", "set the NodePool's consolidationPolicy to WhenEmptyOrUnderutilized"},
		disruption.CauseTooSoon:                    {"consolidateAfter or minimum lifetime not reached", "plan again later, or shorten the NodePool's consolidateAfter"},
		disruption.CauseStatic:                     {"static NodePool (spec.replicas)", "lower spec.replicas of the NodePool"},
		disruption.CauseMinNodes:                   {"node group at its minimum size", "state the real minimum with --group-size NAME=MIN:MAX: one node is assumed for groups without it"},
		disruption.CauseUnknownPrice:               {"unknown price", "add its price (--catalog, --prices)"},
		disruption.CauseReasonNotSelected:          {"not among --reasons", "add the reason to --reasons"},
		disruption.CauseNoPlace:                    {"a pod fits on no other node", "relax the pod's constraints, or let a NodePool launch a node that fits it"},
		disruption.CauseNoSaving:                   {"no cheaper replacement", "nothing"},
		disruption.CauseSmallSaving:                {"saves less than --min-saving", "lower --min-saving"},
		disruption.CauseScore:                      {"not worth the disruption", "raise --balanced-k, or set the NodePool's consolidationPolicy to WhenEmptyOrUnderutilized"},
		disruption.CauseFewSpotTypes:               {"too few cheaper spot types", "allow more instance types in the NodePool, or lower --spot-to-spot-types"},
		disruption.CauseMinValues:                  {"needed for minValues", "lower minValues of the NodePool"},
		disruption.CauseNeededForPods:              {"needed for rescheduled pods", "apply the steps and plan again"},
		disruption.CauseDeadline:                   {"not evaluated in time", "give it more time (--timeout)"},
		disruption.CauseCode(lint.RequestSize):     {meaning: "requests slightly too large for cheaper nodes"},
		disruption.CauseCode(lint.NodePoolTypes):   {meaning: "excludes cheaper instance types"},
		disruption.CauseCode(lint.NodePoolOverlap): {meaning: "Karpenter chooses among NodePools of this weight by name"},
		disruption.CauseStepsLimit:                 {"the plan ends before its step", "allow more steps (--steps), if no warning says why steps are left out"},
	}
}

// Risk is a risk of some steps.
type Risk struct {
	// Code names it, as in plans.
	Code disruption.RiskCode `json:"code"`
	// Steps are the numbers of the steps, counted from 1; Objects the objects at risk, as kind/namespace/name.
	Steps   []int    `json:"steps"`
	Objects []string `json:"objects"`
	// Meaning says it in a few words.
	Meaning string `json:"meaning"`
}

// Risks are the risks of a plan's steps, by code and meaning.
func Risks(plan *disruption.ConsolidationPlan) []Risk {
	type kind struct {
		code    disruption.RiskCode
		meaning string
	}
	index := map[kind]*Risk{}
	for i := range plan.Steps {
		for _, found := range plan.Steps[i].Risks {
			k := kind{found.Code, riskMeaning(&found)}
			r := index[k]
			if r == nil {
				r = &Risk{Code: k.code, Meaning: k.meaning}
				index[k] = r
			}
			r.Steps, r.Objects = append(r.Steps, i+1), append(r.Objects, found.Object)
		}
	}
	out := []Risk{}
	for _, r := range index {
		r.Steps, r.Objects = slices.Compact(r.Steps), unique(r.Objects)
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b Risk) int { return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Meaning, b.Meaning)) })
	return out
}

// unique are the texts of a list, each once, at its first place.
func unique(list []string) []string {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(s string) bool {
		known := seen[s]
		seen[s] = true
		return known
	})
}

// riskMeaning describes a risk in a few words. The detail of pods that may not be evicted includes how
// long the step waits for them.
func riskMeaning(r *disruption.Risk) string {
	return map[disruption.RiskCode]string{
		disruption.RiskDoNotDisrupt:  r.Detail,
		disruption.RiskPodBudget:     r.Detail,
		disruption.RiskArchitecture:  "pods may be rescheduled to another CPU architecture",
		disruption.RiskUnmanagedPod:  "unmanaged pod: not recreated after eviction",
		disruption.RiskReplicas:      "several replicas are down at once, without a PodDisruptionBudget",
		disruption.RiskSingleReplica: "single replica without a PodDisruptionBudget: brief downtime",
		disruption.RiskSpot:          "pods may be rescheduled to spot nodes",
		disruption.RiskVolume:        "volume is detached and reattached",
	}[r.Code]
}

// noticed is one warning with all objects to which it applies.
type noticed struct {
	Message string
	Objects []string
}

// noticedIn groups the notes among warnings, or the others, by message, in the order in which messages first occur.
func noticedIn(warnings []scheduling.Warning, notes bool) []noticed {
	var out []noticed
	for _, w := range warnings {
		if w.Note != notes {
			continue
		}
		i := slices.IndexFunc(out, func(n noticed) bool { return n.Message == w.Message })
		if i < 0 {
			i, out = len(out), append(out, noticed{Message: w.Message})
		}
		out[i].Objects = append(out[i].Objects, w.Object)
	}
	return out
}
