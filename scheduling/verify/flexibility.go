package verify

import (
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// variety checks how many options the launch has: enough distinct values for the pool's
// minValues, enough of a choice among spot machines for the provider, and no more options than
// the limit unless either needs them.
func (j *judge) variety(l *launch) {
	least, spot := l.pool.minValues(), varietyOf(l.nodes)
	if j.strictMinValues() {
		for _, key := range slices.Sorted(maps.Keys(least)) {
			if n := distinct(l.nodes, key); n < least[key] {
				j.add(MinValues, l.object, "%d values of %s, want at least %d", n, key, least[key])
			}
		}
	}
	most := defaultMaxOptions
	if j.policy.MaxOptions > 0 {
		most = j.policy.MaxOptions
	}
	if len(l.nodes) > most {
		fewer := l.nodes[:len(l.nodes)-1]
		needed := slices.ContainsFunc(slices.Collect(maps.Keys(least)), func(key string) bool {
			return distinct(fewer, key) < min(least[key], distinct(l.nodes, key))
		})
		without := varietyOf(fewer)
		for what, values := range spot {
			needed = needed || len(without[what]) < min(j.wantedVariety()[what], len(values))
		}
		if !needed {
			j.add(TooManyOptions, l.object, "%d options, want at most %d", len(l.nodes), most)
		}
	}
	if len(spot) == 0 {
		return
	}
	for _, what := range j.lacking(spot) {
		j.add(Flexibility, l.object, "%d %s of spot machines, want at least %d", len(spot[what]), what, j.wantedVariety()[what])
	}
}

// variety is in how many ways spot machines differ, by what is counted.
type variety map[string]map[string]bool

func (v variety) add(n *node) {
	if n == nil || n.offering.CapacityType != offerings.Spot {
		return
	}
	for what, value := range map[string]string{
		"options":  n.kind.Name + " in " + n.offering.Zone,
		"types":    n.kind.Name,
		"families": offerings.Family(n.kind.Name),
		"zones":    n.offering.Zone,
	} {
		if v[what] == nil {
			v[what] = make(map[string]bool)
		}
		v[what][value] = true
	}
}

func varietyOf(nodes []*node) variety {
	v := make(variety)
	for _, n := range nodes {
		v.add(n)
	}
	return v
}

// shareOfWorkloads checks that no node that is bought or receives pods of a workload
// holds more of its pods than its share.
func (j *judge) shareOfWorkloads() {
	if j.policy.WorkloadShare <= 0 {
		return
	}
	size := j.workloadSizes()
	check := func(object string, pods []string, there map[string]int) {
		joins := make(map[string]int)
		var order []string
		for _, t := range j.known(pods) {
			workload := j.workloadOf(t.pod)
			if joins[workload]++; joins[workload] == 1 && workload != "" {
				order = append(order, workload)
			}
		}
		for _, workload := range order {
			if n, most := joins[workload]+there[workload], j.mostTogether(size[workload]); n > most {
				j.add(WorkloadShare, object, "%d pods of %s, %d of %d may share a machine", n, workload, most, size[workload])
			}
		}
	}
	for _, l := range j.launches {
		check(l.object, l.Pods, nil)
	}
	for _, a := range j.plan.Existing {
		check("node/"+a.Node, a.Pods, j.workloads.on[a.Node])
	}
}

// shareLeaves reports whether a node could take one more pod of a pod's workload.
func (j *judge) shareLeaves(t *tenant, n *node) bool {
	workload := j.workloadOf(t.pod)
	if j.policy.WorkloadShare <= 0 || workload == "" {
		return true
	}
	there := 1 + j.workloads.on[n.name][workload]
	for _, a := range j.plan.Existing {
		for _, other := range j.known(a.Pods) {
			if a.Node == n.name && j.workloadOf(other.pod) == workload {
				there++
			}
		}
	}
	return there <= j.mostTogether(j.workloadSizes()[workload])
}

// wantedVariety is how many of each are asked for.
func (j *judge) wantedVariety() map[string]int {
	f := j.policy.Flexibility
	return map[string]int{"options": f.Options, "types": f.Types, "families": f.Families, "zones": f.Zones}
}

// lacking is what there is too little of, sorted.
func (j *judge) lacking(v variety) []string {
	return slices.DeleteFunc([]string{"families", "options", "types", "zones"}, func(what string) bool { return len(v[what]) >= j.wantedVariety()[what] })
}
