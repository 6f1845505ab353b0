package volumes

import (
	"cmp"
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// zoneGroup is claims whose volumes must be provisioned in one zone, because pods use several of them: e.g. claims a and
// b if one pod uses both, even where other pods use only b.
type zoneGroup struct {
	claims []string // in name order
	users  map[string]bool
}

// zoneGroups lists the groups of claims that several pending pods share and whose volumes are zonal, in the order of
// their first claims.
func zoneGroups(x *podspec.VolumeIndex, pods []*corev1.Pod) []*zoneGroup {
	of := map[*corev1.Pod]*zoneGroup{}
	sharers := Sharers(x, pods)
	var out []*zoneGroup
	for _, c := range inNameOrder(sharers) {
		if !x.Zonal(c) {
			continue
		}
		joined := &zoneGroup{claims: []string{c.Name}, users: map[string]bool{}}
		for _, pod := range sharers[c] {
			if other := of[pod]; other != nil && other != joined {
				joined.claims = append(other.claims, joined.claims...)
				maps.Copy(joined.users, other.users)
				for p, group := range of {
					if group == other {
						of[p] = joined
					}
				}
				out = slices.DeleteFunc(out, func(o *zoneGroup) bool { return o == other })
			}
			of[pod] = joined
			joined.users[podspec.PodName(pod)] = true
		}
		slices.Sort(joined.claims)
		out = append(out, joined)
	}
	slices.SortFunc(out, func(a, b *zoneGroup) int { return cmp.Compare(a.claims[0], b.claims[0]) })
	return out
}

// zoneUse is where a plan puts the pods of a zone group.
type zoneUse struct {
	machines int
	all      map[string]bool // zones of all options of launches
	pods     map[string]int  // by zone of the first option, the number of pods
	left     int             // unplaced pods
}

// zoneUseOf is the use of zones by the pods of a zone group in a plan.
func zoneUseOf(f *instance.Facts, plan *scheduling.Plan, of *zoneGroup) zoneUse {
	s := zoneUse{all: map[string]bool{}, pods: map[string]int{}}
	count := func(pods []string) (n int) {
		for _, pod := range pods {
			if of.users[pod] {
				n++
			}
		}
		return n
	}
	for i := range plan.Launches {
		l := &plan.Launches[i]
		if n := count(l.Pods); n > 0 {
			s.machines++
			s.pods[l.Options[0].Zone] += n
			for k := range l.Options {
				s.all[l.Options[k].Zone] = true
			}
		}
	}
	zones := make(map[string]string, len(f.Cluster.Hosts))
	for _, h := range f.Cluster.Hosts {
		if h.Node != nil {
			zones[h.Name] = h.Node.Labels[corev1.LabelTopologyZone]
		}
	}
	for _, a := range plan.Existing {
		if n := count(a.Pods); n > 0 && zones[a.Node] != "" {
			s.machines++
			s.pods[zones[a.Node]] += n
			s.all[zones[a.Node]] = true
		}
	}
	for i := range plan.Unschedulable {
		s.left += count([]string{plan.Unschedulable[i].Pod})
	}
	return s
}

// split reports whether pods of a zone group may be launched in different zones.
func (s *zoneUse) split() bool { return s.machines > 1 && len(s.all) > 1 }

// likely sorts zones by their number of pods, the most first.
func (s *zoneUse) likely(zones []string) []string {
	out := slices.Clone(zones)
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(s.pods[b], s.pods[a]) })
	return out
}

// meet chooses a zone for every volume that is to be provisioned for pods on several nodes: first the zone where most of
// them are. While it leaves more pods unplaced or is dearer than the plan without the condition, other zones are tried,
// up to [mostRounds].
func (t *settling) meet(ctx context.Context) error {
	zoneGroups := zoneGroups(t.facts.Volumes(t.choice), t.facts.Problem.Pods)
	if len(zoneGroups) == 0 {
		return nil
	}
	zones := zones(t.facts)
	free := make([]zoneUse, len(zoneGroups))
	for i, of := range zoneGroups {
		free[i] = zoneUseOf(t.facts, t.best, of)
	}
	least := offers.Objective(t.facts.Solver, &t.best.Summary)
	plan, choice, err := t.assignZones(ctx, t.best, t.choice, zoneGroups, zones)
	if err != nil || plan == t.best {
		return err
	}
	t.best, t.choice = plan, choice
	rounds := 0
	for i, of := range zoneGroups {
		if t.choice.Zones[of.claims[0]] == "" {
			continue
		}
		for _, zone := range free[i].likely(zones) {
			now := zoneUseOf(t.facts, t.best, of)
			if now.left <= free[i].left && offers.Objective(t.facts.Solver, &t.best.Summary) <= least || ctx.Err() != nil {
				break
			}
			if rounds == mostRounds {
				return nil
			}
			if zone == t.choice.Zones[of.claims[0]] {
				continue
			}
			rounds++
			choice := t.choice.Clone()
			send(choice, of, zone)
			plan, err := t.under(ctx, choice)
			if err != nil {
				return err
			}
			if plan, choice, err = t.assignZones(ctx, plan, choice, zoneGroups, zones); err != nil {
				return err
			}
			if compareFacts(t.facts, plan, t.best) < 0 {
				t.best, t.choice = plan, choice
			}
		}
	}
	return nil
}

// assignZones chooses a zone for each split zone group and solves again, until none is split.
func (t *settling) assignZones(ctx context.Context, plan *scheduling.Plan, choice *podspec.VolumeChoice, zoneGroups []*zoneGroup, zones []string) (*scheduling.Plan, *podspec.VolumeChoice, error) {
	for range zoneGroups {
		next := choice.Clone()
		for _, of := range zoneGroups {
			if s := zoneUseOf(t.facts, plan, of); s.split() {
				send(next, of, s.likely(zones)[0])
			}
		}
		if len(next.Zones) == len(choice.Clone().Zones) {
			break
		}
		var err error
		if plan, err = t.under(ctx, next); err != nil {
			return nil, nil, err
		}
		choice = next
	}
	return plan, choice, nil
}

// send sets the zone for all volumes of a zone group.
func send(v *podspec.VolumeChoice, of *zoneGroup, zone string) {
	for _, c := range of.claims {
		v.Zones[c] = zone
	}
}

// zones are the zones of all nodes and offerings, sorted.
func zones(f *instance.Facts) []string {
	seen := map[string]bool{}
	for _, h := range f.Cluster.Hosts {
		if h.Node != nil {
			seen[h.Node.Labels[corev1.LabelTopologyZone]] = true
		}
	}
	for _, pool := range f.Problem.NodePools {
		catalog := f.Problem.CatalogOf(pool.Name)
		if catalog == nil {
			continue
		}
		for it := range catalog.All() {
			for i := range it.Offerings {
				seen[it.Offerings[i].Zone] = true
			}
		}
	}
	delete(seen, "")
	return slices.Sorted(maps.Keys(seen))
}
