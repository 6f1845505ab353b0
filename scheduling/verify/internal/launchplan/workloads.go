package launchplan

import (
	"maps"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// workloadCheck judges how many pods of a workload share a node.
type workloadCheck struct {
	report *rule.Report
	state  *snapshot.State
	plan   *scheduling.Plan
	counts *snapshot.WorkloadCounts // nil until asked
}

// judge checks that no node that is bought or receives pods of a workload
// holds more of its pods than its share.
func (c *workloadCheck) judge(launches []*launch, kept map[string]bool) {
	if c.state.Policy.WorkloadShare <= 0 {
		return
	}
	check := func(object string, pods []string, running map[string]int) {
		joins, there := make(map[string]int), make(map[string]int)
		maps.Copy(there, running)
		var order []string
		for _, t := range c.state.PodsNamed(pods) {
			workload := c.state.Reader.WorkloadOf(t.Object)
			if kept[t.Name] { // as if it ran
				there[workload]++
				continue
			}
			if joins[workload]++; joins[workload] == 1 && workload != "" {
				order = append(order, workload)
			}
		}
		for _, workload := range order {
			size := c.workloads().Sizes[workload]
			if n, most := joins[workload]+there[workload], c.state.Policy.MostTogether(size); n > most {
				c.report.Add(rule.WorkloadShare, object, "has %d pods of %s, the limit for pods of one workload on a node is %d of %d", n, workload, most, size)
			}
		}
	}
	for _, l := range launches {
		check(l.object, l.Pods, nil)
	}
	for _, a := range c.plan.Existing {
		check("node/"+a.Node, a.Pods, c.workloads().On[a.Node])
	}
}

// admits reports whether a node could take one more pod of a pod's workload.
func (c *workloadCheck) admits(t *snapshot.Pod, n *snapshot.Node) bool {
	workload := c.state.Reader.WorkloadOf(t.Object)
	if c.state.Policy.WorkloadShare <= 0 || workload == "" {
		return true
	}
	there := 1 + c.workloads().On[n.Name][workload]
	for _, a := range c.plan.Existing {
		for _, other := range c.state.PodsNamed(a.Pods) {
			if a.Node == n.Name && c.state.Reader.WorkloadOf(other.Object) == workload {
				there++
			}
		}
	}
	return there <= c.state.Policy.MostTogether(c.workloads().Sizes[workload])
}

// workloads counts the pods of workloads, once for all.
func (c *workloadCheck) workloads() *snapshot.WorkloadCounts {
	if c.counts == nil {
		c.counts = snapshot.CountWorkloads(c.state)
	}
	return c.counts
}
