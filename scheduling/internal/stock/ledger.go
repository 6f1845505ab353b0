package stock

import (
	"iter"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// account is a limit of a NodePool, or a reservation, whose pool is "".
type account struct{ pool, name string }

// ledger holds a balance for each account, or an amount that is taken from it: of a reservation, or of a resource in base units.
type ledger map[account]int64

// add adds the share of a pool's limits that a node uses, sign times.
func (l ledger) add(pool string, limited []corev1.ResourceName, use []int64, sign int64) {
	for i, n := range use {
		l[account{pool, string(limited[i])}] += sign * n
	}
}

// Affords reports whether reservations have the machines that launches take from them, and limits of NodePools the room
// beside the nodes, if each launch is bought at its first option. It leaves launches the options for which that is so
// whichever one each launch is bought at, all together; see [held]. torn are the names of launches that have to keep
// more than that, because minValues or the flexibility that is asked for need it: of those it is so if only one of them is
// not bought at its first option.
func (s *Stock) Affords(launches []scheduling.Launch, nodes iter.Seq[*corev1.Node], f scheduling.Flexibility) (torn []string, ok bool) {
	left := s.left(launches, nodes)
	if len(left) == 0 {
		return nil, true
	}
	known := map[offer]ledger{}
	for i := range launches {
		for a, n := range s.takes(known, &launches[i], &launches[i].Options[0]) {
			if left[a] -= n; left[a] < 0 {
				return nil, false
			}
		}
	}
	more := make([][]ledger, len(launches)) // by launch and option, how much more it takes than the first
	for i := range launches {
		l := &launches[i]
		first := s.takes(known, l, &l.Options[0])
		l.Options = slices.DeleteFunc(slices.Clone(l.Options), func(x scheduling.LaunchOption) bool {
			extra := s.takes(known, l, &x).beyond(first)
			if !left.has(extra) {
				return true
			}
			more[i] = append(more[i], extra)
			return false
		})
	}
	for i, keep := range held(left, more) {
		l := &launches[i]
		if len(keep) == len(l.Options) {
			continue
		}
		kept := *l
		kept.Options = nil
		for _, x := range keep {
			kept.Options = append(kept.Options, l.Options[x])
		}
		if r, _ := s.TooFewValues(&kept); r != nil || !offers.Choice(f, kept.Options) {
			torn = append(torn, l.Name)
			continue
		}
		kept.Requirements = narrowed(&kept)
		*l = kept
	}
	return torn, true
}

// narrowed are the requirements of a launch, with those of its options' types, zones and capacity types alone.
func narrowed(l *scheduling.Launch) []requirements.Selector {
	out := slices.Clone(l.Requirements)
	for i := range out {
		of := map[string]func(*scheduling.LaunchOption) string{
			corev1.LabelInstanceTypeStable: func(x *scheduling.LaunchOption) string { return x.InstanceType },
			offerings.ZoneLabel:            func(x *scheduling.LaunchOption) string { return x.Zone },
			offerings.CapacityTypeLabel:    func(x *scheduling.LaunchOption) string { return string(x.CapacityType) },
		}[out[i].Key]
		if of == nil || out[i].Operator != requirements.In {
			continue
		}
		values := map[string]bool{}
		for j := range l.Options {
			values[of(&l.Options[j])] = true
		}
		out[i].Values = slices.Sorted(maps.Keys(values))
	}
	return out
}

// TooFewValues is the first requirement of a launch whose minValues ask for more values than its options leave open, and
// how many these are; nil for none.
func (s *Stock) TooFewValues(l *scheduling.Launch) (*requirements.Selector, int) {
	for i := range l.Requirements {
		r := &l.Requirements[i]
		if r.MinValues == nil || *r.MinValues < 2 {
			continue
		}
		values := map[string]bool{}
		for j := range l.Options {
			if t, o := s.sold(l.NodePool, &l.Options[j]); o != nil {
				if v, ok := t.NodeLabels(*o)[r.Key]; ok {
					values[v] = true
				}
			}
		}
		if len(values) < *r.MinValues {
			return r, len(values)
		}
	}
	return nil, 0
}

// offer is an option of launches of a NodePool.
type offer struct {
	pool string
	offerings.Key
}

// takes are the amounts that an option of a launch takes from accounts. Answers are kept in known.
func (s *Stock) takes(known map[offer]ledger, l *scheduling.Launch, x *scheduling.LaunchOption) ledger {
	at := offer{l.NodePool, x.Key()}
	if out, ok := known[at]; ok {
		return out
	}
	out := ledger{}
	if id, amount := s.Draws(l.NodePool, x.Key()); id != "" {
		out[account{name: id}] = amount
	}
	if t, o := s.sold(l.NodePool, x); o != nil {
		limited := instance.LimitedResources(s.nodePools[l.NodePool])
		out.add(l.NodePool, limited, instance.LimitUse(limited, t.CapacityOf(*o), o.Price), 1)
	}
	known[at] = out
	return out
}

// sold is the instance type and offering of an option of a NodePool; nil where it is not on sale.
func (s *Stock) sold(pool string, x *scheduling.LaunchOption) (*instancetypes.InstanceType, *offerings.Offering) {
	catalog := s.of(pool)
	o, ok := catalog.Lookup(x.Key())
	if !ok {
		return nil, nil
	}
	t, _ := catalog.Get(x.InstanceType)
	return t, &o
}

// left is the balance of reservations, and of the limits of the launches' NodePools beside the nodes. Where offerings state
// different counts for one reservation, the least counts, as it does in package instance.
func (s *Stock) left(launches []scheduling.Launch, nodes iter.Seq[*corev1.Node]) ledger {
	out, reserved := ledger{}, false
	for i := range launches {
		l := &launches[i]
		reserved = reserved || slices.ContainsFunc(l.Options, func(x scheduling.LaunchOption) bool { return x.ReservationID != "" })
		for name, q := range s.nodePools[l.NodePool].Spec.Limits {
			out[account{l.NodePool, string(name)}] = podspec.Amount(name, q)
		}
	}
	if len(out) > 0 {
		for node := range nodes {
			pool := s.nodePools[node.Labels[scheduling.NodePoolLabel]]
			if pool != nil && podspec.TakesOfLimits(node) {
				limited := instance.LimitedResources(pool)
				out.add(pool.Name, limited, instance.NodeLimitUse(s.problem, pool.Name, limited, node), -1)
			}
		}
	}
	if !reserved {
		return out
	}
	for _, c := range s.catalogs() {
		for t := range c.All() {
			for _, o := range t.Offerings {
				if !o.Counted() {
					continue
				}
				a := account{name: o.ReservationID}
				if n, ok := out[a]; !ok || o.ReservationCount < n {
					out[a] = o.ReservationCount
				}
			}
		}
	}
	return out
}
