package validate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/faults"
)

// maxBudgets bounds the disruption budgets of a NodePool, as Karpenter does.
const maxBudgets = 50

// nodePoolChecker checks the parts of a NodePool.
type nodePoolChecker struct{ faults *faults.Collector }

// check checks a NodePool by the rules of Karpenter's admission.
func (c nodePoolChecker) check(p *scheduling.NodePool) {
	if !LabelValue(p.Name) {
		c.faults.Add(p.Name, NotALabelValue, "metadata.name")
	}
	template := &p.Spec.Template
	const within = "spec.template.spec."
	err := requirements.ValidateSelectors(template.Spec.Requirements)
	selectorFaults(c.faults, err, within+"requirements")
	c.templateLabels(template.Metadata.Labels)
	if err == nil {
		c.contradictions(p)
	}
	c.taints(&template.Spec)
	c.notNegative(template.Spec.ExpireAfter, within+"expireAfter")
	if d := template.Spec.TerminationGracePeriod; d != nil && d.Duration < 0 {
		c.faults.Add(d.Duration.String(), "is negative", within+"terminationGracePeriod")
	}
	c.limits(p.Spec.Limits)
	if w := p.Weight(); w < 0 || w > maxWeight {
		c.faults.Add(strconv.Itoa(int(w)), "must lie between 1 and 100, or be absent", "spec.weight")
	}
	if n := p.Spec.Replicas; n != nil && *n < 0 {
		c.faults.Add(strconv.FormatInt(*n, 10), "is negative", "spec.replicas")
	}
	c.disruption(&p.Spec.Disruption)
}

// templateLabels checks the labels of a pool's node template.
func (c nodePoolChecker) templateLabels(labels map[string]string) {
	const path = "spec.template.metadata.labels"
	labelFaults(c.faults, labels, path)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		switch normal := requirements.NormalizeKey(key); {
		case normal == scheduling.NodePoolLabel:
			c.faults.Add("", "is set by the NodePool itself", strict.Member(path, key))
		case requirements.Restricted(normal):
			c.faults.Add("", "is restricted: its value follows from the instance type and zone", strict.Member(path, key))
		}
	}
}

// contradictions reports each requirement or label of a pool that contradicts the ones before it.
func (c nodePoolChecker) contradictions(p *scheduling.NodePool) {
	sofar := map[string]requirements.Requirement{}
	hold := func(r requirements.Requirement, path string) {
		before, ok := sofar[r.Key()]
		if !ok {
			before = requirements.NewSet().Get(r.Key())
		}
		if before.Overlaps(r) {
			sofar[r.Key()] = before.Intersect(r)
			return
		}
		conflict := requirements.Conflict{Key: r.Key(), Left: before, Right: r}
		c.faults.Add("", conflict.Error(), path)
	}
	for i, s := range p.Spec.Template.Spec.Requirements {
		if r, err := s.Requirement(); err == nil {
			hold(r, "spec.template.spec.requirements["+strconv.Itoa(i)+"]")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.Spec.Template.Metadata.Labels)) {
		if r, err := requirements.New(key, requirements.In, p.Spec.Template.Metadata.Labels[key]); err == nil {
			hold(r, strict.Member("spec.template.metadata.labels", key))
		}
	}
}

// taints checks the taints of a pool. No two may have the same key and effect, in taints and startupTaints
// together.
func (c nodePoolChecker) taints(spec *scheduling.NodeTemplateSpec) {
	type identity struct {
		key    string
		effect corev1.TaintEffect
	}
	seen := map[identity]string{}
	for _, list := range []struct {
		name   string
		taints []corev1.Taint
	}{{"taints", spec.Taints}, {"startupTaints", spec.StartupTaints}} {
		for i := range list.taints {
			t := &list.taints[i]
			name := list.name + "[" + strconv.Itoa(i) + "]"
			path := "spec.template.spec." + name
			if !LabelKey(t.Key) {
				c.faults.Add(t.Key, NotALabelKey, path+".key")
			}
			if !LabelValue(t.Value) {
				c.faults.Add(t.Value, NotALabelValue, path+".value")
			}
			switch t.Effect {
			case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
			default:
				c.faults.Add(string(t.Effect), "must be one of NoSchedule, PreferNoSchedule, NoExecute", path+".effect")
			}
			id := identity{t.Key, t.Effect}
			if first, ok := seen[id]; ok {
				c.faults.Add(t.Key+":"+string(t.Effect), "has the key and effect of "+first, path)
				continue
			}
			seen[id] = name
		}
	}
}

// limits checks the limits of a pool.
func (c nodePoolChecker) limits(limits corev1.ResourceList) {
	amountFaults(c.faults, limits, "spec.limits", AmountFault)
	if q, ok := limits[scheduling.NodesResource]; ok {
		if whole := q.DeepCopy(); whole.Sign() >= 0 && !whole.RoundUp(0) {
			c.faults.Add(q.String(), "is not a whole number", "spec.limits.nodes")
		}
	}
}

// notNegative checks a duration that may be Never.
func (c nodePoolChecker) notNegative(d *scheduling.NillableDuration, path string) {
	if d != nil && d.Duration != nil && *d.Duration < 0 {
		c.faults.Add(d.Duration.String(), "is negative", path)
	}
}

// disruption checks a pool's disruption settings.
func (c nodePoolChecker) disruption(d *scheduling.Disruption) {
	switch d.ConsolidationPolicy {
	case "", scheduling.WhenEmpty, scheduling.WhenEmptyOrUnderutilized, scheduling.Balanced:
	case scheduling.WhenUnderutilized:
		c.faults.Add(string(d.ConsolidationPolicy), "is called WhenEmptyOrUnderutilized since karpenter.sh/v1", "spec.disruption.consolidationPolicy")
	default:
		c.faults.Add(string(d.ConsolidationPolicy), "must be one of WhenEmpty, WhenEmptyOrUnderutilized, Balanced", "spec.disruption.consolidationPolicy")
	}
	c.notNegative(d.ConsolidateAfter, "spec.disruption.consolidateAfter")
	if len(d.Budgets) > maxBudgets {
		c.faults.Add("", fmt.Sprintf("at most %d budgets are allowed, not %d", maxBudgets, len(d.Budgets)), "spec.disruption.budgets")
	}
	for i := range d.Budgets {
		c.budget(&d.Budgets[i], "spec.disruption.budgets["+strconv.Itoa(i)+"]")
	}
}

// budget checks one disruption budget.
func (c nodePoolChecker) budget(b *scheduling.Budget, path string) {
	if !budgetNodes(b.Nodes) {
		c.faults.Add(b.Nodes, "must be a number of nodes or a share from 0% to 100%", path+".nodes")
	}
	switch {
	case b.Schedule == nil && b.Duration != nil:
		c.faults.Add("", "is missing, while duration is there", path+".schedule")
	case b.Schedule != nil && b.Duration == nil:
		c.faults.Add("", "is missing, while schedule is there", path+".duration")
	}
	if b.Schedule != nil {
		if err := scheduling.CheckSchedule(*b.Schedule); err != nil {
			c.faults.Add(*b.Schedule, err.Error(), path+".schedule")
		}
	}
	if b.Duration != nil && (b.Duration.Duration < 0 || b.Duration.Duration%time.Minute != 0) {
		c.faults.Add(b.Duration.Duration.String(), "must be hours and minutes", path+".duration")
	}
	for i, reason := range b.Reasons {
		switch reason {
		case "Underutilized", "Empty", "Drifted":
		default:
			c.faults.Add(reason, "must be one of Underutilized, Empty, Drifted", path+".reasons["+strconv.Itoa(i)+"]")
		}
	}
}

// budgetNodes reports whether s is a number or a percentage of at most 100.
func budgetNodes(s string) bool {
	digits, percent := strings.CutSuffix(s, "%")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return false
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	return err == nil && (!percent || n <= 100 && len(digits) <= 3)
}
