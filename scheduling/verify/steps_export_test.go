package verify

import (
	"fmt"
	"maps"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Drift carries a plan out and tells after which steps what is kept from one to the next is
// not what the nodes and their pods come to when they are read anew.
func Drift(c StepsChecker, cluster disruption.Cluster, plan *disruption.Plan) []string {
	g := newGround(c, cluster, plan)
	var out []string
	for i := range plan.Steps {
		g.step(&Report{}, i+1, &plan.Steps[i])
		kept, anew := g.notes(), g.anew().notes()
		all := maps.Clone(kept)
		maps.Copy(all, anew)
		for _, what := range slices.Sorted(maps.Keys(all)) {
			if kept[what] != anew[what] {
				out = append(out, fmt.Sprintf("steps[%d]: %s is %q, and anew %q", i, what, kept[what], anew[what]))
			}
		}
	}
	return out
}

// anew reads the nodes and pods of a ground into another one.
func (g *ground) anew() *ground {
	w := *g.world
	w.pools, w.stations, w.storage.users = make(map[string]*pool), make(map[string]*station), make(map[string]map[string]bool)
	other := &ground{
		world: &w, checker: g.checker, plan: g.plan, now: g.now, machines: g.machines, nodes: make(map[string]*standing),
		seats: make(map[string]string), bodies: make(map[string]*corev1.Pod), flocks: make(map[string]*flock),
		fleets: make(map[*pool]*fleet), crowd: newCrowd(),
	}
	if g.roster != nil {
		w.roster = newRoster()
	}
	for name, pl := range g.pools {
		w.pools[name] = w.newPool(pl.NodePool)
	}
	for _, s := range g.nodes {
		w.stations[s.name] = w.newStation(s.node, s.pods)
		other.enlist(other.newStanding(s.node))
	}
	for name, pod := range g.bodies {
		other.sit(pod, g.seats[name])
		w.storage.use(pod)
	}
	for _, v := range g.crowd.views {
		r := &spreadRule{nodes: v.nodes, key: v.key}
		other.crowd.view(r)
	}
	return other
}

// notes are what a ground keeps, by what it is about.
func (g *ground) notes() map[string]string {
	out := make(map[string]string)
	for i, s := range g.row {
		x := g.stations[s.name]
		ports := make([]string, len(x.taken))
		for k, p := range x.taken {
			ports[k] = p.String()
		}
		slices.Sort(ports)
		out["node "+s.name] = fmt.Sprint(i, x.free, x.left, ports, x.attached, g.crowd.hosts[g.crowd.nodes[s.name]])
	}
	out["hosts"] = fmt.Sprint(len(g.crowd.hosts), len(g.crowd.nodes))
	for name, pl := range g.pools {
		maps.DeleteFunc(pl.usage, func(_ corev1.ResourceName, n *big.Int) bool { return n.Sign() == 0 })
		out["pool "+name] = fmt.Sprint(pl.usage, " ")
		if f := g.fleets[pl]; f != nil && *f != (fleet{}) {
			out["fleet "+name] = fmt.Sprint(*f)
		}
	}
	for key, v := range g.crowd.views {
		out["view "+key] = fmt.Sprint(v.hosts)
	}
	for key, k := range g.crowd.known {
		for h, n := range k.on {
			out[fmt.Sprintf("flock %v %s on %s", *k.face, key.apart, h.name)] = fmt.Sprint(n)
		}
	}
	if g.roster != nil {
		for node, counts := range g.roster.on {
			for workload, n := range counts {
				if n != 0 {
					out["workload "+workload+" on "+node] = fmt.Sprint(n, g.roster.sizes[workload])
				}
			}
		}
	}
	for claim, pods := range g.storage.users {
		out["claim "+claim] = fmt.Sprint(slices.Sorted(maps.Keys(pods)))
	}
	return out
}
