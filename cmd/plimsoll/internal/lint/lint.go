package lint

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/pools"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// Severity says how bad a finding is.
type Severity string

// The severities, the worst first.
const (
	Error   Severity = "error"   // it does not work
	Warning Severity = "warning" // it does not have its intended effect, or only by chance
	Info    Severity = "info"    // it could cost less, or is good to know
)

// Code names a kind of finding; the set is closed, and the names are stable.
type Code string

// The kinds of findings.
const (
	NodePoolUnmet   Code = "nodepool-unmet"   // no instance type on sale meets its requirements
	NodePoolOverlap Code = "nodepool-overlap" // another one of the same weight takes the same pods
	SpotNarrow      Code = "spot-narrow"      // it allows spot, and few instance types of it
	NoRequests      Code = "no-requests"      // containers request no CPU or no memory
	BudgetBlocks    Code = "budget-blocks"    // the PodDisruptionBudget never lets a pod go
	BudgetUnready   Code = "budget-unready"   // the PodDisruptionBudget lets no pod go because pods are not ready
	BudgetIdle      Code = "budget-idle"      // the PodDisruptionBudget selects no pod
	NoDaemonSets    Code = "no-daemonsets"    // there is none, so that nodes are planned too full
	RequestSize     Code = "request-size"     // a slightly smaller request fits a smaller machine
	NodePoolTypes   Code = "nodepool-types"   // with all instance types that are on sale it would be cheaper
)

// Codes are all kinds of findings.
func Codes() []Code {
	return []Code{NodePoolUnmet, NodePoolOverlap, SpotNarrow, NoRequests, BudgetBlocks, BudgetUnready, BudgetIdle, NoDaemonSets, RequestSize, NodePoolTypes}
}

// Report is all that was found.
type Report struct {
	// Findings are the faults found, the worst first.
	Findings []Finding `json:"findings"`
	// Warnings are faults noticed while the input was read.
	Warnings []scheduling.Warning `json:"warnings"`
}

// Finding is a fault of one object. The JSON names are a contract.
type Finding struct {
	Severity Severity `json:"severity"`
	Code     Code     `json:"code"`
	// Object is kind/name, kind/namespace/name, or namespace/name of a workload.
	Object string `json:"object"`
	// Field is the path to the field, and Value its value; "" is no value.
	Field string `json:"field"`
	Value string `json:"value"`
	// Message describes the fault, Advice the change that mends it.
	Message string `json:"message"`
	Advice  string `json:"advice"`
	// SavingPerHour is the saving of the advice, where that was tried: the difference in price of two plans of the cluster
	// rebuilt from scratch, with its pending pods. Each advice of a run was tried together with all advice before it, so that
	// the savings add up. Consolidation of the running nodes may save less.
	SavingPerHour offerings.Price `json:"savingPerHour,omitempty"`
	// SavingProven says that the plan with the advice costs less than the lower bound of all plans without it. Otherwise the
	// saving may be due to the search: another plan without the advice may cost as little.
	SavingProven bool `json:"savingProven,omitempty"`
}

// Subject is the cluster that lint checks.
type Subject struct {
	// Cluster is the cluster with running and pending pods, Planner the planner that tries changes.
	Cluster disruption.Cluster
	Planner disruption.Planner
	// OwnPools says that the NodePools are the cluster's own, and not assumed.
	OwnPools bool
	// ComputeClasses are the parts of GKE's ComputeClasses that NodePools stand for, by the NodePool's name: findings name
	// these, and no NodePool that is not an object of the user.
	ComputeClasses map[string]manifest.ComputeClassPart
	// Workload names the workload of a pod, as namespace/name.
	Workload func(pod string) string

	sales pools.Sales
}

// Findings checks a cluster, but for the skipped codes. The order is by severity, saving, code and
// object. The error is one of planning.
func (s *Subject) Findings(ctx context.Context, skipped ...Code) ([]Finding, error) {
	out := []Finding{}
	if s.OwnPools {
		out = append(out, unmet(s.problem(), s.requirementsOf)...)
		out = append(out, narrow(s.karpenterPools(s.problem().NodePools), s.sells)...)
	}
	out = append(out, noRequests(s.problem(), s.Workload)...)
	out = append(out, budgets(&s.Cluster)...)
	if p := s.problem(); len(p.Nodes) > 0 || s.OwnPools {
		out = append(out, noDaemonSets(p)...)
	}
	tried, err := s.tried(ctx, skipped)
	if err != nil {
		return nil, err
	}
	out = append(out, tried...)
	out = slices.DeleteFunc(out, func(f Finding) bool { return slices.Contains(skipped, f.Code) })
	rank := []Severity{Error, Warning, Info}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(slices.Index(rank, a.Severity), slices.Index(rank, b.Severity)), cmp.Compare(b.SavingPerHour, a.SavingPerHour),
			cmp.Compare(slices.Index(Codes(), a.Code), slices.Index(Codes(), b.Code)), cmp.Compare(a.Object, b.Object),
		)
	})
	return out, nil
}

// tried returns the findings whose advice is tried on the whole cluster, each on top of the advice before it.
func (s *Subject) tried(ctx context.Context, skipped []Code) (out []Finding, err error) {
	kinds := []struct {
		code     Code
		ownPools bool // it advises on NodePools, so these must be the cluster's own
		find     func(context.Context, *trials) ([]Finding, error)
	}{
		{NodePoolOverlap, true, s.overlaps}, {RequestSize, false, s.sizes}, {NodePoolTypes, true, s.types},
	}
	var t *trials
	for _, kind := range kinds {
		if slices.Contains(skipped, kind.code) || kind.ownPools && !s.OwnPools {
			continue
		}
		if t == nil {
			if t, err = s.planned(ctx); t == nil {
				return nil, err
			}
		}
		found, err := kind.find(ctx, t)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// problem is the problem of the cluster, as planners read it.
func (s *Subject) problem() *scheduling.Problem { return &s.Cluster.Problem }

// karpenterPools are the NodePools that Karpenter reads: those of ComputeClasses are not among them.
func (s *Subject) karpenterPools(list []*scheduling.NodePool) []*scheduling.NodePool {
	return lo.Reject(list, func(p *scheduling.NodePool, _ int) bool { return lo.HasKey(s.ComputeClasses, p.Name) })
}

// requirementsOf returns the object and the field with the requirements of a NodePool as the user wrote them, and the names of
// some of these requirements, which are given by their label keys.
func (s *Subject) requirementsOf(pool string, keys ...string) (object, field, names string) {
	part, ok := s.ComputeClasses[pool]
	if !ok {
		return "NodePool/" + pool, requirementsField, strings.Join(keys, ", ")
	}
	own := lo.Map(keys, func(key string, _ int) string { return cmp.Or(part.Fields[key], key) })
	return "ComputeClass/" + part.Class, part.Field, strings.Join(own, ", ")
}

// sells returns the part of its catalog that a NodePool may launch.
func (s *Subject) sells(pool *scheduling.NodePool) *instancetypes.Catalog {
	return s.sales.Of(s.problem(), pool)
}
