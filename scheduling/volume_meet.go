package scheduling

import (
	"cmp"
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// fellowship is claims whose volumes are to be made in one zone: they share pods.
type fellowship struct {
	claims []string // in name order
	users  map[string]bool
}

// fellowships lists those of which several pods wait for a volume that can be used in one
// zone only, in the order of their first claims.
func (x *volumeIndex) fellowships(pods []*corev1.Pod) []*fellowship {
	of := map[*corev1.Pod]*fellowship{}
	sharers := x.sharers(pods)
	var out []*fellowship
	for _, c := range inNameOrder(sharers) {
		if !x.zonal(c) {
			continue
		}
		joined := &fellowship{claims: []string{c.name}, users: map[string]bool{}}
		for _, pod := range sharers[c] {
			if other := of[pod]; other != nil && other != joined {
				joined.claims = append(other.claims, joined.claims...)
				maps.Copy(joined.users, other.users)
				for p, group := range of {
					if group == other {
						of[p] = joined
					}
				}
				out = slices.DeleteFunc(out, func(o *fellowship) bool { return o == other })
			}
			of[pod] = joined
			joined.users[podName(pod)] = true
		}
		slices.Sort(joined.claims)
		out = append(out, joined)
	}
	slices.SortFunc(out, func(a, b *fellowship) int { return cmp.Compare(a.claims[0], b.claims[0]) })
	return out
}

// seating is where a plan has the pods of a fellowship.
type seating struct {
	machines int
	all      map[string]bool // the zones of all options
	pods     map[string]int  // how many pods each zone has that is first choice
	left     int             // pods without a place
}

// seating finds the pods of a fellowship in a plan.
func (f *facts) seating(plan *Plan, of *fellowship) seating {
	s := seating{all: map[string]bool{}, pods: map[string]int{}}
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
	zones := make(map[string]string, len(f.cluster.hosts))
	for _, h := range f.cluster.hosts {
		if h.node != nil {
			zones[h.name] = h.node.Labels[corev1.LabelTopologyZone]
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

// torn reports whether pods that wait for one volume may end up in different zones.
func (s *seating) torn() bool { return s.machines > 1 && len(s.all) > 1 }

// likely lists the zones, those first in which most of the pods are.
func (s *seating) likely(zones []string) []string {
	out := slices.Clone(zones)
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(s.pods[b], s.pods[a]) })
	return out
}

// meet finds a zone for every volume to be made that pods on several machines wait for.
// It begins where most of them are without it, and as long as some are left out, or the
// plan is dearer than one that need not meet, looks at other zones.
func (t *volumeSettling) meet(ctx context.Context) error {
	fellowships := t.volumes(t.choice).fellowships(t.problem.Pods)
	if len(fellowships) == 0 {
		return nil
	}
	zones := t.zones()
	free := make([]seating, len(fellowships))
	for i, of := range fellowships {
		free[i] = t.seating(t.best.Plan, of)
	}
	least := t.solver.objective(&t.best.Summary)
	plan, choice, err := t.gather(ctx, t.best, t.choice, fellowships, zones)
	if err != nil || plan == t.best {
		return err
	}
	t.best, t.choice = plan, choice
	rounds := 0
	for i, of := range fellowships {
		if t.choice.zones[of.claims[0]] == "" {
			continue
		}
		for _, zone := range free[i].likely(zones) {
			now := t.seating(t.best.Plan, of)
			if now.left <= free[i].left && t.solver.objective(&t.best.Summary) <= least || ctx.Err() != nil {
				break
			}
			if rounds == volumeRounds {
				return nil
			}
			if zone == t.choice.zones[of.claims[0]] {
				continue
			}
			rounds++
			choice := t.choice.clone()
			choice.send(of, zone)
			plan, err := t.under(ctx, choice)
			if err != nil {
				return err
			}
			if plan, choice, err = t.gather(ctx, plan, choice, fellowships, zones); err != nil {
				return err
			}
			if t.compare(plan, t.best) < 0 {
				t.best, t.choice = plan, choice
			}
		}
	}
	return nil
}

// gather sends fellowships to one zone each until none is torn.
func (t *volumeSettling) gather(ctx context.Context, plan *solved, choice *volumeChoice, fellowships []*fellowship, zones []string) (*solved, *volumeChoice, error) {
	for range fellowships {
		next := choice.clone()
		for _, of := range fellowships {
			if s := t.seating(plan.Plan, of); s.torn() {
				next.send(of, s.likely(zones)[0])
			}
		}
		if len(next.zones) == len(choice.clone().zones) {
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

// send has the volumes of a fellowship made in a zone.
func (v *volumeChoice) send(of *fellowship, zone string) {
	for _, c := range of.claims {
		v.zones[c] = zone
	}
}

// zones are those of all nodes and of everything on sale, in name order.
func (f *facts) zones() []string {
	seen := map[string]bool{}
	for _, h := range f.cluster.hosts {
		if h.node != nil {
			seen[h.node.Labels[corev1.LabelTopologyZone]] = true
		}
	}
	for _, pool := range f.problem.NodePools {
		catalog := f.problem.catalogOf(pool.Name)
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
