package karpenter

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	kdisruption "sigs.k8s.io/karpenter/pkg/controllers/disruption"
	kprovisioning "sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	kscheduler "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/operator/options"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// method is a method of Karpenter's disruption controller that plans commands: the controller finds the candidates, counts
// budgets and carries commands out.
type method struct {
	// rules say which candidates there are, for which reason, and in which class.
	rules     kdisruption.Method
	reason    disruption.Reason
	reader    Reader
	settings  Settings
	queue     *kdisruption.Queue
	karpenter *kprovisioning.Provisioner
	warnings  warningLog
	// settled is Karpenter's time of the last change of a cluster for which nothing was left to do, and stayed are the
	// candidates that it had. Karpenter counts it as no change when a nomination or a PodDisruptionBudget ends that kept a node
	// from being a candidate.
	settled time.Time
	stayed  []string
}

// ShouldDisrupt reports whether a node is a candidate, by the rules of Karpenter.
func (m *method) ShouldDisrupt(ctx context.Context, c *kdisruption.Candidate) bool {
	return m.rules.ShouldDisrupt(ctx, c)
}

// Reason is the reason of the commands, for budgets and conditions.
func (m *method) Reason() karpv1.DisruptionReason { return m.rules.Reason() }

// Class is graceful where PodDisruptionBudgets and do-not-disrupt always hold, and eventual where a grace period ends them.
func (m *method) Class() string { return m.rules.Class() }

// ConsolidationType is the name of the method in metrics.
func (m *method) ConsolidationType() string { return m.rules.ConsolidationType() }

// ComputeCommands plans the removal of candidates and returns the steps that can be carried out at once, each as a command.
// budgets are how many nodes of each NodePool may go. Before commands for consolidation are returned the cluster is looked
// at again, as in Karpenter; if it has changed there are none.
func (m *method) ComputeCommands(ctx context.Context, budgets map[string]int, candidates ...*kdisruption.Candidate) ([]kdisruption.Command, error) {
	state := m.reader.Cluster.ConsolidationState()
	names := lo.Map(candidates, func(c *kdisruption.Candidate, _ int) string { return c.Name() })
	slices.Sort(names)
	if m.reason == disruption.Underutilized && state.Equal(m.settled) && slices.Equal(names, m.stayed) {
		return nil, nil
	}
	snapshot, err := m.read(ctx, candidates)
	if err != nil {
		return nil, err
	}
	plan, err := m.plan(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	blocked := slices.ContainsFunc(candidates, func(c *kdisruption.Candidate) bool { return budgets[c.NodePool.Name] == 0 })
	if len(plan.Steps) == 0 && !blocked {
		m.settled, m.stayed = state, names
	}
	var commands []kdisruption.Command
	for i := range together(plan.Steps, snapshot.roomIn(budgets)) {
		command, err := snapshot.command(&plan.Steps[i], candidates)
		if err != nil {
			return nil, err
		}
		commands = append(commands, command)
	}
	if m.reason != disruption.Underutilized || len(commands) == 0 {
		return commands, nil
	}
	for i := range commands {
		commands[i].EmitCandidateEvents(m.reader.Recorder)
	}
	same, err := m.unchanged(ctx, snapshot, commands)
	if err != nil || !same {
		return nil, err
	}
	return commands, nil
}

// plan plans the removal of nodes for the reason of the method.
func (m *method) plan(ctx context.Context, s *Snapshot) (*disruption.ConsolidationPlan, error) {
	planner := m.settings.Disruption
	planner.Policy, planner.Reasons = m.settings.policy(ctx), []disruption.Reason{m.reason}
	if planner.SpotToSpotTypes == 0 && !options.FromContext(ctx).FeatureGates.SpotToSpotConsolidation {
		planner.SpotToSpotTypes = -1
	}
	planning, cancel := context.WithTimeout(ctx, planTimeout)
	defer cancel()
	plan, err := planner.Plan(planning, s.Cluster)
	if err != nil {
		return nil, err
	}
	m.warnings.log(ctx, plan.Warnings)
	if m.settings.Consolidating != nil {
		if err := m.settings.Consolidating(planner, s.Cluster, plan); err != nil {
			return nil, err
		}
	}
	if len(plan.Steps) > 0 {
		log.FromContext(ctx).Info("planned disruption", "reason", m.reason, "steps", len(plan.Steps), "price-per-hour", plan.Summary.PricePerHourBefore.String(),
			"price-per-hour-after", plan.Summary.PricePerHourAfter.String(), "lower-bound-per-hour", plan.Summary.LowerBoundPerHour.String())
	}
	return plan, nil
}

// read reads the cluster. Nodes that are no candidates must stay.
func (m *method) read(ctx context.Context, candidates []*kdisruption.Candidate) (*Snapshot, error) {
	pending, err := m.karpenter.GetPendingPods(ctx)
	if err != nil {
		return nil, err
	}
	snapshot, err := m.reader.Read(ctx, pending)
	if err != nil {
		return nil, err
	}
	m.warnings.log(ctx, snapshot.Warnings)
	may := map[string]bool{}
	for _, c := range candidates {
		may[c.Name()] = true
	}
	facts := lo.KeyBy(snapshot.Cluster.Machines, func(f disruption.Machine) string { return f.Node })
	snapshot.Cluster.Machines = nil
	for _, node := range snapshot.Cluster.Nodes {
		f := facts[node.Name]
		f.Node = node.Name
		if !may[node.Name] {
			f.MustStay, f.MinimumFixed = "Karpenter does not count it among the candidates", true
		}
		snapshot.Cluster.Machines = append(snapshot.Cluster.Machines, f)
	}
	return snapshot, nil
}

// roomIn returns a function that reports whether budgets allow the removal of nodes beside those that it was asked about before.
func (s *Snapshot) roomIn(budgets map[string]int) func(nodes []string) bool {
	left := maps.Clone(budgets)
	return func(nodes []string) bool {
		needed := lo.CountValuesBy(nodes, func(name string) string { return s.nodes[name].Labels()[karpv1.NodePoolLabelKey] })
		for pool, n := range needed {
			if left[pool] < n {
				return false
			}
		}
		for pool, n := range needed {
			left[pool] -= n
		}
		return true
	}
}

// together is the number of steps, from the first, that can be carried out side by side: budgets allow all of their
// nodes, no step has pods that are expected on a node that an earlier one launches, and none removes a node where an
// earlier one expects pods.
func together(steps []disruption.Step, room func(nodes []string) bool) int {
	launched, expected := map[string]bool{}, map[string]bool{}
	for i := range steps {
		s := &steps[i]
		if slices.ContainsFunc(s.Evictions, func(e disruption.Eviction) bool { return launched[e.To] }) ||
			slices.ContainsFunc(s.Drain, func(node string) bool { return expected[node] }) || !room(s.Drain) {
			return i
		}
		for _, l := range s.Launches {
			launched[l.Name] = true
		}
		for _, e := range s.Evictions {
			expected[e.To] = true
		}
	}
	return len(steps)
}

// command is a step as a command of Karpenter's.
func (s *Snapshot) command(step *disruption.Step, candidates []*kdisruption.Candidate) (kdisruption.Command, error) {
	out := kdisruption.Command{PoolDisruptionCosts: map[string]float64{}}
	for _, c := range candidates {
		if slices.Contains(step.Drain, c.Name()) {
			out.Candidates = append(out.Candidates, c)
			out.PoolDisruptionCosts[c.NodePool.Name] += c.RescheduleDisruptionCost
		}
	}
	if len(out.Candidates) != len(step.Drain) {
		return out, fmt.Errorf("a step removes nodes that are no candidates: %s", strings.Join(step.Drain, ", "))
	}
	claims, err := s.NodeClaims(step.Launches)
	if err != nil {
		return out, err
	}
	out.Results = kscheduler.Results{NewNodeClaims: claims}
	for _, c := range claims {
		out.Replacements = append(out.Replacements, &kdisruption.Replacement{NodeClaim: c})
	}
	onto := lo.GroupBy(step.Evictions, func(e disruption.Eviction) string { return e.To })
	for _, node := range s.Cluster.Nodes {
		if moved := onto[node.Name]; len(moved) > 0 {
			out.Results.ExistingNodes = append(out.Results.ExistingNodes, s.existing(node.Name, lo.Map(moved, func(e disruption.Eviction, _ int) string { return e.Pod })))
		}
	}
	return out, nil
}

// unchanged waits, and then reports whether the commands are still right: their nodes are still candidates and have the
// same pods, and no other pods have come that need a node.
func (m *method) unchanged(ctx context.Context, before *Snapshot, commands []kdisruption.Command) (bool, error) {
	if delay := m.settings.validateAfter(); delay > 0 {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-m.reader.Clock.After(delay):
		}
	}
	now, err := kdisruption.GetCandidates(ctx, m.reader.Cluster, m.reader.Client, m.reader.Recorder, m.reader.Clock, m.reader.CloudProvider, m.ShouldDisrupt, m.Class(), m.queue)
	if err != nil {
		return false, err
	}
	still := lo.SliceToMap(now, func(c *kdisruption.Candidate) (string, bool) { return c.Name(), true })
	after, err := m.read(ctx, now)
	if err != nil {
		return false, err
	}
	changed := func(why string) (bool, error) {
		log.FromContext(ctx).V(1).Info("commands are dropped, because the cluster has changed", "change", why)
		for i := range commands {
			commands[i].EmitRejectedEvents(m.reader.Recorder, why)
		}
		return false, nil
	}
	leaving := map[string]bool{}
	for _, command := range commands {
		for _, c := range command.Candidates {
			if !still[c.Name()] {
				return changed("node " + c.Name() + " is no candidate any more")
			}
			leaving[c.Name()] = true
		}
		for _, e := range command.Results.ExistingNodes {
			if n := after.nodes[e.Name()]; n == nil || n.MarkedForDeletion() {
				return changed("node " + e.Name() + " is gone")
			}
		}
	}
	if podsOn(before, leaving) != podsOn(after, leaving) {
		return changed("pods have come or gone")
	}
	return true, nil
}

// podsOn lists the pods of nodes, and those that are pending.
func podsOn(s *Snapshot, nodes map[string]bool) string {
	var uids []string
	note := func(pod *corev1.Pod) {
		uids = append(uids, string(pod.UID)+" "+types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}.String())
	}
	for _, pod := range s.Cluster.Running {
		if nodes[pod.Spec.NodeName] {
			note(pod)
		}
	}
	for _, pod := range s.Cluster.Pods {
		note(pod)
	}
	slices.Sort(uids)
	return strings.Join(uids, "\n")
}
