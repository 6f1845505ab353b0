package verify

import (
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// variety checks how many options the launch has: enough distinct values for the pool's
// minValues, enough of a choice among spot machines for the provider, and no more options than
// the limit unless either needs them.
func (j *judge) variety(l *launch) {
	least, spot := l.pool.MinValues(), varietyOf(l.nodes)
	if j.state.Policy.StrictMinValues() {
		for _, key := range slices.Sorted(maps.Keys(least)) {
			if n := snapshot.Distinct(l.nodes, key); n < least[key] {
				j.report.add(MinValues, l.object, "%d values of %s, want at least %d", n, key, least[key])
			}
		}
	}
	most := defaultMaxOptions
	if j.state.Policy.MaxOptions > 0 {
		most = j.state.Policy.MaxOptions
	}
	if len(l.nodes) > most {
		fewer := l.nodes[:len(l.nodes)-1]
		needed := slices.ContainsFunc(slices.Collect(maps.Keys(least)), func(key string) bool {
			return snapshot.Distinct(fewer, key) < min(least[key], snapshot.Distinct(l.nodes, key))
		})
		without := varietyOf(fewer)
		for what, values := range spot {
			needed = needed || len(without[what]) < min(j.wantedVariety()[what], len(values))
		}
		if !needed {
			j.report.add(TooManyOptions, l.object, "%d options, want at most %d", len(l.nodes), most)
		}
	}
	if len(spot) == 0 {
		return
	}
	for _, what := range j.lacking(spot) {
		j.report.add(Flexibility, l.object, "%d %s of spot machines, want at least %d", len(spot[what]), what, j.wantedVariety()[what])
	}
}

// variety is in how many ways spot machines differ, by what is counted.
type variety map[string]map[string]bool

func (v variety) add(n *snapshot.Node) {
	if n == nil || n.Offering.CapacityType != offerings.Spot {
		return
	}
	for what, value := range map[string]string{
		"options":  n.Kind.Name + " in " + n.Offering.Zone,
		"types":    n.Kind.Name,
		"families": offerings.Family(n.Kind.Name),
		"zones":    n.Offering.Zone,
	} {
		if v[what] == nil {
			v[what] = make(map[string]bool)
		}
		v[what][value] = true
	}
}

func varietyOf(nodes []*snapshot.Node) variety {
	v := make(variety)
	for _, n := range nodes {
		v.add(n)
	}
	return v
}

// shareOfWorkloads checks that no node that is bought or receives pods of a workload
// holds more of its pods than its share.
func (j *judge) shareOfWorkloads() {
	if j.state.Policy.WorkloadShare <= 0 {
		return
	}
	check := func(object string, pods []string, running map[string]int) {
		joins, there := make(map[string]int), make(map[string]int)
		maps.Copy(there, running)
		var order []string
		for _, t := range j.known(pods) {
			workload := j.state.Reader.WorkloadOf(t.Object)
			if j.kept[t.Name] { // as if it ran
				there[workload]++
				continue
			}
			if joins[workload]++; joins[workload] == 1 && workload != "" {
				order = append(order, workload)
			}
		}
		for _, workload := range order {
			size := j.workloads().Sizes[workload]
			if n, most := joins[workload]+there[workload], j.state.Policy.MostTogether(size); n > most {
				j.report.add(WorkloadShare, object, "%d pods of %s, %d of %d may share a machine", n, workload, most, size)
			}
		}
	}
	for _, l := range j.launches {
		check(l.object, l.Pods, nil)
	}
	for _, a := range j.plan.Existing {
		check("node/"+a.Node, a.Pods, j.workloads().On[a.Node])
	}
}

// shareLeaves reports whether a node could take one more pod of a pod's workload.
func (j *judge) shareLeaves(t *snapshot.Pod, n *snapshot.Node) bool {
	workload := j.state.Reader.WorkloadOf(t.Object)
	if j.state.Policy.WorkloadShare <= 0 || workload == "" {
		return true
	}
	there := 1 + j.workloads().On[n.Name][workload]
	for _, a := range j.plan.Existing {
		for _, other := range j.known(a.Pods) {
			if a.Node == n.Name && j.state.Reader.WorkloadOf(other.Object) == workload {
				there++
			}
		}
	}
	return there <= j.state.Policy.MostTogether(j.workloads().Sizes[workload])
}

// workloads counts the pods of workloads, once for all.
func (j *judge) workloads() *snapshot.WorkloadCounts {
	if j.counts == nil {
		j.counts = j.state.CountWorkloads()
	}
	return j.counts
}

// wantedVariety is how many of each are asked for.
func (j *judge) wantedVariety() map[string]int {
	f := j.state.Policy.Flexibility
	return map[string]int{"options": f.Options, "types": f.Types, "families": f.Families, "zones": f.Zones}
}

// lacking is what there is too little of, sorted.
func (j *judge) lacking(v variety) []string {
	return slices.DeleteFunc([]string{"families", "options", "types", "zones"}, func(what string) bool { return len(v[what]) >= j.wantedVariety()[what] })
}
